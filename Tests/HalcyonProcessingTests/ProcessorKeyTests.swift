import HalcyonImage
import HalcyonProcessing
import Testing

/// The keys that name a processor's results on disk.
@Suite struct ProcessorKeyTests {
    private func key(_ processor: any ImageProcessor) -> [UInt8] {
        var encoder = KeyEncoder()
        processor.encode(into: &encoder)
        return encoder.bytes
    }

    /// The same value in several spellings.
    private static let spellings: [[any ImageProcessor]] = [
        [
            .resize(to: PixelSize(320, 240)), ResizeProcessor(PixelSize(320, 240)),
            .resize(to: PixelSize(240, 320).transposed, mode: .fit, upscale: false, filter: .lanczos, light: .encoded),
        ],
        [
            .crop(PixelRect(x: 1, y: 2, width: 3, height: 4)),
            CropProcessor(.rect(PixelRect(x: 1, y: 2, width: 3, height: 4))),
        ],
        [
            .crop(to: PixelSize(3, 4)), .crop(to: PixelSize(3, 4), anchorX: 0.5, anchorY: 0.5),
            CropProcessor(.anchored(PixelSize(3, 4), x: 0.5, y: 0.5)),
        ],
        [
            .crop(to: PixelSize(3, 4), anchorX: 0, anchorY: 0),
            .crop(to: PixelSize(3, 4), anchorX: -0.0, anchorY: -0.0),
        ],
        [.flip(.horizontal), FlipProcessor(.horizontal)],
        [
            .roundCorners(radius: 8), RoundCornersProcessor(radius: 8.0),
            .roundCorners(radius: 8, corners: [.bottomLeft, .topLeft, .bottomRight, .topRight]),
            .roundCorners(radius: 8, corners: RectCorner(rawValue: 15)),
        ],
        [.roundCorners(radius: 0), .roundCorners(radius: -0.0)],
        [
            .roundCorners(.pixels(8), corners: .all, background: .clear, border: nil, targetSize: nil),
            .roundCorners(radius: 8), RoundCornersProcessor(.pixels(8)),
        ],
        [.rotate(degrees: 0), .rotate(degrees: -0.0, fitsSize: true, background: Color(white: -0.0, alpha: 0))],
        [.pad(3), PadProcessor(.insets(top: 3, left: 3, bottom: 3, right: 3), background: .clear)],
        [
            .pad(to: PixelSize(9, 8)), .pad(to: PixelSize(9, 8), anchorX: 0.5, anchorY: 0.5, background: .clear),
            PadProcessor(.size(PixelSize(9, 8), x: 0.5, y: 0.5)),
        ],
        [
            .border(), .border(width: 4, color: .black, radius: .pixels(-0.0), corners: .all), BorderProcessor(),
            BorderProcessor(ImageBorder(width: 4, color: Color(red: 0, green: 0, blue: 0))),
        ],
        [.circle(), CircleProcessor(border: nil, background: Color(red: 0, green: 0, blue: 0, alpha: 0))],
        [.blur(radius: 0), .blur(radius: -0.0), BlurProcessor(radius: 0)],
        [.sharpen(), .sharpen(amount: 0.5, radius: 1), SharpenProcessor()],
        [.pixelate(side: 5), PixelateProcessor(side: 5)],
        [.colorMatrix(.identity), .colorMatrix(.scale(1)), .colorMatrix(.saturation(1))],
        [.colorControls(), .colorControls(brightness: -0.0, contrast: 1, saturation: 1, exposure: -0.0)],
        [.blackWhite, BlackWhiteProcessor()],
        [.invert, InvertProcessor()],
        [.sepia(), .sepia(intensity: 1), SepiaProcessor()],
        [.opacity(0), .opacity(-0.0)],
        [.overlay(.black), .overlay(Color(white: -0.0), fraction: 0.5)],
        [.tint(.white), .tint(Color(red: 1, green: 1, blue: 1, alpha: 1), mode: .sourceAtop), TintProcessor(.white)],
        [.blend(), .blend(.over, alpha: 1, background: .clear), BlendProcessor()],
        [
            .general("org.example.a") { image, _ in image },
            .general("org.example.a", version: 1, appliesPerFrame: true) { image, _ in image.replacing(image.bitmap) },
        ],
    ]

