import Foundation
import HalcyonImage
import HalcyonSystem
import Testing

@testable import HalcyonCodecs

/// PNG, GIF and WebP while they arrive.
@Suite struct ArrivingTests {
    private let registry = CoderRegistry.standard()
    private static let fixtures = Fixture.all.filter { ["png", "gif", "webp"].contains($0.format) }

    private func start(_ data: Data, _ options: DecodeOptions = DecodeOptions()) throws -> any ProgressiveDecoding {
        try #require(registry.makeProgressive(for: data.prefix(12), options: options))
    }

    private func parts(_ data: Data, of size: Int) -> [Data] {
        stride(from: 0, to: data.count, by: size).map { data.dropFirst($0).prefix(size) }
    }

    @Test(arguments: fixtures, [1, 7, 500, 100_000])
    func finishedImageEqualsWholeDecode(_ fixture: Fixture, _ partSize: Int) throws {
        let data = try fixture.data()
        for target in [nil, TargetSize(PixelSize(17, 17)), TargetSize(PixelSize(9, 20), mode: .fill)] {
            let options = DecodeOptions(target: target)
            let decoding = try start(data, options)
            for part in parts(data, of: partSize) {
                try decoding.append(part)
                if partSize == 500 { _ = try decoding.preview(context: .uncancellable) }
            }
            let whole = try registry.decode(data, options: options)
            let image = try decoding.finish(context: .uncancellable)
            #expect(image.bitmap.bytes == whole.bitmap.bytes)
            #expect(image.bitmap.isOpaque == whole.bitmap.isOpaque)
            #expect(image.info == whole.info)
            #expect(image.animation?.durations == whole.animation?.durations)
        }
    }

    @Test(arguments: [(ImageFormat.png, false), (.webp, false), (.webp, true)], [false, true])
    func rowsComeFromTheTop(_ kind: (format: ImageFormat, isLossless: Bool), hasAlpha: Bool) throws {
        let size = PixelSize(200, 300)
        let encoding = EncodeOptions(isLossless: kind.isLossless)
        let data = try registry.encode(sampleImage(size, hasAlpha: hasAlpha), as: kind.format, options: encoding)
        let whole = try registry.decode(data).bitmap.bytes
        let decoding = try start(data)
        var seen = 0
        for part in parts(data, of: 700) {
            try decoding.append(part)
            guard let preview = try decoding.preview(context: .uncancellable) else { continue }
            #expect(preview.size == size)
            let bytes = preview.bitmap.bytes
            // From the top the image's own pixels, then nothing.
            let row = size.width * 4
            let equal = (0..<size.height).first { bytes[$0 * row..<($0 + 1) * row] != whole[$0 * row..<($0 + 1) * row] }
            let rows = equal ?? size.height
            #expect(rows >= seen)
            seen = rows
            #expect(hasAlpha || bytes[(rows * row)...] == [UInt8](repeating: 0, count: bytes.count - rows * row)[...])
            #expect(try decoding.preview(context: .uncancellable) == nil)
        }
        #expect(seen == size.height)
    }

    /// Colours that are left as they are stored need their profile.
    @Test(arguments: ["color/adobe.jpg", "color/rgb8-srgb-table.png"])
    func theProfileComesWithTheImage(file: String) throws {
        let data = try Fixture.read(file)
        let options = DecodeOptions(color: .asStored)
        let profile = try #require(try registry.decode(data, options: options).colorProfile)
        let decoding = try start(data, options)
        try decoding.append(data)
        #expect(try decoding.preview(context: .uncancellable)?.colorProfile == profile)
        #expect(try decoding.finish(context: .uncancellable).colorProfile == profile)
    }

    @Test func passesOfAnInterlacedPNGSharpen() throws {
        let data = try Fixture.read("png/adam7-rgba.png")
        let whole = try registry.decode(data).bitmap.bytes
        let decoding = try start(data)
        var signals: [Double] = []
        for part in parts(data, of: max(1, data.count / 40)) {
            try decoding.append(part)
            guard let preview = try decoding.preview(context: .uncancellable) else { continue }
            signals.append(signalToNoise(preview.bitmap.bytes, whole))
        }
        #expect(signals.count >= 4)
        #expect(signals == signals.sorted())
        #expect(signals.last == .infinity)
    }

