import Foundation
import HalcyonImage
import Testing

@testable import HalcyonCodecs

/// Files whose libraries report success and leave pixels as they were, or show those of another place.
@Suite struct UnwrittenPixelsTests {
    private let registry = CoderRegistry.standard()

    // MARK: TIFF

    /// A page of 64 x 64 pixels in strips of ten rows or tiles of 64 x 64, which share their bytes.
    struct DeflatedPage: CustomTestStringConvertible {
        var bits = 8
        var isReal = false
        var samples = 3
        var photometric = 2
        var isTiled = false

        var testDescription: String { "\(samples) x \(bits) bits, real: \(isReal), tiled: \(isTiled)" }

        private var rows: Int { isTiled ? 64 : 10 }
        var unitBytes: Int { 64 * rows * samples * bits / 8 }

        func file(_ packed: Data) -> Data {
            let count = isTiled ? 1 : 7
            let first = 8 + 2 + 12 * (isTiled ? 12 : 11) + 4
            let pixels = first + samples * 4 + count * 8
            var entries = [
                (256, 3, 1, 64), (257, 3, 1, 64), (258, 3, samples, samples > 2 ? first : bits | bits << 16),
                (259, 3, 1, 8),
                (262, 3, 1, photometric), (277, 3, 1, samples), (284, 3, 1, 1),
                (339, 3, samples, samples > 2 ? first + samples * 2 : format | format << 16),
            ]
            let lists = (first + samples * 4, first + samples * 4 + count * 4)
            let places = count == 1 ? (pixels, packed.count) : lists
            let unit = isTiled ? [(322, 3, 1, 64), (323, 3, 1, 64)] : [(278, 3, 1, rows)]
            entries += unit + [(isTiled ? 324 : 273, 4, count, places.0), (isTiled ? 325 : 279, 4, count, places.1)]
            var data = Data(little(0x2A_4949, 4) + little(8, 4) + little(entries.count, 2))
            for entry in entries.sorted(by: { $0.0 < $1.0 }) {
                data += little(entry.0, 2) + little(entry.1, 2) + little(entry.2, 4) + little(entry.3, 4)
            }
            data += little(0, 4)
            for value in [bits, format] { for _ in 0..<samples { data += little(value, 2) } }
            for value in [pixels, packed.count] { for _ in 0..<count { data += little(value, 4) } }
            return data + packed
        }

        private var format: Int { isReal ? 3 : 1 }

        private func little(_ value: Int, _ bytes: Int) -> [UInt8] {
            (0..<bytes).map { UInt8(value >> ($0 * 8) & 255) }
        }
    }

    private static let pages = [
        DeflatedPage(), DeflatedPage(bits: 16), DeflatedPage(bits: 32), DeflatedPage(bits: 32, isReal: true),
        DeflatedPage(bits: 16, samples: 4, photometric: 5),
        DeflatedPage(bits: 32, isReal: true, samples: 1, photometric: 1),
        DeflatedPage(bits: 16, isTiled: true), DeflatedPage(bits: 32, isReal: true, isTiled: true),
    ]

    /// A byte of every pixel, which is 0.19 as a number of 32 bits.
    private static let pixel: UInt8 = 0x3E

    /// One stored block.
    private static func stored(_ count: Int) -> Data {
        let length = [UInt8(count & 255), UInt8(count >> 8)]
        return Data([0x78, 1, 1] + length + length.map { ~$0 }) + Data(repeating: pixel, count: count) + Data(count: 4)
    }

    /// libdeflate refuses to unpack more than there is room for, which libtiff takes for success.
    @Test(arguments: pages) func deflatedUnitsThatAreTooLongAreTheirBeginning(_ page: DeflatedPage) throws {
        // The second one ends with a match that goes on beyond the strip.
        let run = [UInt8](repeating: Self.pixel, count: page.unitBytes + 600)
        let packed = [Self.stored(65_535), Packing().packed(run)]
        for depth in [nil, DeepBitmap.Format(.uint16), DeepBitmap.Format(.float16)] {
            var options = DecodeOptions()
            options.depth = depth
            // Memory that another picture had comes back for this one.
            _ = try registry.decode(Fixture.read("tiff/rgb-float32.tiff"), options: options)
            let pictures = try packed.map { try registry.decode(page.file($0), options: options) }
            for bytes in pictures.map(bytes) {
                #expect(bytes[0] != 0)
                #expect(zip(bytes, bytes.dropFirst(8)).allSatisfy { $0 == $1 }, "\(String(describing: depth))")
                #expect(bytes == self.bytes(pictures[0]))
            }
        }
    }