    @Test(arguments: spellings.indices)
    func equalValuesHaveEqualKeys(index: Int) throws {
        let first = try #require(Self.spellings[index].first)
        for other in Self.spellings[index] {
            #expect(first.isEqual(to: other))
            #expect(first.hashValue == other.hashValue)
            #expect(key(first) == key(other))
        }
    }

    /// Each differs from the others in one parameter or its type.
    private static var different: [any ImageProcessor] {
        let size = PixelSize(3, 4)
        var all: [any ImageProcessor] = [
            .resize(to: size), .resize(to: PixelSize(4, 3)), .resize(to: PixelSize(3, 5)),
            .resize(to: size, upscale: true), .resize(to: size, sharpening: 0.5), .resize(to: size, sharpening: 1),
            .resize(to: size, light: .linear, sharpening: 0.5),
            .crop(to: size), .crop(to: PixelSize(4, 3)), .crop(to: size, anchorX: 0), .crop(to: size, anchorY: 0),
            .crop(to: size, anchorX: 0.5.nextUp), .crop(PixelRect(x: 0, y: 0, width: 3, height: 4)),
            .crop(PixelRect(x: 1, y: 0, width: 3, height: 4)), .crop(PixelRect(x: 0, y: 1, width: 3, height: 4)),
            .crop(PixelRect(x: 0, y: 0, width: 4, height: 4)), .crop(PixelRect(x: 0, y: 0, width: 3, height: 3)),
            .crop(PixelRect(x: -1, y: 0, width: 3, height: 4)), .smartCrop(to: size), .smartCrop(ratio: size),
            .smartCrop(to: PixelSize(4, 3)), .smartCrop(ratio: PixelSize(3, 3)), .roundCorners(radius: 3),
            .roundCorners(radius: 3.0.nextUp), .roundCorners(radius: -3), .roundCorners(radius: .nan),
            .roundCorners(radius: .infinity), .roundCorners(radius: 0),
        ]
        all += ResizeMode.allCases.filter { $0 != .fit }.map { ResizeProcessor(size, mode: $0) }
        all += ResizeFilter.allCases.filter { $0 != .lanczos }.map { ResizeProcessor(size, filter: $0) }
        all += ResizeFilter.allCases.map { ResizeProcessor(size, filter: $0, light: .linear) }
        all += FlipProcessor.Axis.allCases.map { FlipProcessor($0) }
        all += (0..<15).map { RoundCornersProcessor(radius: 3, corners: .init(rawValue: $0)) }
        return all
    }

    @Test func anyChangeMakesAnotherKey() {
        let processors = Self.different
        var seen: [[UInt8]: String] = [:]
        for processor in processors {
            let twin = seen.updateValue("\(processor)", forKey: key(processor))
            #expect(twin == nil, "\(processor) and \(twin ?? "")")
        }
        #expect(seen.count == processors.count)
    }

    /// Returns each processor with each of its parameters changed by itself.
    private static func everything() throws -> [any ImageProcessor] {
        // The variants that the families have are in `different` too.
        try different.filter { !($0 is ResizeProcessor || $0 is FlipProcessor) }
            + AllProcessors.families().flatMap(\.all)
    }

    @Test func everyParameterIsInTheKeyAndInTheValue() throws {
        for family in try AllProcessors.families() {
            for (index, one) in family.all.enumerated() {
                for other in family.all[(index + 1)...] {
                    #expect(!one.isEqual(to: other), "\(one) and \(other)")
                    #expect(key(one) != key(other), "\(one) and \(other)")
                }
            }
        }
    }