    @Test func aWebPWhoseEXIFFollowsIsShownWhole() throws {
        let data = try Fixture.read("variants/webp-orientation-6.webp")
        let decoding = try start(data)
        for part in parts(data, of: 9) {
            try decoding.append(part)
            #expect(try decoding.preview(context: .uncancellable) == nil)
        }
        #expect(try decoding.finish(context: .uncancellable).info.orientation == .right)
    }

    @Test(arguments: [
        "animation/mixed.gif", "animation/mixed-both.png", "animation/default-image.png", "animation/mixed-both.webp",
    ])
    func animationsGrow(file: String) throws {
        let data = try Fixture.read(file)
        let whole = try #require(try registry.decode(data).animation)
        let decoding = try start(data)
        var counts: [Int] = []
        for part in parts(data, of: 10) {
            try decoding.append(part)
            guard let preview = try decoding.preview(context: .uncancellable) else { continue }
            counts.append(preview.info.frameCount)
            #expect(preview.bitmap.bytes == (try whole.frame(at: 0).bytes))
            let last = preview.info.frameCount - 1
            if last > 0 { #expect(try preview.animation?.frame(at: last).bytes == whole.frame(at: last).bytes) }
        }
        #expect(counts == Array(Set(counts)).sorted())
        #expect(counts.first == 1 && counts.last == 9 && counts.count > 4)
    }

    @Test(arguments: ["animation/mixed.gif", "animation/mixed-both.png"])
    func theFirstFrameAloneIsShownOnce(file: String) throws {
        let data = try Fixture.read(file)
        let decoding = try start(data, DecodeOptions(firstFrameOnly: true))
        for part in parts(data, of: 100) {
            try decoding.append(part)
            #expect(try decoding.preview(context: .uncancellable)?.animation == nil)
        }
        #expect(try decoding.finish(context: .uncancellable).animation == nil)
    }

    @Test(arguments: fixtures) func truncatedDataEndsLikeWholeDecode(_ fixture: Fixture) throws {
        let data = try fixture.data()
        for part in 0..<20 {
            let cut = data.prefix(data.count * part / 20)
            let decoding = try start(data)
            try decoding.append(cut)
            let whole = Result { try registry.decode(cut) }
            let arrived = Result { try decoding.finish(context: .uncancellable) }
            switch (whole, arrived) {
            case (.success(let left), .success(let right)): #expect(left.bitmap.bytes == right.bitmap.bytes)
            case (.failure, .failure(let error)): #expect(error is CodecError)
            default: Issue.record("\(fixture.file) \(part): \(whole) \(arrived)")
            }
        }
    }

    @Test func aHeaderWithoutEndIsRefused() throws {
        let options = DecodeOptions(limits: DecodeLimits(maximumMetadataBytes: 1000))
        let decoding = try start(try Fixture.read("png/rgb8.png"), options)
        try decoding.append(try Fixture.read("png/rgb8.png").prefix(33))
        // A comment that never ends.
        try decoding.append(Data([0, 0, 0x7F, 0, 0x74, 0x45, 0x58, 0x74]))
        #expect(throws: CodecError.self) { try decoding.append(Data(count: 1000)) }
    }

    @Test(arguments: ["png/rgb8.png", "png/adam7-rgba.png", "gif/animated.gif", "png/apng.png"])
    func damagedDataEndsIncrementalDecode(file: String) throws {
        var random = FixedGenerator(state: 3)
        let data = try Fixture.read(file)
        for _ in 0..<60 {
            var broken = data
            broken[Int.random(in: 12..<data.count, using: &random)] ^= 0x55
            let decoding = try start(data)
            do {
                for part in parts(broken, of: 64) {
                    try decoding.append(part)
                    _ = try decoding.preview(context: .uncancellable)
                }
                let image = try decoding.finish(context: .uncancellable)
                #expect(image.bitmap.bytes == (try registry.decode(broken).bitmap.bytes))
            } catch {
                #expect(error is CodecError || error is BitmapError, "\(error)")
            }
        }
    }
}
