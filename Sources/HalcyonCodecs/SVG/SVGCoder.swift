#if SVG
    import CHalcyonCodecs
    import Foundation
    import HalcyonImage
    import HalcyonSystem

    /// SVG by librsvg, drawn at the size that is asked for, also above its own. Writes none.
    ///
    /// Its own size is what the document says in units at 96 pixels an inch, else that of its view box, else
    /// 300 x 150, rounded up. Nothing outside of the document is read: no file, no network; images inside of it may
    /// be `data:` addresses. Drawing cannot be cancelled. At most 32,767 pixels a side.
    public struct SVGCoder: ImageDecoder {
        public init() {}

        public var formats: [ImageFormat] { [.svg] }

        public func canDecode(_ data: Data) -> Bool { FormatSniffer.format(of: data) == .svg }

        /// Reads the whole document, because its size may hang on its styles.
        public func probe(_ data: Data) throws -> ImageInfo {
            try data.read { try SVGCost.check($0) }
            var (width, height) = (0.0, 0.0)
            try CodecCall.decode(.svg, context: .uncancellable) { call in
                Self.withDocument(data) { halcyon_svg_size($0, $1, &width, &height, call) }
            }
            guard width > 0, height > 0, width.isFinite, height.isFinite else {
                throw CodecError.damaged(.svg, reason: "its size is zero")
            }
            // Beyond every limit, and still a number of pixels.
            let sides = [width, height].map { Int(min($0.rounded(.up), Double(Int32.max))) }
            return ImageInfo(format: .svg, size: PixelSize(sides[0], sides[1]), hasAlpha: true, isVector: true)
        }

        public func scaledSize(for info: ImageInfo, atLeast size: PixelSize) -> PixelSize { size }

        public func decode(_ data: Data, plan: DecodePlan, context: WorkContext) throws -> Bitmap {
            try CodecCall.decode(.svg, size: plan.nativeSize, isOpaque: false, context: context) { bitmap, call in
                Self.withDocument(data) { halcyon_svg_render($0, $1, bitmap, call) }
            }
        }

        /// Up to its last bracket: the parser takes nothing behind the document's end but blanks.
        private static func withDocument<Result>(
            _ data: Data, _ body: (UnsafePointer<UInt8>?, Int) -> Result
        ) -> Result {
            data.withUnsafeBytes { bytes in
                let end = bytes.lastIndex(of: UInt8(ascii: ">")).map { $0 + 1 } ?? bytes.count
                return body(bytes.baseAddress?.assumingMemoryBound(to: UInt8.self), end)
            }
        }
    }
#endif