    @Test func noKeyBeginsAnother() throws {
        // So that those of a list can follow each other without a mark between them. Sorted, one that another begins
        // with would stand before it.
        let keys = try Self.everything().map(key).sorted { $0.lexicographicallyPrecedes($1) }
        for (one, next) in zip(keys, keys.dropFirst()) { #expect(!next.starts(with: one)) }
        #expect(keys.count > 250)
    }

    @Test func blackAndWhiteIsKnownByItsControls() {
        // They make the same of every image, so that one's results are the other's.
        #expect(key(.blackWhite) == key(.colorControls(saturation: 0, exposure: 0.7)))
        #expect(!BlackWhiteProcessor().isEqual(to: ColorControlsProcessor(saturation: 0, exposure: 0.7)))
    }

    @Test func watermarksAreKnownByTheirPixels() throws {
        let (mark, twin) = (WatermarkProcessor(try noise(8, 5)), WatermarkProcessor(try noise(8, 5)))
        #expect(mark.isEqual(to: twin) && key(mark) == key(twin))
        let transposed = try image(5, 8, isOpaque: false, try noise(8, 5).bytes)
        #expect(!mark.isEqual(to: WatermarkProcessor(transposed)) && key(mark) != key(WatermarkProcessor(transposed)))
    }

    @Test func keysAreFixed() {
        // The keys name files on users' disks: a change to one raises its version.
        func expected(_ write: (inout KeyEncoder) -> Void) -> [UInt8] {
            var encoder = KeyEncoder()
            write(&encoder)
            return encoder.bytes
        }
        let resize = expected {
            $0.encode(type: "halcyon.resize", version: 1)
            $0.encode(320)
            $0.encode(240)
            $0.encode("fill")
            $0.encode(true)
            $0.encode("area")
        }
        #expect(key(.resize(to: PixelSize(320, 240), mode: .fill, upscale: true, filter: .area)) == resize)
        let rect = expected {
            $0.encode(type: "halcyon.crop", version: 1)
            for number in [0, 1, 2, 3, 4] { $0.encode(number) }
        }
        #expect(key(.crop(PixelRect(x: 1, y: 2, width: 3, height: 4))) == rect)
        let anchored = expected {
            $0.encode(type: "halcyon.crop", version: 1)
            for number in [1, 3, 4] { $0.encode(number) }
            $0.encode(0.25)
            $0.encode(0.75)
        }
        #expect(key(.crop(to: PixelSize(3, 4), anchorX: 0.25, anchorY: 0.75)) == anchored)
        let flip = expected {
            $0.encode(type: "halcyon.flip", version: 1)
            $0.encode("vertical")
        }
        #expect(key(.flip(.vertical)) == flip)
        let round = expected {
            $0.encode(type: "halcyon.round-corners", version: 3)
            $0.encode(0)
            $0.encode(2.5)
            $0.encode(5)
            for _ in 0..<4 { $0.encode(0.0) }
            $0.encode(false)
            $0.encode(false)
        }
        #expect(key(.roundCorners(radius: 2.5, corners: [.topLeft, .bottomRight])) == round)
    }

    @Test func valuesOfOtherTypesAreNeverEqual() {
        #expect(!FlipProcessor(.horizontal).isEqual(to: RoundCornersProcessor(radius: 1)))
        #expect(!FlipProcessor(.horizontal).isEqual(to: FlipProcessor(.vertical)))
    }

    /// Two types never have the same key, whatever their parameters.
    @Test func everyKeyBeginsWithTheNameOfItsType() throws {
        for processor in try Self.everything() where !(processor is ChainProcessor || processor is GeneralProcessor) {
            let bytes = key(processor)
            let count = min(Int(bytes[0]), bytes.count - 8)
            let name = String(decoding: bytes[8..<(8 + count)], as: UTF8.self)
            #expect(name.hasPrefix("halcyon."), "\(processor)")
        }
    }

    @Test func keysOfRadiusesAreFixed() {
        for (radius, number) in [(CornerRadius.widthFraction(0.25), 1), (.heightFraction(0.25), 2)] {
            var encoder = KeyEncoder()
            encoder.encode(type: "halcyon.round-corners", version: 3)
            encoder.encode(number)
            encoder.encode(0.25)
            encoder.encode(15)
            for _ in 0..<4 { encoder.encode(0.0) }
            encoder.encode(false)
            encoder.encode(false)
            #expect(key(.roundCorners(radius)) == encoder.bytes)
        }
    }
}
