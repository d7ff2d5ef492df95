import Foundation
import Halcyon
import HalcyonCodecs
import TestSupport
import Testing

/// `halcyon convert --depth`: the light and the colours of what it writes.
@Suite(.timeLimit(.minutes(5))) struct ConvertColorTests {
    private let coders = CoderRegistry.shared

    private func deep(_ data: Data, _ space: NamedColorSpace? = nil) throws -> DeepBitmap {
        let options = DecodeOptions(depth: .init(colorSpace: space ?? .sRGB), keepsDynamicRange: space == nil)
        return try #require(try coders.decode(data, options: options).deepBitmap)
    }

    private func words(_ bitmap: DeepBitmap) -> [UInt16] {
        bitmap.withPixels { [UInt16]($0.bindMemory(to: UInt16.self)) }
    }

    private func difference(_ left: DeepBitmap, _ right: DeepBitmap) throws -> Int {
        try #require(left.size == right.size)
        return zip(words(left), words(right)).reduce(0) { max($0, abs(Int($1.0) - Int($1.1))) }
    }

    @Test(arguments: ["png", "avif", "jxl"])
    func theLightOfTheSourceStays(_ format: String) async throws {
        let tool = try Tool()
        try tool.add("hdr/pq-10-bit.avif", as: "pq.avif")
        try tool.add("hdr/hlg-10-bit.heic", as: "hlg.heic")
        try tool.add("deep/rgb.png", as: "plain.png")
        let result = try await tool.run([
            "convert", tool.path("pq.avif"), tool.path("hlg.heic"), tool.path("plain.png"), "-o", tool.path("out"),
            "--to", format, "--depth", "12", "--lossless",
        ])
        #expect(result.status == 0, "\(result.errors)")
        for (source, space) in [("pq.avif", NamedColorSpace.bt2020PQ), ("hlg.heic", .bt2020HLG), ("plain.png", .sRGB)] {
            let name = String(try #require(source.split(separator: ".").first))
            let output = try deep(try tool.data("out/\(name).\(format)"))
            #expect(output.format == .init(colorSpace: space), "\(source)")
            #expect(try difference(output, try deep(try tool.data(source), space)) <= (format == "avif" ? 18 : 0))
        }
    }

    @Test func aPartAndASizeAreMadeInTheLightOfTheSource() async throws {
        let tool = try Tool()
        try tool.add("hdr/pq-16-bit.png", as: "a.png")
        let whole = try coders.probe(try tool.data("a.png")).size
        func output(_ arguments: [String]) async throws -> DeepBitmap {
            let result = try await tool.run(
                ["convert", tool.path("a.png"), "-o", tool.path("out"), "--depth", "16", "--force"] + arguments)
            #expect(result.status == 0, "\(result.errors)")
            return try deep(try tool.data("out/a.png"))
        }
        let side = max(whole.width, whole.height) / 2
        let small = try await output(["--max-side", "\(side)"])
        #expect(small.format.colorSpace == .bt2020PQ)
        let options = DecodeOptions(
            target: TargetSize(PixelSize(side, side)), depth: .init(colorSpace: .bt2020PQ))
        let same = try #require(try coders.decode(try tool.data("a.png"), options: options).deepBitmap)
        #expect(try difference(small, same) == 0)
        let cut = try await output(["-p", "crop=8x6@3,2"])
        let region = DecodeOptions(
            region: PixelRect(x: 3, y: 2, width: 8, height: 6), depth: .init(colorSpace: .bt2020PQ))
        #expect(
            try difference(cut, try #require(try coders.decode(try tool.data("a.png"), options: region).deepBitmap))
                == 0)
    }

    @Test(arguments: [
        ("srgb", NamedColorSpace.sRGB), ("display-p3", .displayP3), ("bt2020-pq", .bt2020PQ),
        ("bt2020-hlg", .bt2020HLG),
        ("linear-srgb", .linearSRGB),
    ])
    func aNamedSpaceIsThatOfTheOutput(_ name: String, _ space: NamedColorSpace) async throws {
        let tool = try Tool()
        try tool.add("hdr/hlg-10-bit.avif", as: "a.avif")
        for format in ["png", "jxl"] {
            let result = try await tool.run([
                "convert", tool.path("a.avif"), "--to", format, "--depth", "16", "--lossless", "--color-space", name,
            ])
            #expect(result.status == 0, "\(result.errors)")
            let output = try tool.data("a.\(format)")
            let halfs = format == "jxl" && space == .linearSRGB
            let kind = DeepBitmap.Format(halfs ? .float16 : .uint16, colorSpace: space)
            let (found, expected) = try (
                coders.decode(output, options: DecodeOptions(depth: kind)),
                coders.decode(try tool.data("a.avif"), options: DecodeOptions(depth: kind))
            )
            let (one, other) = (try #require(found.deepBitmap), try #require(expected.deepBitmap))
            if halfs {
                // libjxl 0.7 changes halfs below the least one of full precision.
                let numbers = zip(words(one), words(other)).map { (Float16(bitPattern: $0), Float16(bitPattern: $1)) }
                #expect(one.size == other.size && numbers.allSatisfy { abs($0 - $1) < Float16.leastNormalMagnitude })
                #expect(numbers.contains { $0.0 > 2 })
            } else {
                #expect(try difference(one, other) == 0, "\(format)")
            }
            if format == "png" {
                let points = output.range(of: Data("cICP".utf8)).map { [UInt8](output[$0.upperBound...].prefix(2)) }
                #expect(points == (space == .sRGB ? nil : [space.codePoints.primaries, space.codePoints.transfer]))
            }
        }
    }

    /// A picture of the usual range is as bright in PQ as its white is by ITU-R BT.2408.
    @Test func aPlainPictureIsWrittenAsLight() async throws {
        let tool = try Tool()
        try tool.add("png/rgb8.png", as: "a.png")
        let result = try await tool.run([
            "convert", tool.path("a.png"), "--to", "jxl", "--depth", "10", "--lossless", "--color-space", "bt2020-pq",
        ])
        #expect(result.status == 0, "\(result.errors)")
        let output = try deep(try tool.data("a.jxl"))
        #expect(output.format.colorSpace == .bt2020PQ)
        let expected = try deep(try tool.data("a.png")).converted(to: .init(colorSpace: .bt2020PQ))
        #expect(try difference(output, expected) == 0)
    }

    @Test func aSpaceWithoutItsUseIsRefused() async throws {
        let tool = try Tool()
        try tool.add("deep/rgb.png", as: "a.png")
        for (arguments, reason) in [
            (["--to", "png", "--color-space", "srgb"], "--color-space needs a --depth above 8"),
            (["--to", "png", "--depth", "8", "--color-space", "srgb"], "--color-space needs a --depth above 8"),
            (["--to", "jpeg", "--depth", "10", "--color-space", "display-p3"], "--color-space is not for jpeg"),
            (["--to", "png", "--depth", "10", "--color-space", "rec709"], "'srgb', 'display-p3', 'bt2020-pq'"),
        ] {
            let result = try await tool.run(["convert", tool.path("a.png"), "-o", tool.path("out")] + arguments)
            #expect(result.status == 64 && result.errors.contains(reason), "\(result.errors)")
        }
    }
}
