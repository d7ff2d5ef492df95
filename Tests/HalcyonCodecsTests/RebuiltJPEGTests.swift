import Foundation
import HalcyonImage
import TestSupport
import Testing

@testable import HalcyonCodecs
@testable import HalcyonJPEGXL

/// JPEG XL files whose JPEG would be another picture than they show, and JPEGs of which such files would be made.
@Suite struct RebuiltJPEGTests {
    private let registry = CoderRegistry.standard()

    /// The markers of the JPEG are an APP segment, two tables, the frame, four codes, the scan and the end. libjxl writes any other in the
    /// place of one: a frame of arithmetic coding, a progressive one, a second one, or none, or no table.
    @Test(arguments: [
        (0xC9, 3), (0xCA, 3), (0xC2, 3), (0xC0, 1), (0xC2, 2), (0xC9, 2), (0xD0, 3), (0xD0, 1), (0xD0, 2),
    ])
    func markersOfAnotherPictureOrOfNoneAreRefused(_ marker: Int, at index: Int) throws {
        let file = try Self.file(marker, at: index)
        #expect(throws: JXLReconstruction.invalid) { try registry.transcode(file, to: .jpeg) }
    }

    /// The frame of baseline coding is one of extended coding as well.
    @Test func otherMarkersOfTheSamePictureAreWritten() throws {
        let jpeg = try TestFiles.data("jxl/of-jpeg.jpg")
        let other = try registry.transcode(Self.file(0xC1, at: 3), to: .jpeg)
        #expect(other != jpeg)
        #expect(try registry.decode(other).bitmap.bytes == registry.decode(jpeg).bitmap.bytes)
    }

