import Foundation
import HalcyonCodecs
import HalcyonImage
import Testing

/// Rows that are reduced as they come give the pixels of a reduction of the whole.
@Suite struct RowDecodingTests {
    let registry = CoderRegistry.standard()

    private static let stills = Fixture.all.filter { ["png", "jpeg"].contains($0.format) && $0.frames == 1 }

    @Test(arguments: stills)
    func rowsGiveWhatTheWholeGives(_ fixture: Fixture) throws {
        let data = try fixture.data()
        let plain = CoderRegistry([PlainDecoder(decoder: try #require(registry.decoder(for: data)))])
        for box in [PixelSize(1, 1), PixelSize(5, 7), PixelSize(17, 12), PixelSize(31, 31)] {
            for mode in ResizeMode.allCases {
                let options = DecodeOptions(target: TargetSize(box, mode: mode))
                let streamed = try registry.decode(data, options: options)
                let whole = try plain.decode(data, options: options)
                #expect(streamed.size == whole.size)
                #expect(largestDifference(streamed.bitmap.bytes, whole.bitmap.bytes) == 0, "\(mode) \(box)")
            }
        }
    }

    @Test func onlyWhatComesInOrderIsStreamed() throws {
        let options = DecodeOptions(target: TargetSize(PixelSize(9, 9)))
        let expected = [
            "png/rgb8.png": true, "png/rgba8.png": true, "variants/adam7-3x3.png": false, "png/apng.png": false,
            "jpeg/baseline-420.jpg": true, "jpeg/progressive.jpg": true, "gif/still.gif": false,
        ]
        for (file, isStreamed) in expected {
            guard let data = try? Fixture.read(file) else {
                Issue.record("there is no \(file)")
                continue
            }
            #expect(try registry.plan(data, options: options).isStreamed == isStreamed, "\(file)")
            // At its own size there is nothing to reduce.
            #expect(try !registry.plan(data).isStreamed)
        }
    }

    @Test func aStreamedDecodeTakesNoWholeBitmap() throws {
        let size = PixelSize(4000, 3000)
        let file = try registry.encode(sampleImage(size), as: .png)
        let small = try registry.plan(file, options: DecodeOptions(target: TargetSize(PixelSize(400, 300))))
        #expect(small.workingBytes == 400 * 300 * 4)
        #expect(try registry.plan(file).workingBytes == 4000 * 3000 * 4)
    }

    /// Errors that a third-party decoder may make.
    @Test(arguments: [0, 3, 7, 9])
    func theWrongNumberOfRowsIsNoWrongImage(_ rows: Int) throws {
        let source = PixelSize(6, 8)
        let geometry = ResizeGeometry(source: source, box: PixelSize(3, 4), mode: .stretch, upscale: false)
        let row = [UInt8](repeating: 200, count: source.width * 4)
        func decode() throws -> Bitmap {
            try Bitmap.reducing(source, to: geometry, isOpaque: false) { sink in
                for _ in 0..<rows { row.withUnsafeBytes { sink.append($0) } }
                // A row of another length is ignored.
                row.withUnsafeBytes { sink.append(UnsafeRawBufferPointer(rebasing: $0.dropLast(4))) }
            }
        }
        if rows < 8 {
            #expect(throws: BitmapError.invalidSource(source)) { try decode() }
        } else {
            #expect(try decode().bytes.allSatisfy { $0 == 200 })
        }
    }
}
