import Foundation
import HalcyonCodecs
import HalcyonImage
import Testing

@Suite struct CoderRegistryTests {
    private let fakeData = Data("FAKE".utf8)

    @Test func theBuiltInFormats() throws {
        let registry = CoderRegistry.standard()
        let own: [ImageFormat] = [
            .jpeg, .png, .webp, .gif, .avif, .heic, .jpegXL, .tiff, .raw, .bmp, .ico, .qoi, .svg,
        ]
        #expect(Set(registry.decodableFormats) == Set(own + FormatProduct.ofLoaders))
        #expect([ImageFormat.jpeg, .png, .webp, .gif, .avif, .jpegXL].allSatisfy(registry.canEncode))
        #expect(!registry.canEncode(.svg))
        for fixture in Fixture.all { #expect(try registry.canDecode(fixture.data())) }
    }

    @Test func theLastAddedIsAskedFirst() throws {
        let registry = CoderRegistry()
        registry.add(FakeCoder(shade: 1))
        let second = registry.add(FakeCoder(shade: 2))
        #expect(try registry.decode(fakeData).bitmap.pixel(x: 0, y: 0)?.red == 2)
        registry.remove(second)
        registry.remove(second)
        #expect(try registry.decode(fakeData).bitmap.pixel(x: 0, y: 0)?.red == 1)
        #expect(try registry.encode(sampleImage(PixelSize(2, 2)), as: FakeCoder().format).last == 1)
    }

    @Test func aCoderReplacesABuiltInOne() throws {
        let registry = CoderRegistry.standard()
        let gif = try Fixture.read("gif/still.gif")
        let registration = registry.add(FakeCoder(format: .gif, signature: Array("GIF8".utf8)))
        #expect(try registry.decode(gif).size == PixelSize(3, 2))
        #expect(registry.decodableFormats.count == CoderRegistry.standard().decodableFormats.count)
        #expect(registry.decodableFormats.first == .gif)
        registry.remove(registration)
        #expect(try registry.decode(gif).size == PixelSize(48, 32))
    }

    @Test func removedCoderMakesFormatUnsupported() throws {
        let registry = CoderRegistry.standard()
        registry.removeAll { $0 is GIFCoder }
        let gif = try Fixture.read("gif/still.gif")
        #expect(!registry.canDecode(gif))
        #expect(throws: CodecError.unsupportedFormat(.gif)) { try registry.decode(gif) }
        #expect(throws: CodecError.unsupportedFormat(.svg)) {
            try registry.encode(sampleImage(PixelSize(2, 2)), as: .svg)
        }
        #expect(CoderRegistry.standard().canDecode(gif))
    }

    @Test func aDecoderMustKeepToThePlan() {
        let registry = CoderRegistry([FakeCoder(decodedSize: PixelSize(2, 2))])
        #expect(throws: CodecError.self) { try registry.decode(fakeData) }
    }

    @Test func codersComeAndGoDuringDecodes() async throws {
        let registry = CoderRegistry.standard()
        let data = try Fixture.read("png/rgb8.png")
        try await withThrowingTaskGroup(of: Void.self) { group in
            for _ in 0..<4 {
                group.addTask { for _ in 0..<100 { _ = try registry.decode(data) } }
                group.addTask { for _ in 0..<100 { registry.remove(registry.add(FakeCoder())) } }
            }
            try await group.waitForAll()
        }
        #expect(registry.coders.count == CoderRegistry.standard().coders.count)
    }
}
