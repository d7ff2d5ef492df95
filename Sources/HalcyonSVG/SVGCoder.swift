import HalcyonCodecs
import Foundation
import HalcyonImage
import HalcyonSystem

/// A coder for SVG by librsvg, which draws at the requested size, also above the document's own. It writes no SVG.
///
/// The document's own size is the one that it declares in units at 96 pixels an inch, otherwise that of its view
/// box, otherwise 300 x 150, rounded up. The document may be compressed with gzip, to 32 MiB at most. Nothing outside
/// of it is read: no file, no network; images inside of it may be `data:` addresses of pictures of the other formats
/// that this build decodes, and of drawings, two levels deep, which are drawn in at most four million pixels.
/// Documents in other places, declarations other than of entities, and elements that refer to each other too deep or
/// too often are refused (`CodecError.damaged`, `.limitExceeded`), and so are those that would take longer than 20
/// seconds. Drawing cannot be cancelled. At most 32,767 pixels a side.
package struct SVGCoder: ImageDecoder {
    package init() {}

    package var formats: [ImageFormat] { [.svg] }

    package func canDecode(_ data: Data) -> Bool { FormatSniffer.format(of: data) == .svg }

    /// Reads the whole document, because its size may depend on its styles.
    package func probe(_ data: Data) throws -> ImageInfo {
        let size = try Self.onStack {
            let drawing = try SVGDrawing(data)
            try drawing.check()
            return try drawing.naturalSize()
        }
        // The bound is beyond every limit and still a valid number of pixels.
        let sides = [size.width, size.height].map { Int(min($0.rounded(.up), Double(Int32.max))) }
        return ImageInfo(format: .svg, size: PixelSize(sides[0], sides[1]), hasAlpha: true, isVector: true)
    }

    /// Returns the pictures in `data:` addresses, also those of drawings inside.
    package func embeddedImages(in data: Data) throws -> [EmbeddedImage] {
        try Self.onStack { try SVGDrawing(data).pictures() }
    }

    /// Returns the memory of librsvg before it draws, and that of a document that is compressed.
    package func workingBytes(of data: Data, info: ImageInfo, nativeSize: PixelSize) -> Int {
        let bytes = try? Self.onStack {
            let drawing = try SVGDrawing(data)
            return drawing.workingBytes(size: nativeSize).adding(1, times: max(0, drawing.bytes.count - data.count))
        }
        return bytes ?? 0
    }

    package func scaledSize(for info: ImageInfo, atLeast size: PixelSize) -> PixelSize { size }

    package var scalesByAveraging: Bool { false }

    package func decode(_ data: Data, plan: DecodePlan, context: WorkContext) throws -> Bitmap {
        try Self.onStack {
            try SVGDrawing(data).bitmap(of: plan.nativeSize, time: SVGTime(), context: context)
        }
    }

    /// The stack size in bytes. librsvg recurses for nested elements and for references. A document that `SVGCost`
    /// accepts takes less than a third of this.
    private static let stackSize = 64 << 20

    /// Calls `body` on a stack that is deep enough, whatever the calling thread is.
    private static func onStack<Value>(_ body: () throws -> Value) throws -> Value {
        guard let value = try WorkerThread.run(name: "halcyon-svg", stackSize: stackSize, body) else {
            throw BitmapError.outOfMemory(bytes: stackSize)
        }
        return value
    }
}

/// Makes the coder, for the registry of coders.
@_cdecl("halcyon_coder_svg")
package func svgCoder() -> UnsafeMutableRawPointer { LinkedCoder.pass(SVGCoder()) }