    private func bytes(_ image: Image) -> [UInt8] { image.deepBitmap?.withPixels { Array($0) } ?? image.bitmap.bytes }

    /// libtiff shows the rows of the strip before in the place of those that are missing.
    @Test func stripsOfJPEGThatAreTooShortAreDamage() throws {
        var data = try Fixture.read("tiff/rgb-jpeg.tiff")
        let frame = try #require(data.range(of: Data([0xFF, 0xC0, 0, 17, 8]))).upperBound
        data[frame + 1] = 8
        let reason = "a strip or tile has fewer pixels than its place"
        #expect(throws: CodecError.damaged(.tiff, reason: reason)) { try registry.decode(data) }
    }

    // MARK: JPEG

    /// A picture of three components, each of which has a scan of its own, as far as it is listed.
    private func jpeg(scans: [UInt8], ends: Bool = true) throws -> Data {
        let gray = try Fixture.read("jpeg/gray.jpg")
        let frame = try #require(gray.range(of: Data([0xFF, 0xC0, 0, 11]))).lowerBound
        let scan = try #require(gray.range(of: Data([0xFF, 0xDA, 0, 8, 1, 1])))
        let components = (1...3).flatMap { [$0, 0x11, 0] as [UInt8] }
        var data = Data(gray[..<frame]) + [0xFF, 0xC0, 0, 17]
        data += gray[frame + 4..<frame + 9] + [3] + components
        data += gray[frame + 13..<scan.lowerBound]
        for id in scans { data += Data([0xFF, 0xDA, 0, 8, 1, id]) + gray[scan.upperBound..<gray.count - 2] }
        return data + (ends ? [0xFF, 0xD9] : [])
    }

    /// A progressive picture without the scan of its averages, which would be grey.
    @Test func averagesThatAreMissingAreDamage() throws {
        let whole = CraftedFile.jpeg(width: 64, height: 64, scans: 3)
        #expect(try registry.decode(whole).size == PixelSize(64, 64))
        let scans = whole.ranges(of: Data([0xFF, 0xDA]))
        let reason = "the scans of a component are missing"
        let damaged = whole[..<scans[0].lowerBound] + whole[scans[1].lowerBound...]
        #expect(throws: CodecError.damaged(.jpeg, reason: reason)) { try registry.decode(damaged) }
    }

    private func arriving(_ data: Data) throws -> Image {
        let decoding = try #require(registry.makeProgressive(for: data))
        for byte in data.indices { try decoding.append(data[byte...byte], context: .uncancellable) }
        return try decoding.finish(context: .uncancellable)
    }

    @Test(arguments: [[1], [1, 2], [2, 3], [1, 1, 2]] as [[UInt8]])
    func componentsWithoutAScanAreDamage(_ scans: [UInt8]) throws {
        for decode in [{ try registry.decode($0) }, arriving] as [(Data) throws -> Image] {
            #expect(throws: CodecError.damaged(.jpeg, reason: "the scans of a component are missing")) {
                try decode(jpeg(scans: scans))
            }
            #expect(throws: CodecError.self) { try decode(jpeg(scans: scans, ends: false)) }
        }
    }

    @Test(arguments: [[1, 2, 3], [3, 1, 2]] as [[UInt8]]) func scansInAnyOrderAreAPicture(_ scans: [UInt8]) throws {
        let picture = try registry.decode(jpeg(scans: scans))
        #expect(try arriving(jpeg(scans: scans)).bitmap.bytes == picture.bitmap.bytes)
    }

    // MARK: Names

    /// A name is printed, and must not move a terminal's cursor.
    @Test func namesOfProfilesHaveNoControlCharacters() throws {
        let data = try Fixture.read("png/rgb8.png")
        let name = Data("\u{1B}[31mP3\u{7}\r\n".utf8) + [0x9B, 0x41, 0xFC]
        let chunk = CraftedFile.chunk("iCCP", name + [0, 0] + Data([0x78, 1, 3, 0, 0, 0, 0, 1]))
        let info = try registry.probe(data.prefix(33) + chunk + data.dropFirst(33))
        #expect(info.colorSpace == .icc("[31mP3Aü"))
    }
}
