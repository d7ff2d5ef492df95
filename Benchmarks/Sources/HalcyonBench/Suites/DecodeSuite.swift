import CFloors
import Foundation
import Halcyon

/// What decoding costs beside the C library called straight.
struct DecodeSuite: Suite {
    let names = ["jpeg-decode", "png-decode", "webp-decode"]

    func comparisons(_ scratch: ScratchFolder) async throws -> [Comparison] {
        try jpegs() + pngs() + webps()
    }

    private func jpegs() throws -> [Comparison] {
        try [("12 Mpx", PixelSize(4000, 3000), 1), ("1024x768", PixelSize(1024, 768), 8)].flatMap {
            title, size, repeats -> [Comparison] in
            let file = try Self.file(size, as: .jpeg)
            let quarter = PixelSize(size.width / 4, size.height / 4)
            return [
                try comparison("jpeg-decode", "\(title), full", file, size, repeats: repeats) {
                    bench_decode_jpeg($0, $1, 8, $2)
                },
                try comparison(
                    "jpeg-decode", "\(title), to a quarter", file, quarter,
                    DecodeOptions(target: TargetSize(quarter)), repeats: repeats
                ) { bench_decode_jpeg($0, $1, 2, $2) },
            ]
        }
    }

    private func pngs() throws -> [Comparison] {
        let size = PixelSize(1024, 768)
        return [
            try comparison("png-decode", "1024x768, opaque", Self.file(size, as: .png), size, repeats: 2) {
                bench_decode_png($0, $1, $2)
            },
            // The floor's pixels are not premultiplied, so the two cannot be compared.
            try comparison(
                "png-decode", "1024x768, alpha", Self.file(size, as: .png, isOpaque: false), size, repeats: 2,
                comparesPixels: false
            ) { bench_decode_png($0, $1, $2) },
        ]
    }

    private func webps() throws -> [Comparison] {
        let size = PixelSize(1024, 768)
        let lossless = EncodeOptions(isLossless: true)
        return [
            try comparison("webp-decode", "1024x768, lossy", Self.file(size, as: .webp), size, repeats: 2) {
                bench_decode_webp($0, $1, $2)
            },
            try comparison(
                "webp-decode", "1024x768, lossless", Self.file(size, as: .webp, lossless), size, repeats: 2
            ) { bench_decode_webp($0, $1, $2) },
        ]
    }

    private static func file(
        _ size: PixelSize, as format: ImageFormat, _ options: EncodeOptions = EncodeOptions(), isOpaque: Bool = true
    ) throws -> Data {
        try CoderRegistry.shared.encode(
            NoiseImage.make(size, seed: 7, isOpaque: isOpaque), as: format, options: options)
    }

    private typealias Floor = @Sendable (UnsafePointer<UInt8>?, Int, UnsafeMutablePointer<bench_bitmap>) -> Bool

    private func comparison(
        _ name: String, _ variant: String, _ file: Data, _ size: PixelSize, _ options: DecodeOptions = DecodeOptions(),
        repeats: Int, comparesPixels: Bool = true, _ floor: @escaping Floor
    ) throws -> Comparison {
        try check(file, size, options, comparesPixels: comparesPixels, floor)
        return Comparison(
            name: name, variant: variant, unit: .milliseconds, operations: repeats,
            subject: {
                try Sample.of {
                    for _ in 0..<repeats {
                        let image = try CoderRegistry.shared.decode(file, options: options)
                        if image.size != size { throw BenchmarkFailure("\(name) made \(image.size)") }
                    }
                }
            },
            floor: {
                try Sample.of {
                    for _ in 0..<repeats { try Self.withFloor(file, size, floor) { _ in } }
                }
            })
    }

    /// Both must make the same picture, or their times say nothing.
    private func check(
        _ file: Data, _ size: PixelSize, _ options: DecodeOptions, comparesPixels: Bool, _ floor: Floor
    ) throws {
        let image = try CoderRegistry.shared.decode(file, options: options)
        try Self.withFloor(file, size, floor) { expected in
            let isEqual = image.bitmap.withPixels { bytes in
                // The fourth byte of libjpeg's BGRX is anything.
                bytes.count == expected.count
                    && (!comparesPixels
                        || bytes.indices.allSatisfy { $0 & 3 == 3 || bytes[$0] == expected[$0] })
            }
            if !isEqual { throw BenchmarkFailure("\(image.info.format) decodes to other pixels than its library's") }
        }
    }

    private static func withFloor(
        _ file: Data, _ size: PixelSize, _ floor: Floor, _ body: (UnsafeBufferPointer<UInt8>) throws -> Void
    ) throws {
        var bitmap = bench_bitmap()
        defer { bench_free_bitmap(&bitmap) }
        let isDecoded = file.withUnsafeBytes {
            floor($0.baseAddress?.assumingMemoryBound(to: UInt8.self), $0.count, &bitmap)
        }
        guard isDecoded, bitmap.width == size.width, bitmap.height == size.height else {
            throw BenchmarkFailure("the floor made \(bitmap.width)x\(bitmap.height)")
        }
        try body(UnsafeBufferPointer(start: bitmap.pixels, count: bitmap.capacity))
    }
}
