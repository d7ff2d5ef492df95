import Foundation
import HalcyonImage
import HalcyonSystem

/// A coder of the "Quite OK Image" format, without an external library: lossless, as fast as a copy, and in files somewhat larger
/// than PNG's. The format is that of qoiformat.org.
///
/// The header's colour space is informative by its specification; colours are sRGB.
package struct QOICoder: RowImageDecoder, ImageEncoder {
    private static let headerBytes = 14
    private static let endMarker = [0, 0, 0, 0, 0, 0, 0, 1] as [UInt8]

    package init() {}

    package var formats: [ImageFormat] { [.qoi] }

    package func canDecode(_ data: Data) -> Bool { FormatSniffer.hasSignature(data, of: .qoi) }

    package func probe(_ data: Data) throws -> ImageInfo {
        try data.read { reader in
            guard reader.matches("qoif", at: 0), let width = reader.bigEndian32(4), let height = reader.bigEndian32(8),
                let channels = reader.byte(12), reader.has(Self.headerBytes, at: 0)
            else { throw Self.damaged("its header is cut off") }
            guard width > 0, height > 0, width <= Int32.max, height <= Int32.max else {
                throw Self.damaged("it has no pixels")
            }
            guard channels == 3 || channels == 4 else { throw Self.damaged("it has \(channels) channels") }
            return ImageInfo(format: .qoi, size: PixelSize(width, height), hasAlpha: channels == 4)
        }
    }

    package func deliversRows(of data: Data, info: ImageInfo) -> Bool { true }

    package func decodeRows(
        of data: Data, plan: DecodePlan, into sink: RowSink, context: WorkContext
    ) throws {
        var row = [UInt32](repeating: 0, count: plan.nativeSize.width)
        try rows(of: data, plan, context) { pixels, _ in
            try row.withUnsafeMutableBufferPointer { row in
                guard pixels.fill(row) == row.count else { throw Self.damaged("the file was cut off") }
                sink.append(UnsafeRawBufferPointer(row))
            }
        }
    }

    package func decode(_ data: Data, plan: DecodePlan, context: WorkContext) throws -> Bitmap {
        // Before the bitmap is made.
        guard Self.mostPixels(data) >= plan.nativeSize.area ?? .max else { throw Self.damaged("the file was cut off") }
        return try decode(data, plan, context, isOpaque: !plan.info.hasAlpha) { _ in
            throw Self.damaged("the file was cut off")
        }
    }

    /// The most pixels that the bytes can be, which are runs of the longest length then.
    private static func mostPixels(_ data: Data) -> Int {
        0.adding(data.read { operations(in: $0).count }, times: QOITag.longestRun)
    }

    /// Returns the operations: the bytes between the header and the end marker, or up to the end of a file without one.
    ///
    /// No operations of a writer end like the marker: six zeros would be pixels that a run takes.
    private static func operations(in reader: ByteReader) -> ByteReader {
        let markerStart = reader.count - endMarker.count
        let isEnded = markerStart >= headerBytes && reader.matches(endMarker, at: markerStart)
        return reader.part(at: headerBytes, length: (isEnded ? markerStart : reader.count) - headerBytes)
    }

    /// - Parameter onCut: called with the number of pixels that are there, if some are missing.
    private func decode(
        _ data: Data, _ plan: DecodePlan, _ context: WorkContext, isOpaque: Bool, onCut: (Int) throws -> Void
    ) throws -> Bitmap {
        try Bitmap(size: plan.nativeSize, isOpaque: isOpaque) { bytes in
            let all = bytes.bindMemory(to: UInt32.self)
            let width = plan.nativeSize.width
            var count = 0
            try rows(of: data, plan, context) { pixels, row in
                let target = UnsafeMutableBufferPointer(rebasing: all[row * width..<(row + 1) * width])
                let filled = pixels.fill(target)
                count += filled
                guard filled < width else { return }
                target[filled...].update(repeating: 0)
            }
            if count < all.count { try onCut(count) }
        }
    }

    /// Calls `body` for each row.
    private func rows(
        of data: Data, _ plan: DecodePlan, _ context: WorkContext, _ body: (inout QOIPixels, Int) throws -> Void
    ) throws {
        try data.read { reader in
            var pixels = QOIPixels(Self.operations(in: reader).bytes, hasAlpha: plan.info.hasAlpha)
            for row in 0..<plan.nativeSize.height {
                if row % 64 == 0 { try context.checkCancellation() }
                try body(&pixels, row)
            }
        }
    }

    // MARK: - Encoding

    package func encode(
        _ image: Image, as format: ImageFormat, options: EncodeOptions, context: WorkContext
    ) throws -> Data {
        let hasAlpha = !image.bitmap.isOpaque
        var data = Data("qoif".utf8)
        for side in [image.width, image.height] {
            withUnsafeBytes(of: UInt32(clamping: side).bigEndian) { data.append(contentsOf: $0) }
        }
        data.append(contentsOf: [hasAlpha ? 4 : 3, 0])
        let pixels = try image.pixels(layout: .rgba)
        var writer = QOIWriter(hasAlpha: hasAlpha)
        try pixels.withUnsafeBytes { bytes in
            let rowBytes = image.width * 4
            for row in 0..<image.height {
                if row % 64 == 0 { try context.checkCancellation() }
                writer.write(UnsafeRawBufferPointer(rebasing: bytes[row * rowBytes..<(row + 1) * rowBytes]))
                // The bytes of some rows at a time.
                if writer.bytes.count > 1 << 20 { data.append(contentsOf: writer.takeBytes()) }
            }
        }
        writer.endRun()
        return data + writer.takeBytes() + Self.endMarker
    }

    static func damaged(_ reason: String) -> CodecError { .damaged(.qoi, reason: reason) }
}

extension QOICoder: IncompleteImageDecoder {
    package func decodeIncomplete(_ data: Data, plan: DecodePlan, context: WorkContext) throws -> Bitmap {
        try decode(data, plan, context, isOpaque: false) { count in
            guard count > 0 else { throw Self.damaged("the file was cut off before its pixels") }
        }
    }
}
