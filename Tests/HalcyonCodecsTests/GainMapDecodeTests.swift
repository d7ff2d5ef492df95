import Foundation
import HalcyonCodecs
import HalcyonImage
import HalcyonProcessing
import TestSupport
import Testing

/// Gain maps as values: read, kept in step with their pictures, and written.
@Suite struct GainMapDecodeTests {
    private let registry = CoderRegistry.standard()
    private static let files = ["gainmap/iso.jpg", "gainmap/ultra-hdr.jpg"]

    private func image(_ name: String, _ options: DecodeOptions = DecodeOptions()) throws -> Image {
        var options = options
        options.decodesGainMap = true
        return try registry.decode(try TestFiles.data(name), options: options)
    }

    @Test(arguments: files) func aMapIsDecodedWhenAskedFor(_ name: String) throws {
        #expect(try registry.decode(TestFiles.data(name)).gainMap == nil)
        let image = try image(name)
        let map = try #require(image.gainMap)
        let isISO = name.hasSuffix("iso.jpg")
        #expect(map.size == (isISO ? PixelSize(48, 32) : PixelSize(24, 16)))
        #expect(map.isMonochrome == !isISO && (map.colorProfile != nil) == isISO)
        let profiles = (image.colorProfile?.count ?? 0) + (map.colorProfile?.count ?? 0)
        #expect(image.cost == image.bitmap.byteCount + map.bitmap.byteCount + profiles)
        // The gains apply to the picture as it is stored.
        #expect((image.colorProfile != nil) == isISO)
        let stored = try registry.decode(TestFiles.data(name), options: DecodeOptions(color: .asStored))
        #expect(image.bitmap.hasSameBytes(as: stored.bitmap))
    }

    @Test func theMeaningIsThatOfTheFile() throws {
        // 0x59F541 / 0x100000, as the file has it.
        let iso = try #require(try image(Self.files[0]).gainMap).metadata
        #expect(iso.isMonochrome && iso.usesBaseColorSpace)
        #expect(abs(iso.red.maximum - 5.6224) < 0.0001 && iso.red.minimum == 0 && iso.red.gamma == 1)
        #expect(iso.red.baseOffset == 0 && iso.red.alternateOffset == 0)
        #expect(iso.baseHeadroom == 0 && iso.alternateHeadroom == iso.red.maximum)
        let xmp = try #require(try image(Self.files[1]).gainMap).metadata
        #expect(xmp.red.maximum == 2 && xmp.alternateHeadroom == 2 && xmp.red.baseOffset == 1 / 64)
    }

    @Test(arguments: files) func aMapIsCutScaledAndTurnedAsItsPicture(_ name: String) throws {
        let whole = try image(name)
        let map = try #require(whole.gainMap)
        let ratio = map.size.width * 2 / whole.size.width
        // A decode at a smaller size, and of a part.
        var options = DecodeOptions(target: TargetSize(PixelSize(24, 24)))
        #expect(try image(name, options).gainMap?.size == PixelSize(12 * ratio, 8 * ratio))
        options = DecodeOptions(region: PixelRect(x: 16, y: 8, width: 16, height: 12))
        let part = try #require(try image(name, options).gainMap)
        #expect(part.size == PixelSize(8 * ratio, 6 * ratio))
        let cut = try map.bitmap.cropped(
            to: PixelRect(x: 8 * ratio, y: 4 * ratio, width: 8 * ratio, height: 6 * ratio))
        #expect(part.bitmap.hasSameBytes(as: cut))
        // The same by processors.
        let cropped = try whole.processed(by: [.crop(PixelRect(x: 16, y: 8, width: 16, height: 12))])
        #expect(try #require(cropped.gainMap).bitmap.hasSameBytes(as: cut))
        let turned = try whole.processed(by: [.rotate(degrees: 90)])
        #expect(try #require(turned.gainMap).bitmap.hasSameBytes(as: map.bitmap.oriented(.right)))
        let chain = try whole.processed(by: [.flip(.horizontal), .resize(to: PixelSize(24, 16)), .rotate(degrees: 180)])
        #expect(chain.gainMap?.size == PixelSize(12 * ratio, 8 * ratio))
        #expect(chain.size == PixelSize(24, 16))
        // A map is not enlarged.
        let larger = try whole.processed(by: [.resize(to: PixelSize(96, 64), upscale: true)])
        #expect(larger.gainMap?.size == map.size)
    }

