import Foundation
import HalcyonImage
import Testing

@testable import HalcyonCodecs

/// QOI; pixels of files that another program has written are in the goldens.
@Suite struct QOITests {
    private let registry = CoderRegistry.standard()

    private func file(_ width: UInt32, _ height: UInt32, channels: UInt8 = 4, _ body: [UInt8]) -> Data {
        let sides = [width, height].flatMap { side in withUnsafeBytes(of: side.bigEndian) { [UInt8]($0) } }
        return Data("qoif".utf8) + sides + [channels, 0] + body
    }

    private func random(_ size: PixelSize, isOpaque: Bool, colors: UInt64) throws -> Image {
        var state: UInt64 = 42
        var pixels = [UInt8]()
        for _ in 0..<size.width * size.height {
            state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
            let value = UInt32(truncatingIfNeeded: (state >> 33) % colors &* 2_654_435_761)
            let alpha = isOpaque ? 255 : UInt8(value >> 24 & 0xC0 | 0x3F)
            pixels += [UInt8(value & 255), UInt8(value >> 8 & 255), UInt8(value >> 16 & 255), alpha]
        }
        return try Image(width: size.width, height: size.height, pixels: pixels, layout: .rgba)
    }

    @Test(arguments: [2, 40, 1000, 1 << 31] as [UInt64], [true, false])
    func whatIsWrittenIsRead(_ colors: UInt64, _ isOpaque: Bool) throws {
        let image = try random(PixelSize(131, 67), isOpaque: isOpaque, colors: colors)
        let data = try image.data(as: .qoi)
        let read = try registry.decode(data)
        #expect(try read.pixels(layout: .rgba) == image.pixels(layout: .rgba))
        #expect(read.info.hasAlpha != isOpaque)
        #expect(data.suffix(8) == Data([0, 0, 0, 0, 0, 0, 0, 1]))
    }

    @Test func eachOperationIsTheShortest() throws {
        func body(_ pixels: [UInt8]) throws -> [UInt8] {
            let image = try Image(width: pixels.count / 4, height: 1, pixels: pixels, layout: .rgba)
            return try [UInt8](image.data(as: .qoi).dropFirst(14).dropLast(8))
        }
        #expect(try body([10, 20, 30, 255]) == [0xFE, 10, 20, 30])
        #expect(try body([1, 0, 255, 255]) == [0x40 | 3 << 4 | 2 << 2 | 1])
        #expect(try body([12, 10, 9, 255]) == [0x80 | 42, 10 << 4 | 7])
        #expect(
            try body([UInt8](repeating: 0, count: 4).enumerated().map { $0.offset == 3 ? 255 : $0.element }) == [0xC0])
        let run = [[UInt8]](repeating: [0, 0, 0, 255], count: 63).flatMap { $0 }
        #expect(try body(run) == [0xFD, 0xC0])
        #expect(try body([200, 1, 1, 255, 9, 99, 9, 255, 200, 1, 1, 255]).count == 4 + 4 + 1)
    }

    @Test func rowsAreScaledAsTheyArrive() throws {
        let image = try random(PixelSize(300, 200), isOpaque: true, colors: 1 << 31)
        let options = DecodeOptions(target: TargetSize(PixelSize(64, 64)))
        let (qoi, png) = (try image.data(as: .qoi), try image.data(as: .png))
        #expect(try registry.plan(qoi, options: options).isStreamed)
        #expect(
            try registry.decode(qoi, options: options).bitmap.bytes
                == registry.decode(png, options: options).bitmap.bytes)
    }

    /// Three channels are opaque, whatever an operation says of alpha.
    @Test func threeChannelsHaveNoAlpha() throws {
        let image = try registry.decode(file(1, 1, channels: 3, [0xFF, 10, 20, 30, 40]))
        #expect(image.bitmap.isOpaque)
        #expect(image.bitmap.bytes == [30, 20, 10, 255])
    }

    @Test func aFileTooShortForItsPixelsIsRefusedBeforeTheyAreAllocated() {
        #expect(throws: CodecError.damaged(.qoi, reason: "the file was cut off")) {
            try registry.decode(file(1000, 1000, [UInt8](repeating: 0xFD, count: 100)))
        }
    }

    @Test(arguments: [
        file0(0, 1, 4), file0(1, 0, 4), file0(UInt32.max, 1, 4), file0(1, 1, 0), file0(1, 1, 5),
    ])
    func headersOfNoImageAreDamaged(_ data: Data) {
        #expect {
            try registry.probe(data)
        } throws: { ($0 as? CodecError)?.code == "damagedImage" }
    }

    private static func file0(_ width: UInt32, _ height: UInt32, _ channels: UInt8) -> Data {
        QOITests().file(width, height, channels: channels, [0xC0, 0, 0, 0, 0, 0, 0, 0, 1])
    }

    /// Each byte of the end marker could be taken for a pixel.
    @Test(arguments: 1...10) func theEndMarkerIsNotMadeOfPixels(_ missing: Int) throws {
        let marker = [0, 0, 0, 0, 0, 0, 0, 1] as [UInt8]
        let pixels = [0xFE, 100, 120, 140] + [UInt8](repeating: 0x55, count: 19)
        let whole = try registry.decode(file(10, 2, pixels + marker)).bitmap.bytes
        #expect(Array(whole.suffix(4)) == [121, 101, 81, 255] as [UInt8])
        // Also without the marker.
        #expect(try registry.decode(file(10, 2, pixels)).bitmap.bytes == whole)

        let cut = file(10, 2, pixels.dropLast(missing) + marker)
        for target in [nil, TargetSize(PixelSize(5, 5))] {
            #expect(throws: CodecError.damaged(.qoi, reason: "the file was cut off")) {
                try registry.decode(cut, options: DecodeOptions(target: target))
            }
        }
        let part = try registry.decode(cut, options: DecodeOptions(allowsIncomplete: true)).bitmap.bytes
        #expect(part == Array(whole.dropLast(missing * 4)) + [UInt8](repeating: 0, count: missing * 4))
    }

    @Test func thereIsAPartOfACutFile() throws {
        let data = file(2, 3, [0xFE, 10, 20, 30, 0xC1, 0xFE, 1, 2])
        #expect(throws: CodecError.self) { try registry.decode(data) }
        let part = try registry.decode(data, options: DecodeOptions(allowsIncomplete: true))
        #expect(part.info.isPreview)
        #expect(
            part.bitmap.bytes == [30, 20, 10, 255, 30, 20, 10, 255, 30, 20, 10, 255] + [UInt8](repeating: 0, count: 12))
    }
}
