import Foundation
import HalcyonImage
import Testing

@testable import HalcyonCodecs

/// The headers and pictures in an item's data: how many are just allowed, and which units count as one.
@Suite struct CodedPictureBoundaryTests {
    private typealias Item = CraftedHEIF.Item
    private let small = PixelSize(64, 64)
    private let huge = PixelSize(8192, 8192)

    /// Why an item with this data is refused, nil if it is not. The item's configuration is one header.
    private func reason(
        _ format: ImageFormat, _ data: [Data], size: PixelSize? = nil, configuration: PixelSize? = nil
    ) throws -> String? {
        let (type, brand) = format == .avif ? ("av01", "avif") : ("hvc1", "heic")
        let item = Item(
            type: type, size: size ?? small, coded: configuration ?? small, data: data.reduce(Data(), +))
        let file = CraftedHEIF(items: [item], brand: brand).data()
        do {
            try file.read { try ISOItems($0, format: format).check() }
            return nil
        } catch CodecError.damaged(_, let reason) {
            return reason
        }
    }

    private func header(_ format: ImageFormat, _ size: PixelSize) -> Data {
        format == .avif
            ? CraftedHEIF.sequenceHeader(size) : CraftedHEIF.unit(CraftedHEIF.parameterSet(size))
    }

    /// The last header that is allowed is read like the others.
    @Test(arguments: [ImageFormat.heic, .avif]) func twoHundredAndFiftySixHeadersAreRead(_ format: ImageFormat) throws {
        let honest = header(format, small)
        #expect(try reason(format, [Data](repeating: honest, count: 255)) == nil)
        let last = [Data](repeating: honest, count: 254) + [header(format, huge)]
        #expect(try reason(format, last) == "a picture of 64x64 is coded as 8192x8192")
        #expect(try reason(format, [Data](repeating: honest, count: 256)) == "an item has 257 headers")
    }

    /// A header that declares as many pixels in another shape does not hide the one before it.
    @Test(arguments: [ImageFormat.heic, .avif]) func anotherShapeHidesNothing(_ format: ImageFormat) throws {
        let size = PixelSize(64, 256)
        let found = try reason(format, [header(format, size)], size: size, configuration: PixelSize(256, 64))
        #expect(found == "a picture of 64x256 is coded as 256x64")
        #expect(try reason(format, [header(format, size)], size: size, configuration: size) == nil)
    }

    @Test func aPictureOfHEVCStandsAlone() throws {
        let slice = CraftedHEIF.unit(CraftedHEIF.slice)
        #expect(try reason(.heic, [slice]) == nil)
        #expect(try reason(.heic, [slice, slice]) == "an item has 2 pictures")
    }

    /// Units of the kinds 32 and above are no slices, and a slice whose first bit is not set continues a picture.
    @Test func unitsThatBeginNoPictureDoNotCount() throws {
        let slice = CraftedHEIF.unit(CraftedHEIF.slice)
        let videoSet = CraftedHEIF.unit(Data([32 << 1, 1, 0x8C, 0]))
        let second = CraftedHEIF.unit(Data([0x26, 1, 0x2F, 0]))
        #expect(try reason(.heic, [videoSet, videoSet, slice, second, second]) == nil)
        // The last kind of slices.
        let reserved = CraftedHEIF.unit(Data([31 << 1, 1, 0x8C, 0]))
        #expect(try reason(.heic, [reserved, slice]) == "an item has 2 pictures")
    }

    /// A frame, or the header of one. A redundant copy of a header is no other picture.
    @Test(arguments: [UInt8(3), 6]) func eightPicturesOfAV1AreAllowed(type: UInt8) throws {
        let picture = CraftedHEIF.obu(type, Data([0]))
        let copy = CraftedHEIF.obu(7, Data([0]))
        #expect(try reason(.avif, [Data](repeating: picture, count: 8) + [copy, copy]) == nil)
        #expect(try reason(.avif, [Data](repeating: picture, count: 9)) == "an item has 9 pictures")
    }

    /// From the level 8 on, an operating point has one bit more.
    @Test(arguments: [7, 8]) func theSizeStandsBehindTheLevels(level: Int) throws {
        let header = CraftedHEIF.sequenceHeader(huge, isReduced: false, level: level)
        #expect(try reason(.avif, [header]) == "a picture of 64x64 is coded as 8192x8192")
    }
}