    @Test func processorsThatChangePixelsDropTheMap() throws {
        let whole = try image(Self.files[1])
        for processor: any ImageProcessor in [.blur(radius: 2), .rotate(degrees: 30), .pad(2)] {
            #expect(try whole.processed(by: [processor]).gainMap == nil, "\(processor)")
        }
    }

    @Test(arguments: files) func aJPEGIsWrittenWithTheMap(_ name: String) throws {
        let whole = try image(name)
        let map = try #require(whole.gainMap)
        let file = try registry.encode(whole, as: .jpeg, options: EncodeOptions(quality: 0.95))
        #expect(try registry.probe(file).hasGainMap)
        let back = try registry.decode(file, options: DecodeOptions(decodesGainMap: true))
        let again = try #require(back.gainMap)
        #expect(again.size == map.size && again.isMonochrome == map.isMonochrome)
        #expect(again.metadata.isNear(map.metadata))
        #expect(try map.bitmap.psnr(again.bitmap) > 40)
        #expect(back.colorProfile == whole.colorProfile)
        // Programs that know nothing of gain maps see the picture, and so does who asks for the base alone.
        let alone = try registry.encode(whole, as: .jpeg, options: EncodeOptions(quality: 0.95, keepsGainMap: false))
        #expect(try !registry.probe(alone).hasGainMap)
        #expect(try registry.decode(file).bitmap.hasSameBytes(as: registry.decode(alone).bitmap))
        // Other formats have none.
        #expect(try !registry.probe(registry.encode(whole, as: .png)).hasGainMap)
    }

    /// Readers of Ultra HDR know XMP alone, others the standard's form alone.
    @Test(arguments: files) func bothFormsSayTheSame(_ name: String) throws {
        let whole = try image(name)
        let metadata = try #require(whole.gainMap).metadata
        let file = try registry.encode(whole, as: .jpeg)
        for form in ["urn:iso:std:iso:ts:21496", "http://ns.adobe.com/xap/1.0/"] {
            var changed = file
            while let place = changed.range(of: Data(form.utf8)) { changed[place.lowerBound] = UInt8(ascii: "x") }
            let map = try registry.decode(changed, options: DecodeOptions(decodesGainMap: true)).gainMap
            #expect(try #require(map).metadata.isNear(metadata), "without \(form)")
        }
    }

