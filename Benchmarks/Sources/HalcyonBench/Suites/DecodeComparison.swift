import CFloors
import Foundation
import Halcyon

/// A decode by Halcyon compared with a decode of the same file by its C library.
struct DecodeComparison {
    typealias Floor = @Sendable (UnsafePointer<UInt8>?, Int, UnsafeMutablePointer<bench_bitmap>) -> Bool

    let name: String
    let variant: String
    let file: Data
    /// The size of Halcyon's image.
    let size: PixelSize
    var options = DecodeOptions()
    /// The size of the floor's bitmap; nil if both have the same.
    var floorSize: PixelSize?
    /// The number of decodes in a run.
    let repeats: Int
    /// Whether both must make the same pixels. The floor's pixels are not premultiplied, and a library's own
    /// reduction differs from Halcyon's.
    var comparesPixels = true
    let floor: Floor

    /// - Throws: `BenchmarkFailure` if the two do not make the same picture, as their times could not be compared.
    func checked() throws -> Comparison {
        try check()
        return Comparison(
            name: name, variant: variant, unit: .milliseconds, operations: repeats,
            subject: { [name, file, size, options, repeats] in
                try Sample.of {
                    for _ in 0..<repeats {
                        let image = try CoderRegistry.shared.decode(file, options: options)
                        if image.size != size { throw BenchmarkFailure("\(name) made \(image.size)") }
                    }
                }
            },
            floor: { [file, repeats, floor, size = floorSize ?? size] in
                try Sample.of {
                    for _ in 0..<repeats { try Self.withFloor(file, size, floor) { _ in } }
                }
            })
    }

    private func check() throws {
        let image = try CoderRegistry.shared.decode(file, options: options)
        try Self.withFloor(file, floorSize ?? size, floor) { expected in
            guard comparesPixels else { return }
            let isEqual =
                image.deepBitmap.map { $0.withPixels { $0.elementsEqual(expected) } }
                ?? image.bitmap.withPixels { bytes in
                    // The fourth byte of libjpeg's BGRX is undefined.
                    bytes.count == expected.count
                        && bytes.indices.allSatisfy { $0 & 3 == 3 || bytes[$0] == expected[$0] }
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
