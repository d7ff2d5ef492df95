import Foundation
import HalcyonImage
import TestSupport
import Testing

@testable import HalcyonCodecs

/// Segments of a JPEG that look like those of a profile or of EXIF, and are none for other readers.
@Suite struct JPEGSegmentTests {
    private let registry = CoderRegistry.standard()

    /// A change to the only part of a profile.
    enum Change: CaseIterable, Sendable {
        case nameWithoutEnd, twice, numberZero, otherTotal, numberAboveTotal

        func apply(to jpeg: Data) throws -> Data {
            var jpeg = jpeg
            let name = try #require(jpeg.range(of: Data("ICC_PROFILE\0".utf8)))
            try #require(Array(jpeg[name.upperBound...].prefix(2)) == [1, 1])
            let length = Int(jpeg[name.lowerBound - 2]) << 8 | Int(jpeg[name.lowerBound - 1])
            let segment = jpeg[name.lowerBound - 4..<name.lowerBound - 2 + length]
            func more(_ number: UInt8, of total: UInt8) -> Data {
                Data([0xFF, 0xE2, 0, 17]) + jpeg[name] + [number, total, 0]
            }
            switch self {
            case .nameWithoutEnd: jpeg[name.upperBound - 1] = 1
            case .twice: jpeg.insert(contentsOf: segment, at: segment.endIndex)
            case .numberZero: jpeg.insert(contentsOf: more(0, of: 1), at: segment.endIndex)
            case .otherTotal: jpeg.insert(contentsOf: more(2, of: 2), at: segment.endIndex)
            case .numberAboveTotal: jpeg[name.upperBound] = 2
            }
            return jpeg
        }
    }

    /// libjpeg's reader, which browsers use, ignores such a profile.
    @Test(arguments: Change.allCases) func aProfileOfPartsThatContradictEachOtherIsIgnored(_ change: Change) throws {
        let jpeg = try Fixture.read("color/p3.jpg")
        try #require(JPEGCoder().colorProfile(of: jpeg) != nil)
        let changed = try change.apply(to: jpeg)
        #expect(JPEGCoder().colorProfile(of: changed) == nil)
        let image = try registry.decode(changed)
        #expect(image.info.colorSpace == .sRGB)
        #expect(try image.bitmap.bytes != registry.decode(jpeg).bitmap.bytes)
        var plain = DecodeOptions()
        plain.color = .asStored
        #expect(try image.bitmap.bytes == registry.decode(jpeg, options: plain).bitmap.bytes)
    }

    @Test(arguments: [Data("Exif\u{1}\u{1}................".utf8), Data("Exif\0\0".utf8)])
    func aSegmentWithoutADirectoryHidesNoOrientation(_ body: Data) throws {
        var jpeg = try Fixture.read("jpeg/orientation-6.jpg")
        jpeg.insert(contentsOf: [0xFF, 0xE1, 0, UInt8(body.count + 2)] + body, at: 2)
        #expect(try registry.probe(jpeg).orientation == .right)
        #expect(try registry.decode(jpeg).info.orientation == .right)
    }
}