    /// Returns a file with another marker at a place in the order of its JPEG's.
    private static func file(_ marker: Int, at index: Int) throws -> Data {
        var boxes = try JXLBoxList(try TestFiles.data("jxl/of-jpeg.jxl"))
        var body = [UInt8](try #require(boxes.body("jbrd")))
        // The first bit is for grey.
        set(marker - 0xC0, bits: 6, at: 1 + index * 6, in: &body)
        boxes.replace("jbrd", by: Data(body))
        return boxes.data
    }

    /// The data name the table of each channel, and libjxl writes the values of the channels into these.
    @Test func tablesOfOtherChannelsAreRefused() throws {
        let jpeg = try TestFiles.data("jxl/of-jpeg.jpg")
        let pixels = try registry.decode(jpeg).bitmap.bytes
        let boxes = try JXLBoxList(try TestFiles.data("jxl/of-jpeg.jxl"))
        let body = [UInt8](try #require(boxes.body("jbrd")))
        // Behind a bit for grey, ten markers, kind and size of a segment, two tables, and the names of the channels.
        let place = 1 + 10 * 6 + 2 + 16 + 2 + 2 * 4 + 2
        var (taken, refused) = (0, 0)
        for tables in 0..<64 {
            var (changed, file) = (body, boxes)
            Self.set(tables, bits: 6, at: place, in: &changed)
            file.replace("jbrd", by: Data(changed))
            do {
                let other = try registry.transcode(file.data, to: .jpeg)
                #expect(try registry.decode(other).bitmap.bytes == pixels, "\(tables)")
                taken += 1
            } catch let error as CodecError {
                // libjxl refuses a table that is not there, or that no channel has.
                let isDamaged = if case .damaged = error { true } else { false }
                #expect(isDamaged || error == JXLReconstruction.invalid, "\(tables)")
                refused += isDamaged ? 0 : 1
            }
        }
        // Two tables in either order, the first for luma or the second.
        #expect(taken == 2)
        #expect(refused == 5)
    }

    /// A file may scale its average colours otherwise than the rest, which a JPEG has no field for.
    @Test func aScaleThatNoJPEGHasIsRefused() throws {
        let whole = try TestFiles.data("jxl/of-jpeg.jxl")
        var boxes = try JXLBoxList(whole)
        let place = try #require(JXLFile(whole).frames.first)
        // The first field of the first part: a bit for other scales than the usual ones, and three numbers of 16 bits.
        var bytes = [UInt8](try JXLFile(whole).codestream)
        let start = (place.bytes.lowerBound + place.header.headerBytes) * 8
        try #require(bytes[start / 8] & 1 == 0)
        // The lowest bit of an exponent.
        bytes[(start + 1 + 16 + 10) / 8] ^= 1 << UInt8((start + 1 + 16 + 10) % 8)
        boxes.replaceCodestream(by: Data(bytes))
        let file = boxes.data
        #expect(try registry.decode(file).bitmap.bytes != registry.decode(whole).bitmap.bytes)
        #expect(throws: JXLReconstruction.invalid) { try registry.transcode(file, to: .jpeg) }
    }

    private static func set(_ value: Int, bits: Int, at place: Int, in body: inout [UInt8]) {
        for bit in 0..<bits {
            let mask = UInt8(1) << UInt8((place + bit) % 8)
            let isSet = value >> bit & 1 == 1
            body[(place + bit) / 8] = isSet ? body[(place + bit) / 8] | mask : body[(place + bit) / 8] & ~mask
        }
    }

    /// Without a JFIF segment, the names of the channels say what they are.
    @Test func channelsOfOtherColoursAreRefused() throws {
        let source = try TestFiles.data("jxl/of-jpeg.jpg")
        let length = Int(source[4]) << 8 | Int(source[5])
        let jpeg = source.prefix(2) + source.dropFirst(4 + length)
        var boxes = try JXLBoxList(try registry.transcode(jpeg, to: .jpegXL))
        #expect(try registry.transcode(boxes.data, to: .jpeg) == jpeg)
        var body = try #require(boxes.body("jbrd"))
        // Behind nine markers and two tables: 1 for the numbers from 1 on, 2 for R, G and B.
        let place = 1 + 9 * 6 + 2 + 2 * 4
        let first = UInt8(place % 8)
        try #require(body[place / 8] >> first & 3 == 1)
        body[place / 8] ^= 3 << first
        boxes.replace("jbrd", by: body)
        let file = boxes.data
        #expect(throws: JXLReconstruction.invalid) { try registry.transcode(file, to: .jpeg) }
    }

    /// libjxl takes any APP0 segment for JFIF's, which comes with luma and chroma.
    @Test func coloursThatLibjxlTakesForOthersAreNotRewritten() throws {
        var jpeg = try TestFiles.data("jxl/of-jpeg.jpg")
        jpeg.replaceSubrange(try #require(jpeg.range(of: Data("JFIF".utf8))), with: Data("AVI1".utf8))
        let frame = try #require(jpeg.range(of: Data([0xFF, 0xC0]))).lowerBound
        let scan = try #require(jpeg.range(of: Data([0xFF, 0xDA]))).lowerBound
        for (channel, name) in "RGB".utf8.enumerated() {
            jpeg[frame + 10 + channel * 3] = name
            jpeg[scan + 5 + channel * 2] = name
        }
        let colored = jpeg
        #expect(throws: CodecError.encodingFailed(.jpegXL, reason: "this JPEG could not be rebuilt")) {
            try registry.transcode(colored, to: .jpegXL)
        }
    }

    // MARK: - JPEGs that decoders read in different ways

    /// JPEGs of which libjpeg and libjxl make different pictures.
    enum Trap: CaseIterable, Sendable {
        /// libjpeg takes the last of two tables with the same number.
        case tableTwice
        /// libjpeg-turbo computes in 16 bits.
        case overflow
        /// libjpeg smooths the blocks of a progressive file that is not complete.
        case averagesAlone

        func file() throws -> Data {
            let source =
                try self == .averagesAlone ? Fixture.read("jpeg/progressive.jpg") : TestFiles.data("jxl/of-jpeg.jpg")
            var jpeg = source
            let table = try #require(jpeg.range(of: Data([0xFF, 0xDB, 0, 67, 0])))
            switch self {
            case .tableTwice:
                // The first once more, with the values of the second: libjxl takes a copy of the table before for one that is not used.
                let second = try #require(jpeg.range(of: Data([0xFF, 0xDB, 0, 67, 1])))
                let end = second.upperBound + 64
                jpeg.insert(contentsOf: jpeg[table] + jpeg[second.upperBound..<end], at: end)
            case .overflow:
                jpeg.replaceSubrange(table.upperBound..<table.upperBound + 64, with: Data(repeating: 255, count: 64))
            case .averagesAlone:
                let first = try #require(jpeg.range(of: Data([0xFF, 0xDA])))
                let second = try #require(jpeg[first.upperBound...].range(of: Data([0xFF, 0xC4])))
                jpeg = jpeg[..<second.lowerBound] + [0xFF, 0xD9]
            }
            return Data(jpeg)
        }
    }

    @Test(arguments: Trap.allCases) func jpegsThatDecodersReadInDifferentWaysAreNotRewritten(_ trap: Trap) throws {
        let jpeg = try trap.file()
        _ = try registry.decode(jpeg)
        #expect(throws: JXLEncoder.unknownKind) { try registry.transcode(jpeg, to: .jpegXL) }
    }

    /// libjxl makes and rebuilds such a file without a doubt.
    @Test(arguments: Trap.allCases) func theyAreNotRebuilt(_ trap: Trap) throws {
        let encoder = try JXLEncoder()
        try encoder.add(jpeg: trap.file(), effort: 0)
        let file = try encoder.finish()
        _ = try registry.decode(file)
        #expect(throws: JXLReconstruction.invalid) { try registry.transcode(file, to: .jpeg) }
    }

    /// The coefficients of the sharpest picture that there is are within the range.
    @Test(arguments: [0.05, 0.5, 1]) func picturesOfBlackAndWhiteAreRewritten(_ quality: Double) throws {
        var (value, size) = (UInt32(1), PixelSize(128, 128))
        size.height = 120
        let bitmap = try Bitmap(size: size, isOpaque: true) { bytes in
            let pixels = bytes.bindMemory(to: UInt32.self)
            for index in pixels.indices {
                value = value &* 1_664_525 &+ 1_013_904_223
                pixels[index] = value >> 31 == 1 ? .max : 0xFF00_0000
            }
        }
        let jpeg = try registry.encode(
            Image(bitmap: bitmap, info: ImageInfo(format: .png, size: size)), as: .jpeg,
            options: EncodeOptions(quality: quality))
        #expect(try registry.transcode(registry.transcode(jpeg, to: .jpegXL), to: .jpeg) == jpeg)
    }

    // MARK: - Profiles and orientation

    /// A profile of ink or of grey does not count in a JPEG of three channels, and would in the JPEG XL.
    @Test(arguments: ["bad-cmyk-in-rgb", "bad-gray-in-rgb"]) func profilesOfOtherChannelsAreNotRewritten(_ name: String)
        throws
    {
        let jpeg = try Fixture.read("color/\(name).jpg")
        #expect(throws: JXLEncoder.unknownKind) { try registry.transcode(jpeg, to: .jpegXL) }
        let fitting = try Fixture.read("color/p3.jpg")
        #expect(try registry.transcode(registry.transcode(fitting, to: .jpegXL), to: .jpeg) == fitting)
    }

    /// The tag of the orientation as one short number, without its value.
    private static let orientationEntry = Data([0x01, 0x12, 0, 3, 0, 0, 0, 1])

    /// A JPEG lies as its EXIF data say, a JPEG XL as its header says.
    @Test func anotherOrientationThanThatOfThePictureIsRefused() throws {
        let jpeg = try Fixture.read("jpeg/orientation-6.jpg")
        let name = try #require(jpeg.range(of: Data("Exif\0\0".utf8)))
        let length = Int(jpeg[name.lowerBound - 2]) << 8 | Int(jpeg[name.lowerBound - 1])
        var exif = Data(count: 4) + jpeg[name.upperBound..<name.lowerBound + length - 2]
        let whole = try registry.transcode(jpeg, to: .jpegXL)
        func rebuilt() throws -> Data {
            var boxes = try JXLBoxList(whole)
            // In front of the box that is there.
            boxes.insert("Exif", exif)
            return try registry.transcode(boxes.data, to: .jpeg)
        }
        #expect(try rebuilt() == jpeg)
        let entry = try #require(exif.range(of: Self.orientationEntry + [0, 6]))
        exif[entry.upperBound - 1] = 3
        #expect(throws: JXLReconstruction.invalid) { try rebuilt() }
    }

    /// libjxl reads an orientation of no other type than short, and the JPEG XL would lie otherwise than the JPEG.
    @Test func anOrientationThatLibjxlDoesNotReadIsNotRewritten() throws {
        var jpeg = try Fixture.read("jpeg/orientation-6.jpg")
        let entry = try #require(jpeg.range(of: Self.orientationEntry + [0, 6]))
        // A byte.
        jpeg.replaceSubrange(entry, with: [0x01, 0x12, 0, 1, 0, 0, 0, 1, 6, 0])
        try #require(try registry.probe(jpeg).orientation == .right)
        let turned = jpeg
        #expect(throws: CodecError.encodingFailed(.jpegXL, reason: "this JPEG could not be rebuilt")) {
            try registry.transcode(turned, to: .jpegXL)
        }
    }
}
