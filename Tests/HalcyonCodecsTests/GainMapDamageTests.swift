import Foundation
import HalcyonCodecs
import HalcyonImage
import HalcyonSystem
import TestSupport
import Testing

/// Gain maps that are damaged, false or hostile never change the picture, and never cost more than the limits allow.
@Suite(.timeLimit(.minutes(5))) struct GainMapDamageTests {
    private let registry = CoderRegistry.standard()
    private static let files = ["gainmap/iso.jpg", "gainmap/ultra-hdr.jpg"]
    private static let asking = DecodeOptions(decodesGainMap: true)

    /// The place of the map in a file.
    private static func start(of map: Data) throws -> Int {
        try #require(map.range(of: Data([0xFF, 0xD8, 0xFF]), in: 4..<map.count)).lowerBound
    }

    @Test(arguments: files) func aMapThatIsCutOffIsNone(_ name: String) throws {
        let file = try TestFiles.data(name)
        let picture = try registry.decode(file, options: DecodeOptions(color: .asStored)).bitmap
        let start = try Self.start(of: file)
        for length in stride(from: start, to: file.count - 2, by: 7) {
            let image = try registry.decode(file.prefix(length), options: Self.asking)
            #expect(image.gainMap == nil, "\(length) bytes")
            #expect(image.bitmap.withPixels { own in picture.withPixels { own.elementsEqual($0) } })
        }
        // A picture that is cut off is an error as ever, and its preview has no map.
        #expect(throws: CodecError.self) { try registry.decode(file.prefix(start - 200), options: Self.asking) }
        var options = Self.asking
        options.allowsIncomplete = true
        #expect(try registry.decode(file.prefix(start - 20), options: options).gainMap == nil)
    }

    /// Programs that insert metadata into a file leave the list of its pictures as it was.
    @Test(arguments: files) func aMapIsFoundBehindItsPicture(_ name: String) throws {
        var file = try TestFiles.data(name)
        let comment = Data([0xFF, 0xFE, 0, 102]) + Data(repeating: 65, count: 100)
        let list = try #require(file.range(of: Data("MPF\0".utf8)))
        let place = list.upperBound + 82
        file.insert(contentsOf: comment, at: place)
        #expect(try registry.decode(file, options: Self.asking).gainMap != nil)
        // And where the list says, if something else follows the picture first.
        var padded = try TestFiles.data(name)
        let start = try Self.start(of: padded)
        padded.insert(contentsOf: Data(repeating: 0, count: 16), at: start)
        let entry = list.upperBound + 50 + 16 + 8
        let offset = start + 16 - list.upperBound
        padded.replaceSubrange(entry..<entry + 4, with: [0, 0, UInt8(offset >> 8), UInt8(offset & 255)])
        #expect(try registry.decode(padded, options: Self.asking).gainMap != nil)
    }

    @Test(arguments: files) func changedBytesGiveTheSamePicture(_ name: String) throws {
        let file = try TestFiles.data(name)
        let start = try Self.start(of: file)
        let picture = try registry.decode(file, options: DecodeOptions(color: .asStored)).bitmap
        var random = SplitMix(state: 4)
        for _ in 0..<500 {
            var changed = file
            for _ in 0..<Int.random(in: 1...6, using: &random) {
                changed[Int.random(in: start..<file.count, using: &random)] = .random(in: 0...255, using: &random)
            }
            let image = try registry.decode(changed, options: Self.asking)
            #expect(image.bitmap.withPixels { own in picture.withPixels { own.elementsEqual($0) } })
            if let map = image.gainMap { #expect(map.size.width <= 48 && map.size.height <= 32) }
        }
    }

    @Test func aMapThatIsLargerThanItsPictureOrTheLimitsIsNone() throws {
        let file = try TestFiles.data(Self.files[1])
        let frame = try #require(file.range(of: Data([0xFF, 0xC0, 0, 0x0B, 8, 0, 16, 0, 24, 1])))
        for (height, width) in [(33, 24), (16, 49), (65_500, 65_500)] {
            var changed = file
            let sides = [height >> 8, height & 255, width >> 8, width & 255].map { UInt8($0) }
            changed.replaceSubrange(frame.lowerBound + 5..<frame.lowerBound + 9, with: sides)
            let plan = try registry.plan(changed, options: Self.asking)
            #expect(plan.workingBytes == (try registry.plan(file)).workingBytes, "\(width)x\(height)")
            #expect(try registry.decode(changed, options: Self.asking).gainMap == nil)
        }
        // The memory of one that is used is reserved.
        let bytes = try registry.plan(file, options: Self.asking).workingBytes
        #expect(bytes >= (try registry.plan(file)).workingBytes + 24 * 16 * 4)
    }

    @Test(
        arguments: [
            "GainMapMax=\"nan\"", "GainMapMax=\"1e99\"", "GainMapMax=\"-1\"", "GainMapMax=\"<<<\"", "GainMapMax=\"2'",
            "",
            "GainMapMax=\"2\" hdrgm:Gamma=\"0\"", "GainMapMax=\"2\" hdrgm:OffsetSDR=\"inf\"",
            "GainMapMax=\"2\" hdrgm:HDRCapacityMax=\"0\"", "GainMapMax=\"2\" hdrgm:Gamma=\"<rdf:li>1<rdf:li>1\"",
        ])
    func numbersWithoutAMeaningAreNoMap(_ change: String) throws {
        var file = try TestFiles.data(Self.files[1])
        let properties = "GainMapMax=\"2\" hdrgm:Gamma=\"1\" hdrgm:OffsetSDR=\"0.015625\""
        let place = try #require(file.range(of: Data(properties.utf8)))
        file.replaceSubrange(
            place, with: Data(change.utf8) + Data(repeating: 32, count: place.count - change.utf8.count))
        #expect(try registry.decode(file, options: Self.asking).gainMap == nil)
        #expect(try registry.probe(file).hasGainMap)
    }

    /// The first packet that has to do with gain maps counts, and of hundreds none else is read.
    @Test func aPacketFullOfMentionsIsNoDescription() throws {
        let mention = "hdrgm:GainMapMax=<hdrgm:GainMapMax><hdrgm:HDRCapacityMax "
        let packet = "xmlns:hdrgm=\"http://ns.adobe.com/hdr-gain-map/1.0/\" " + String(repeating: mention, count: 1100)
        var file = try TestFiles.data(Self.files[1])
        let start = try Self.start(of: file)
        let body = Data("http://ns.adobe.com/xap/1.0/\0".utf8) + Data(packet.utf8)
        try #require(body.count < 65_000)
        let length = body.count + 2
        file.insert(contentsOf: [0xFF, 0xE1, UInt8(length >> 8), UInt8(length & 255)] + body, at: start + 2)
        #expect(try registry.decode(file, options: Self.asking).gainMap == nil)
    }

    /// A packet is searched for its prefix once for each property: one that no program writes is not taken.
    @Test(arguments: [16, 17]) func aLongPrefixIsNotSearchedFor(length: Int) throws {
        let prefix = String(repeating: "a", count: length)
        let packet = """
            xmlns:\(prefix)="http://ns.adobe.com/hdr-gain-map/1.0/" \(prefix):GainMapMax="2" \(prefix):HDRCapacityMax="2"
            """
        var file = try TestFiles.data(Self.files[1])
        let name = Data("http://ns.adobe.com/xap/1.0/\0".utf8)
        let start = try #require(file.range(of: name, in: Self.start(of: file)..<file.count))
        let segment = Int(file[start.lowerBound - 2]) << 8 | Int(file[start.lowerBound - 1])
        let place = start.upperBound..<start.lowerBound - 2 + segment
        let body = Data(packet.utf8) + Data(repeating: 32, count: place.count - packet.utf8.count)
        file.replaceSubrange(place, with: body)
        let map = try registry.decode(file, options: Self.asking).gainMap
        #expect((map != nil) == (length == 16))
    }

    @Test func metadataOfTheStandardIsCheckedToTheEnd() throws {
        let file = try TestFiles.data(Self.files[0])
        let start = try Self.start(of: file)
        let name = Data("urn:iso:std:iso:ts:21496:-1\0".utf8)
        let place = try #require(file.range(of: name, in: start..<file.count)).upperBound
        // A newer version that old readers cannot read; a denominator of zero; a headroom of none.
        for (offset, bytes) in [(0, [0, 1]), (5 + 4, [0, 0, 0, 0]), (5 + 8, [0, 0, 0, 0])] as [(Int, [UInt8])] {
            var changed = file
            changed.replaceSubrange(place + offset..<place + offset + bytes.count, with: bytes)
            #expect(try registry.decode(changed, options: Self.asking).gainMap == nil, "\(offset)")
        }
        // One denominator for all: flag 8, and each number alone.
        var shared = Data([0, 0, 0, 0, 0x48])
        for number in [1000, 0, 2000, 0, 2500, 1000, 15, 15] as [UInt32] {
            withUnsafeBytes(of: number.bigEndian) { shared.append(contentsOf: $0) }
        }
        let metadata = try #require(shared.read { GainMap.Metadata(iso: $0) })
        #expect(metadata.red.maximum == 2.5 && metadata.alternateHeadroom == 2 && metadata.blue.baseOffset == 0.015)
        for length in 0..<shared.count { #expect(shared.prefix(length).read { GainMap.Metadata(iso: $0) } == nil) }
    }

    @Test func aCancelledDecodeIsCancelled() throws {
        let file = try TestFiles.data(Self.files[1])
        let plan = try registry.plan(file, options: Self.asking)
        #expect(throws: CancellationError.self) {
            try registry.decode(file, plan: plan, context: WorkContext { true })
        }
    }
}
