import Foundation
import HalcyonImage
import TestSupport
import Testing

@testable import HalcyonCodecs

/// Chunks of a WebP that libwebp and browsers do not read.
@Suite struct WebPTests {
    private let registry = CoderRegistry.standard()

    private func chunk(_ name: String, _ body: Data) -> Data {
        Data(name.utf8) + withUnsafeBytes(of: UInt32(body.count).littleEndian) { Data($0) } + body
            + Data(count: body.count % 2)
    }

    /// Programs append archives, pictures and signatures.
    @Test(arguments: ["webp/lossy.webp", "webp/lossless-alpha.webp", "webp/animated.webp"])
    func bytesBehindTheEndAreNoChunks(_ name: String) throws {
        let file = try Fixture.read(name)
        let (info, pixels) = (try registry.probe(file), try registry.decode(file).bitmap.bytes)
        // The frame of an animation, as it would be another one of them.
        let frame = file.range(of: Data("ANMF".utf8)).map { file[$0.lowerBound...].prefix(200) } ?? Data()
        let orientation = chunk("EXIF", Exif.data(.right))
        for more in [Data(repeating: 0x41, count: 64), try Fixture.read("jpeg/orientation-6.jpg"), frame, orientation] {
            let longer = file + more
            #expect(try registry.probe(longer) == info)
            let image = try registry.decode(longer)
            #expect(image.info.orientation == info.orientation)
            #expect(image.animation?.frameCount == (info.frameCount > 1 ? info.frameCount : nil))
            #expect(image.bitmap.bytes == pixels)
        }
    }

    @Test func aProfileThatTheCanvasDoesNotAnnounceIsIgnored() throws {
        var file = try Fixture.read("color/p3.webp")
        let canvas = try #require(file.range(of: Data("VP8X".utf8)))
        let flags = canvas.upperBound + 4
        try #require(file[flags] & 0x20 != 0)
        #expect(try registry.probe(file).colorSpace != .sRGB)
        var plain = DecodeOptions()
        plain.color = .asStored
        let stored = try registry.decode(file, options: plain).bitmap.bytes
        #expect(try registry.decode(file).bitmap.bytes != stored)
        file[flags] &= ~0x20
        #expect(try registry.probe(file).colorSpace == .sRGB)
        #expect(try registry.decode(file).bitmap.bytes == stored)
    }
}