    @Test func channelsAndPicturesOfHighRangeAreKept() throws {
        let channels = [1.0, 2.5, 3.25].map {
            GainMap.Channel(minimum: -0.5, maximum: $0, gamma: 1.5, baseOffset: 0.03, alternateOffset: 0.01)
        }
        let bitmap = try Bitmap(size: PixelSize(8, 8), isOpaque: true) { bytes in
            for index in 0..<64 { bytes[index * 4] = UInt8(index * 4) }
            for index in 0..<64 { bytes[index * 4 + 1] = 128 }
            for index in 0..<64 { bytes[index * 4 + 2] = UInt8(255 - index) }
            for index in 0..<64 { bytes[index * 4 + 3] = 255 }
        }
        let profile = try TestFiles.data("icc/p3.icc")
        for (base, alternate) in [(0.0, 3.0), (3.0, 0.5)] {
            let metadata = try #require(
                GainMap.Metadata(
                    red: channels[0], green: channels[1], blue: channels[2], baseHeadroom: base,
                    alternateHeadroom: alternate, usesBaseColorSpace: false))
            var image = try image(Self.files[1])
            image.gainMap = GainMap(bitmap: bitmap, isMonochrome: false, metadata: metadata, colorProfile: profile)
            var file = try registry.encode(image, as: .jpeg, options: EncodeOptions(quality: 1))
            let map = try #require(try registry.decode(file, options: DecodeOptions(decodesGainMap: true)).gainMap)
            #expect(map.metadata.isNear(metadata) && !map.isMonochrome)
            #expect(map.colorProfile == profile && !map.metadata.usesBaseColorSpace)
            #expect(try bitmap.psnr(map.bitmap) > 40)
            while let place = file.range(of: Data("urn:iso:std".utf8)) { file[place.lowerBound] = UInt8(ascii: "x") }
            // XMP cannot tell whose colours the gains are for.
            #expect(try registry.decode(file, options: DecodeOptions(decodesGainMap: true)).gainMap == nil)
            let own = try #require(
                GainMap.Metadata(
                    red: channels[0], green: channels[1], blue: channels[2], baseHeadroom: base,
                    alternateHeadroom: alternate))
            image.gainMap = GainMap(bitmap: bitmap, isMonochrome: false, metadata: own)
            file = try registry.encode(image, as: .jpeg)
            while let place = file.range(of: Data("urn:iso:std".utf8)) { file[place.lowerBound] = UInt8(ascii: "x") }
            let old = try #require(try registry.decode(file, options: DecodeOptions(decodesGainMap: true)).gainMap)
            #expect(old.metadata.isNear(own))
        }
    }

    /// Lanczos would make the map darker around a bright spot than anywhere else in it.
    @Test func aReducedMapHasNoSeams() throws {
        var picture = try image(Self.files[1])
        let metadata = try #require(picture.gainMap).metadata
        let spot = try Bitmap(size: PixelSize(48, 32), isOpaque: true) { bytes in
            for index in 0..<bytes.count {
                let (x, y) = (index / 4 % 48, index / 4 / 48)
                let isBright = (16..<32).contains(x) && (8..<24).contains(y)
                bytes[index] = index % 4 == 3 || isBright ? 255 : 64
            }
        }
        picture.gainMap = GainMap(bitmap: spot, isMonochrome: true, metadata: metadata)
        let file = try registry.encode(picture, as: .jpeg, options: EncodeOptions(quality: 1))
        for width in [40, 31, 20] {
            let options = DecodeOptions(target: TargetSize(PixelSize(width, width)), decodesGainMap: true)
            let map = try #require(try registry.decode(file, options: options).gainMap)
            let least = map.bitmap.withPixels { $0.min() ?? 0 }
            #expect(least >= 61, "\(width)")
        }
    }

    @Test func aLimitOfBytesCountsMoreThanTheMap() throws {
        let whole = try image(Self.files[1])
        let alone = try registry.encode(whole, as: .jpeg, options: EncodeOptions(quality: 0, keepsGainMap: false))
        let options = EncodeOptions(maximumBytes: alone.count + 8)
        let file = try registry.encode(whole, as: .jpeg, options: options)
        #expect(try file.count <= alone.count + 8 && !registry.probe(file).hasGainMap)
        let roomy = try registry.encode(whole, as: .jpeg, options: EncodeOptions(maximumBytes: 4000))
        #expect(try roomy.count <= 4000 && registry.probe(roomy).hasGainMap)
    }

    @Test func smallHeadroomsAndOffsetsAreKept() throws {
        let channel = GainMap.Channel(maximum: 0.002, baseOffset: 1e-7, alternateOffset: 1e-7)
        let metadata = try #require(
            GainMap.Metadata(red: channel, green: channel, blue: channel, alternateHeadroom: 0.001))
        let back = try #require(metadata.iso.read { GainMap.Metadata(iso: $0) })
        #expect(abs(back.red.baseOffset - 1e-7) < 1e-9 && abs(back.alternateHeadroom - 0.001) < 1e-8)
        #expect(GainMap.Metadata(red: channel, green: channel, blue: channel, alternateHeadroom: 4e-7) == nil)
    }

    @Test func theOrientationIsTheMapsToo() throws {
        let whole = try image(Self.files[1])
        let map = try #require(whole.gainMap)
        var turned = Image(bitmap: whole.bitmap, info: whole.info)
        turned.gainMap = map
        var info = whole.info
        info.orientation = .right
        var stored = Image(bitmap: try whole.bitmap.oriented(.right), info: info)
        stored.gainMap = GainMap(
            bitmap: try map.bitmap.oriented(.right), isMonochrome: true, metadata: map.metadata)
        let options = EncodeOptions(quality: 1, keepsOrientation: true)
        let file = try registry.encode(stored, as: .jpeg, options: options)
        #expect(try registry.probe(file).orientation == .right)
        let back = try registry.decode(file, options: DecodeOptions(decodesGainMap: true))
        #expect(back.size == PixelSize(32, 48) && back.gainMap?.size == PixelSize(16, 24))
        #expect(try map.bitmap.oriented(.right).psnr(#require(back.gainMap).bitmap) > 40)
        // A limit on the sides reduces both.
        let limits = EncodeOptions(maximumSide: 24, firstFrameOnly: true)
        let small = try registry.encode(whole, as: .jpeg, options: limits)
        #expect(
            try registry.decode(small, options: DecodeOptions(decodesGainMap: true)).gainMap?.size == PixelSize(12, 8))
    }

    @Test(arguments: files) func aWorkerMakesTheSame(_ name: String) throws {
        let isolation = DecodeIsolation.isolated(workers: IsolatedDecodeTests.workers)
        for target in [nil, TargetSize(PixelSize(20, 20))] {
            let own = try image(name, DecodeOptions(target: target))
            let other = try image(name, DecodeOptions(target: target, isolation: isolation))
            #expect(own.bitmap.hasSameBytes(as: other.bitmap) && own.colorProfile == other.colorProfile)
            let (map, copy) = (try #require(own.gainMap), try #require(other.gainMap))
            #expect(map.bitmap.hasSameBytes(as: copy.bitmap) && map.metadata == copy.metadata)
            #expect(map.isMonochrome == copy.isMonochrome)
        }
        // Pipelines decode by a plan.
        let (data, options) = (
            try TestFiles.data(name), DecodeOptions(isolation: isolation, decodesGainMap: true)
        )
        let plan = try registry.plan(data, options: options)
        #expect(try registry.decode(data, plan: plan).gainMap?.size == image(name).gainMap?.size)
    }
}

extension GainMap.Metadata {
    /// Whether the numbers are those of the other one, but for rounding.
    fileprivate func isNear(_ other: GainMap.Metadata) -> Bool {
        func numbers(_ metadata: GainMap.Metadata) -> [Double] {
            [metadata.red, metadata.green, metadata.blue].flatMap {
                [$0.minimum, $0.maximum, $0.gamma, $0.baseOffset, $0.alternateOffset]
            } + [metadata.baseHeadroom, metadata.alternateHeadroom]
        }
        return zip(numbers(self), numbers(other)).allSatisfy { abs($0 - $1) < 2e-6 }
    }
}

extension Bitmap {
    fileprivate func hasSameBytes(as other: Bitmap) -> Bool {
        size == other.size && withPixels { own in other.withPixels { own.elementsEqual($0) } }
    }

    fileprivate func psnr(_ other: Bitmap) throws -> Double {
        try #require(size == other.size)
        let sum = withPixels { own in
            other.withPixels { other in
                zip(own, other).reduce(0.0) { $0 + pow(Double($1.0) - Double($1.1), 2) }
            }
        }
        return 10 * log10(255 * 255 * Double(byteCount) / max(sum, 1e-9))
    }
}
