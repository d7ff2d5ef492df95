import Foundation
import HalcyonCodecs
import HalcyonImage
import TestSupport
import Testing

/// Files with a gain map are known as such, and are shown as the picture that they are without it.
@Suite struct GainMapTests {
    private let registry = CoderRegistry.standard()

    @Test(arguments: ["gainmap/iso.jpg", "gainmap/ultra-hdr.jpg"])
    func aJPEGWithAGainMapSaysSo(_ name: String) throws {
        let data = try TestFiles.data(name)
        #expect(try registry.probe(data).hasGainMap)
        let image = try registry.decode(data)
        #expect(image.info.hasGainMap)
        #expect(image.size == PixelSize(48, 32))
        // A file that is encoded anew has none, and one that is rewritten without loss comes back with its map.
        #expect(try !registry.probe(registry.encode(image, as: .jpeg)).hasGainMap)
        let rewritten = try registry.transcode(registry.transcode(data, to: .jpegXL), to: .jpeg)
        #expect(rewritten == data)
        // The header is enough, as for every fact.
        #expect(try registry.probe(data.prefix(2000)).hasGainMap)
    }

    @Test func aWorkerSaysSoToo() throws {
        let isolation = DecodeIsolation.isolated(workers: IsolatedDecodeTests.workers)
        let data = try TestFiles.data("gainmap/iso.jpg")
        #expect(try registry.probe(data, isolation: isolation).hasGainMap)
        #expect(try registry.decode(data, options: DecodeOptions(isolation: isolation)).info.hasGainMap)
    }

    @Test func otherFilesHaveNone() throws {
        for fixture in Fixture.all where !fixture.file.hasPrefix("gainmap/") {
            #expect(try !registry.probe(fixture.data()).hasGainMap, "\(fixture.file)")
        }
    }

    /// Programs that do not know gain maps drop the second picture with its list, and keep XMP, or the other way round.
    @Test(arguments: ["gainmap/iso.jpg", "gainmap/ultra-hdr.jpg"])
    func halfOfTheSignsIsNone(_ name: String) throws {
        let data = try TestFiles.data(name)
        for sign in ["MPF\0", "urn:iso:std:iso:ts:21496", "http://ns.adobe.com/hdr-gain-map/1.0/"] {
            var changed = data
            guard let place = changed.range(of: Data(sign.utf8)) else { continue }
            // Only the first picture's signs count.
            changed[place.lowerBound] = UInt8(ascii: "x")
            #expect(try !registry.probe(changed).hasGainMap, "\(sign)")
        }
        var single = data
        let list = try #require(single.range(of: Data([0xB0, 0x01, 0, 4, 0, 0, 0, 1, 0, 0, 0, 2])))
        single[list.upperBound - 1] = 1
        #expect(try !registry.probe(single).hasGainMap)
    }

    private static func items(_ file: ByteReader, _ format: ImageFormat) throws -> Bool {
        try ISOItems(file, format: format).hasGainMap
    }

    @Test(arguments: ["heic", "avif"]) func itemsThatMapTonesCount(_ brand: String) throws {
        let (small, type) = (PixelSize(64, 64), brand == "heic" ? "hvc1" : "av01")
        let data = brand == "heic" ? Data() : CraftedHEIF.sequenceHeader(small)
        let picture = CraftedHEIF.Item(type: type, size: small, coded: small, data: data)
        // libavif reads no file without pixels, so of AVIF the items are asked.
        func hasGainMap(_ items: [CraftedHEIF.Item]) throws -> Bool {
            let file = CraftedHEIF(items: items, brand: brand).data()
            if brand == "heic" {
                #expect(try registry.probe(file).hasGainMap == file.read { try Self.items($0, .heic) })
            }
            return try file.read { try Self.items($0, brand == "heic" ? .heic : .avif) }
        }
        #expect(try !hasGainMap([picture, picture]))
        #expect(
            try hasGainMap([picture, picture, CraftedHEIF.Item(type: "tmap", data: Data(count: 62), parts: [1, 2])]))
        // One of another picture than the primary one.
        #expect(
            try !hasGainMap([picture, picture, CraftedHEIF.Item(type: "tmap", data: Data(count: 62), parts: [2, 1])]))
        for (name, isExpected) in [
            ("urn:com:apple:photo:2020:aux:hdrgainmap", true), ("urn:mpeg:hevc:2015:auxid:1", false),
        ] {
            let map = CraftedHEIF.Item(
                type: type, size: small, coded: small, data: data, auxiliaryOf: 1, auxiliaryType: name)
            #expect(try hasGainMap([picture, map]) == isExpected, "\(name)")
        }
    }

    @Test func aBoxOfJPEGXLCounts() throws {
        var boxes = try JXLBoxList(try TestFiles.data("jxl/lossless-boxes.jxl"))
        #expect(try !registry.probe(boxes.data).hasGainMap)
        boxes.insert("jhgm", Data(count: 40))
        #expect(try registry.probe(boxes.data).hasGainMap)
        #expect(try registry.decode(boxes.data).info.hasGainMap)
    }
}
