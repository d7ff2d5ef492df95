#if SVG
    import CHalcyonCodecs
    import Foundation
    import HalcyonImage
    import HalcyonSystem

    /// SVG by librsvg, drawn at the size that is asked for, also above its own. Writes none.
    ///
    /// Its own size is what the document says in units at 96 pixels an inch, else that of its view box, else
    /// 300 x 150, rounded up. Nothing outside of the document is read: no file, no network; images inside of it may
    /// be `data:` addresses of pictures of the other formats that this build decodes. Documents inside of the document,
    /// declarations other than of text, and elements that refer to each other too deep or too often are refused
    /// (`CodecError.damaged`, `.limitExceeded`). Drawing cannot be cancelled. At most 32,767 pixels a side.
    public struct SVGCoder: ImageDecoder {
        public init() {}

        public var formats: [ImageFormat] { [.svg] }

        public func canDecode(_ data: Data) -> Bool { FormatSniffer.format(of: data) == .svg }

        /// Reads the whole document, because its size may hang on its styles.
        public func probe(_ data: Data) throws -> ImageInfo {
            var (width, height) = (0.0, 0.0)
            try Self.withDocument(data) { bytes in
                try CodecCall.decode(.svg, context: .uncancellable) { call in
                    halcyon_svg_size(bytes.bindMemory(to: UInt8.self).baseAddress, bytes.count, &width, &height, call)
                }
            }
            guard width > 0, height > 0, width.isFinite, height.isFinite else {
                throw CodecError.damaged(.svg, reason: "its size is zero")
            }
            // Beyond every limit, and still a number of pixels.
            let sides = [width, height].map { Int(min($0.rounded(.up), Double(Int32.max))) }
            return ImageInfo(format: .svg, size: PixelSize(sides[0], sides[1]), hasAlpha: true, isVector: true)
        }

        /// The pictures in `data:` addresses, which librsvg unpacks whole and keeps until the drawing is done.
        public func embeddedImages(in data: Data) throws -> [EmbeddedImage] {
            try data.withUnsafeBytes { bytes in
                try SVGReader.read(Self.document(in: bytes)).pictures.map { try SVGDataAddress($0).image() }
            }
        }

        /// The memory of librsvg before it draws: 2 KiB for an element, and 7 KiB for each byte of the longest text,
        /// all of whose letters it lays out at once (measured with 2.54); and the dashes of the outline that has most of them.
        public func workingBytes(of data: Data, info: ImageInfo, nativeSize: PixelSize) -> Int {
            let document = try? data.withUnsafeBytes { try SVGReader.read(Self.document(in: $0)) }
            guard let document else { return 0 }
            let text = document.longestText.adding(document.textReferences, times: document.letters)
            let dashes = document.elements.reduce(0) { max($0, document.dashes(of: $1)) }
            return 0.adding(document.elements.count, times: 2 << 10).adding(text, times: 7 << 10)
                .adding(Int(dashes), times: SVGDashes.dashBytes)
        }

        public func scaledSize(for info: ImageInfo, atLeast size: PixelSize) -> PixelSize { size }

        public func decode(_ data: Data, plan: DecodePlan, context: WorkContext) throws -> Bitmap {
            try Self.withDocument(data) { bytes in
                try CodecCall.decode(.svg, size: plan.nativeSize, isOpaque: false, context: context) { bitmap, call in
                    halcyon_svg_render(bytes.bindMemory(to: UInt8.self).baseAddress, bytes.count, bitmap, call)
                }
            }
        }

        /// librsvg calls itself for elements within elements and for what they refer to. What `SVGCost` lets pass takes
        /// less than a third of this.
        private static let stackSize = 64 << 20

        /// Lends the document on a stack that is deep enough for it, whatever thread this is, once it is known what it
        /// would cost.
        private static func withDocument<Value>(
            _ data: Data, _ body: (UnsafeRawBufferPointer) throws -> Value
        ) throws -> Value {
            try data.withUnsafeBytes { bytes in
                let document = document(in: bytes)
                let value = try WorkerThread.run(name: "halcyon-svg", stackSize: stackSize) {
                    try SVGCost.check(try SVGReader.read(document))
                    return try body(document)
                }
                guard let value else { throw BitmapError.outOfMemory(bytes: stackSize) }
                return value
            }
        }

        /// Up to its last bracket: the parser takes nothing behind the document's end but blanks. In UTF-16, which has two
        /// bytes for a bracket, all of it.
        private static func document(in bytes: UnsafeRawBufferPointer) -> UnsafeRawBufferPointer {
            guard let first = bytes.first, first < 0xFE else { return bytes }
            let end = bytes.lastIndex(of: UInt8(ascii: ">")).map { $0 + 1 } ?? bytes.count
            return UnsafeRawBufferPointer(rebasing: bytes[..<end])
        }
    }
#endif
