import Foundation
import HalcyonImage
import HalcyonSystem

/// A decoder for the BMP files of Windows and OS/2, without an external library: 1 to 32 bits per pixel, RLE4 and
/// RLE8, bit fields with alpha, stored bottom-up or top-down. It does not write BMP.
///
/// The fourth byte of a 32-bit pixel is alpha only if a mask declares it and a pixel uses it: if alpha is zero everywhere,
/// the image is opaque, as in browsers. Pixels that a run-length coded file skips get the first colour of the palette.
package struct BMPCoder: ImageDecoder {
    package init() {}

    package var formats: [ImageFormat] { [.bmp] }

    package func canDecode(_ data: Data) -> Bool { FormatSniffer.hasSignature(data, of: .bmp) }

    package func probe(_ data: Data) throws -> ImageInfo { try data.read { try BMPHeader($0).info } }

    package func decode(_ data: Data, plan: DecodePlan, context: WorkContext) throws -> Bitmap {
        try Self.decode(data, allowsMissing: false, context: context)
    }

    private static func decode(_ data: Data, allowsMissing: Bool, context: WorkContext) throws -> Bitmap {
        try data.read { reader in
            let header = try BMPHeader(reader)
            return try Bitmap(size: header.size, isOpaque: !header.hasAlpha && !allowsMissing) { bytes in
                var canvas = BMPCanvas(
                    bytes.bindMemory(to: UInt32.self), header: header, allowsMissing: allowsMissing)
                if header.isRunLengthCoded {
                    try BMPRuns.decode(reader, header: header, into: &canvas, context: context)
                } else {
                    try BMPRows.decode(reader, header: header, into: &canvas, context: context)
                }
            }
        }
    }
}

extension BMPCoder: IncompleteImageDecoder {
    package func decodeIncomplete(_ data: Data, plan: DecodePlan, context: WorkContext) throws -> Bitmap {
        try Self.decode(data, allowsMissing: true, context: context)
    }
}

/// The memory that a BMP is decoded into, addressed by the file's row numbers.
struct BMPCanvas {
    let pixels: UnsafeMutableBufferPointer<UInt32>
    let width: Int
    let height: Int
    /// Whether the file may end before the rows do.
    let allowsMissing: Bool
    private let isTopDown: Bool

    init(_ pixels: UnsafeMutableBufferPointer<UInt32>, header: BMPHeader, allowsMissing: Bool) {
        self.pixels = pixels
        self.allowsMissing = allowsMissing
        (width, height) = (header.size.width, header.size.height)
        isTopDown = header.isTopDown
    }

    /// Returns the index of the first pixel of a row of the file. The row must exist.
    func start(ofRow row: Int) -> Int { (isTopDown ? row : height - 1 - row) * width }

    /// Makes everything from a pixel on transparent: the rest of its row of the file, and the rows behind it.
    func clear(from x: Int, row: Int) {
        for other in row..<max(row, height) {
            let start = start(ofRow: other)
            let first = other == row ? min(x, width) : 0
            UnsafeMutableBufferPointer(rebasing: pixels[start + first..<start + width]).update(repeating: 0)
        }
    }
}
