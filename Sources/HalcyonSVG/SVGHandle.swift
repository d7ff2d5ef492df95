import CHalcyonSVG
import Foundation
import HalcyonCodecs
import HalcyonImage
import HalcyonSystem

/// A document that librsvg has read.
final class SVGHandle {
    private let document: OpaquePointer

    /// Reads a document that has been checked.
    ///
    /// - Throws: `CodecError.damaged`, `BitmapError.outOfMemory`.
    init(_ bytes: Data, drawsText: Bool = true) throws {
        var document: OpaquePointer?
        try bytes.withUnsafeBytes { bytes in
            try CodecCall.decode(.svg, context: .uncancellable) { call in
                halcyon_svg_open(bytes.bindMemory(to: UInt8.self).baseAddress, bytes.count, drawsText, &document, call)
            }
        }
        guard let document else { throw CodecError.damaged(.svg, reason: "librsvg gives no document") }
        self.document = document
    }

    deinit { halcyon_svg_close(document) }

    /// Returns the size that the document declares, which may depend on its styles.
    ///
    /// - Throws: `CodecError.damaged` for a size of zero.
    func naturalSize() throws -> (width: Double, height: Double) {
        var (width, height) = (0.0, 0.0)
        halcyon_svg_size(document, &width, &height)
        guard width > 0, height > 0, width.isFinite, height.isFinite else {
            throw CodecError.damaged(.svg, reason: "its size is zero")
        }
        return (width, height)
    }

    /// Draws the whole document.
    func bitmap(of size: PixelSize, context: WorkContext) throws -> Bitmap {
        try CodecCall.decode(.svg, size: size, isOpaque: false, context: context) { bitmap, call in
            halcyon_svg_draw(document, bitmap, call)
        }
    }
}
