import Foundation
import HalcyonCodecs
import HalcyonImage
import TestSupport
import Testing

/// Deep pixels of a worker are those of this process.
@Suite(.timeLimit(.minutes(5))) struct IsolatedDepthTests {
    static let workers = DecodeWorkers(count: 2, program: .file(Worker.path))
    let registry = CoderRegistry.standard()

    private func expectSame(_ data: Data, _ options: DecodeOptions) throws {
        var isolated = options
        isolated.isolation = .isolated(workers: Self.workers)
        let (own, other) = (try registry.decode(data, options: options), try registry.decode(data, options: isolated))
        #expect(own.bitmap.bytes == other.bitmap.bytes)
        #expect(own.colorProfile == other.colorProfile && own.info == other.info)
        let (deep, same) = (try #require(own.deepBitmap), try #require(other.deepBitmap))
        #expect(deep.words == same.words)
        #expect(deep.format == same.format && deep.isOpaque == same.isOpaque && deep.size == same.size)
        // By a plan, as the pipeline decodes.
        let plan = try registry.plan(data, options: isolated)
        #expect(plan.workingBytes >= own.width * own.height * 12)
        #expect(try registry.decode(data, plan: plan).deepBitmap?.words == deep.words)
    }

    @Test(arguments: DeepFixture.all)
    func everyFileIsTheSame(_ fixture: DeepFixture) throws {
        let data = try Fixture.read(fixture.file)
        try expectSame(data, DecodeOptions(depth: try fixture.format))
        let small = TargetSize(PixelSize(11, 13), mode: .fill)
        try expectSame(
            data, DecodeOptions(target: small, color: .asStored, depth: .init(.float16, colorSpace: .displayP3)))
    }

    @Test(arguments: ["hdr/pq-10-bit.avif", "hdr/hlg-16-bit.jxl", "hdr/pq-8-bit.png", "deep/rgb.png"])
    func theLightOfTheSourceIsTheSame(_ file: String) throws {
        let data = try Fixture.read(file)
        try expectSame(data, DecodeOptions(depth: .init(), keepsDynamicRange: true))
        let small = TargetSize(PixelSize(11, 13))
        try expectSame(
            data, DecodeOptions(target: small, depth: .init(.float16, colorSpace: .displayP3), keepsDynamicRange: true))
    }

    @Test(arguments: ["jpeg/baseline-444.jpg", "color/adobe.jpg", "animation/mixed-over.png"])
    func aSourceOfEightBitsIsTheSame(_ file: String) throws {
        try expectSame(try Fixture.read(file), DecodeOptions(firstFrameOnly: true, depth: .init()))
        try expectSame(try Fixture.read(file), DecodeOptions(color: .asStored, firstFrameOnly: true, depth: .init()))
    }

    /// More than the two windows hold, in parts that no row or bitmap ends at.
    @Test func aLargeImageComesInParts() throws {
        let deep = try DeepBitmap.sample(PixelSize(1201, 1003), hasAlpha: true)
        let data = try registry.encode(try Image(deep), as: .png, options: EncodeOptions(bitsPerChannel: 16))
        try expectSame(data, DecodeOptions(depth: .init()))
        try expectSame(data, DecodeOptions(target: TargetSize(PixelSize(700, 700)), depth: .init()))
    }
}
