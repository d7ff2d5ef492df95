import Foundation
import HalcyonCodecs
import HalcyonImage
import HalcyonSystem
import Testing

/// The columns of `halcyon formats` beside what the coders do with files of each format: where there is a yes, at least one fixture
/// shows it, and where there is none, no fixture does.
@Suite(.timeLimit(.minutes(10))) struct CapabilityTests {
    private let registry = CoderRegistry.standard()
    private static let fixtures = Dictionary(grouping: Fixture.all + GdkPixbufTests.fixtures, by: \.format)

    private func said(_ column: (FormatCapabilities) -> Bool) -> Set<String> {
        Set(registry.capabilities.filter(column).map(\.format.name))
    }

    /// Returns the formats of which a fixture shows something, decoded with options that suit its format.
    private func shown(_ shows: (Data, DecodeOptions) throws -> Bool) throws -> Set<String> {
        let loaders = Set(GdkPixbufTests.fixtures.map(\.format))
        var names: Set<String> = []
        for (name, fixtures) in Self.fixtures {
            let options = loaders.contains(name) ? GdkPixbufTests.options : DecodeOptions()
            if try fixtures.contains(where: { try shows($0.data(), options) }) { names.insert(name) }
        }
        return names
    }

    /// No loader for JPEG 2000 is there, and no fixture.
    @Test func still() throws {
        let shown = try shown { try registry.decode($0, options: $1).size.width > 0 }
        #expect(shown.union(["jp2"]) == said(\.decodes))
    }

    @Test func animated() throws {
        let shown = try shown { data, options in
            let image = try registry.decode(data, options: options)
            guard let animation = image.animation, animation.frameCount > 1 else { return false }
            let frames = try (0..<animation.frameCount).map { try animation.frame(at: $0).bytes }
            return frames.dropFirst().contains { $0 != frames[0] }
        }
        #expect(shown == said(\.decodesAnimations))
    }

    @Test func asItArrives() throws {
        let shown = try shown { data, options in
            guard let decoding = registry.makeProgressive(for: data.prefix(12), options: options) else { return false }
            let step = max(1, data.count / 16)
            for start in stride(from: 0, to: data.count - 1, by: step) {
                try decoding.append(data.dropFirst(start).prefix(min(step, data.count - 1 - start)))
                if try decoding.preview(context: .uncancellable) != nil { return true }
            }
            return false
        }
        #expect(shown == said(\.decodesProgressively))
    }

    /// At a quarter of the size, the decoder makes a smaller bitmap than the whole picture, or none but the result's, in less memory.
    @Test func scaledDecode() throws {
        let shown = try shown { data, options in
            let whole = try registry.plan(data, options: options)
            let quarter = PixelSize(max(1, whole.finalSize.width / 4), max(1, whole.finalSize.height / 4))
            var small = options
            small.target = TargetSize(quarter)
            let plan = try registry.plan(data, options: small)
            guard plan.isStreamed || plan.nativeSize.bitmapBytes < whole.nativeSize.bitmapBytes,
                plan.workingBytes < whole.workingBytes
            else { return false }
            return try registry.decode(data, options: small).size == plan.finalSize
        }
        #expect(shown == said(\.scalesWhileDecoding))
    }

    @Test func encodedAndEncodedAnimated() throws {
        let frames = try (0..<3).map { index in
            let pixels = [UInt8](repeating: UInt8(60 * index + 20), count: 64 * 48 * 4)
            return (try Image(width: 64, height: 48, pixels: pixels, layout: .bgra), Duration.milliseconds(100))
        }
        let first = frames[0].0
        let moving = Image(bitmap: first.bitmap, info: first.info, animation: try AnimatedImage(frames: frames))
        for format in registry.capabilities {
            guard format.encodes else {
                #expect(throws: CodecError.unsupportedFormat(format.format)) {
                    try registry.encode(moving, as: format.format)
                }
                continue
            }
            let back = try registry.decode(registry.encode(moving, as: format.format))
            #expect(back.size == first.size && back.info.format == format.format)
            #expect((back.animation?.frameCount ?? 1) == (format.encodesAnimations ? 3 : 1), "\(format.format)")
        }
    }

    @Test func gainMap() throws {
        let shown = try shown { data, options in
            var options = options
            options.decodesGainMap = true
            return try registry.decode(data, options: options).gainMap != nil
        }
        #expect(shown == said(\.decodesGainMaps))
    }
}
