import Foundation
import HalcyonImage
import Testing

@testable import HalcyonCodecs
@testable import HalcyonSystem

@Suite struct ProgressiveTests {
    let registry = CoderRegistry.standard()

    private func start(_ data: Data, _ options: DecodeOptions = DecodeOptions()) throws -> any ProgressiveDecoding {
        try #require(registry.makeProgressive(for: data.prefix(12), options: options))
    }

    private func parts(_ data: Data, of size: Int) -> [Data] {
        stride(from: 0, to: data.count, by: size).map { data.dropFirst($0).prefix(size) }
    }

    @Test(arguments: Fixture.all.filter { $0.format == "jpeg" }, [1, 7, 500, 100_000])
    func finishedImageEqualsWholeDecode(_ fixture: Fixture, _ partSize: Int) throws {
        let data = try fixture.data()
        for target in [nil, TargetSize(PixelSize(17, 17)), TargetSize(PixelSize(9, 20), mode: .fill)] {
            let options = DecodeOptions(target: target)
            let decoding = try start(data, options)
            for part in parts(data, of: partSize) { try decoding.append(part) }
            let whole = try registry.decode(data, options: options)
            let image = try decoding.finish(context: .uncancellable)
            #expect(image.bitmap.bytes == whole.bitmap.bytes)
            #expect(image.bitmap.isOpaque)
            #expect(image.info == whole.info)
        }
    }

    /// Each preview of a progressive file comes closer to the image.
    @Test func scansSharpen() throws {
        let image = try sampleImage(PixelSize(400, 300))
        let data = try registry.encode(image, as: .jpeg, options: EncodeOptions(isProgressive: true))
        let whole = try registry.decode(data).bitmap.bytes
        let decoding = try start(data)
        var signals: [Double] = []
        var firstAt = 0
        for (index, part) in parts(data, of: 256).enumerated() {
            try decoding.append(part)
            guard let preview = try decoding.preview(context: .uncancellable) else { continue }
            if signals.isEmpty { firstAt = (index + 1) * 256 }
            #expect(preview.bitmap.isOpaque)
            signals.append(signalToNoise(preview.bitmap.bytes, whole))
            #expect(try decoding.preview(context: .uncancellable) == nil)
        }
        #expect(signals.count >= 5)
        #expect(signals == signals.sorted())
        #expect(signals.last == .infinity)
        #expect(firstAt < data.count * 4 / 10, "\(firstAt) of \(data.count)")
    }

    @Test func rowsComeFromTheTop() throws {
        let size = PixelSize(300, 400)
        let data = try registry.encode(sampleImage(size), as: .jpeg)
        let whole = try registry.decode(data).bitmap.bytes
        let decoding = try start(data)
        var rows: [Int] = []
        for part in parts(data, of: data.count / 10) {
            try decoding.append(part)
            guard let bitmap = try decoding.preview(context: .uncancellable)?.bitmap else { continue }
            let bytes = bitmap.bytes
            let painted = (0..<size.height).prefix { bytes[$0 * size.width * 4 + 3] == 255 }.count
            let end = painted * size.width * 4
            #expect(bytes[..<end] == whole[..<end])
            #expect(bytes[end...].allSatisfy { $0 == 0 })
            #expect(bitmap.isOpaque == (painted == size.height))
            rows.append(painted)
        }
        #expect(rows.count >= 8)
        #expect(rows == rows.sorted())
    }

    @Test func previewsAreUprightAndSmall() throws {
        let data = try Fixture.read("jpeg/orientation-6.jpg")
        let decoding = try start(data, DecodeOptions(target: TargetSize(PixelSize(24, 24))))
        try decoding.append(data.dropLast(2))
        #expect(try decoding.preview(context: .uncancellable)?.size == PixelSize(24, 16))
        #expect(try decoding.finish(context: .uncancellable).size == PixelSize(24, 16))
    }

    @Test func aLargeHeaderDelaysNothingElse() throws {
        let data = try Fixture.read("jpeg/large-exif.jpg")
        let decoding = try start(data)
        for part in parts(data, of: 1000) { try decoding.append(part) }
        #expect(try decoding.preview(context: .uncancellable) != nil)
    }

    @Test func limitsAndCancellationHold() throws {
        let bomb = try Fixture.read("bad/bomb-jpeg-65000x65000.jpg")
        let error = #expect(throws: CodecError.self) { try start(bomb).append(bomb) }
        #expect(error?.code == "limitExceeded")
        let data = try Fixture.read("jpeg/progressive.jpg")
        let decoding = try start(data)
        try decoding.append(data)
        #expect(throws: CancellationError.self) { try decoding.preview(context: WorkContext { true }) }
        #expect(registry.makeProgressive(for: try Fixture.read("bmp/16-555.bmp")) == nil)
    }

    @Test func damageIsAnErrorAndStaysOne() throws {
        var random = FixedGenerator(state: 9)
        let files = try ["jpeg/progressive.jpg", "jpeg/baseline-420.jpg", "jpeg/restart-markers.jpg", "jpeg/cmyk.jpg"]
            .map(Fixture.read)
        for round in 0..<200 {
            var data = files[round % files.count]
            for _ in 0..<3 {
                let position = Int.random(in: 3..<data.count, using: &random)
                data[position] ^= 1 << UInt8.random(in: 0..<8, using: &random)
            }
            let decoding = try start(data)
            var failed = false
            for part in parts(data, of: 97) {
                do {
                    try decoding.append(part)
                    _ = try decoding.preview(context: .uncancellable)
                    #expect(!failed)
                } catch is CodecError {
                    failed = true
                } catch is BitmapError {
                    failed = true
                }
            }
        }
    }
}
