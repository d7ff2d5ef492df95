#if SVG
    import CHalcyonCodecs
    import Foundation
    import HalcyonImage
    import HalcyonSystem

    /// A coder for SVG by librsvg, which draws at the requested size, also above the document's own. It writes no SVG.
    ///
    /// The document's own size is the one that it declares in units at 96 pixels an inch, otherwise that of its view
    /// box, otherwise 300 x 150, rounded up. Nothing outside of the document is read: no file, no network; images
    /// inside of it may be `data:` addresses of pictures of the other formats that this build decodes. Documents inside
    /// of the document, declarations other than of text, and elements that refer to each other too deep or too often
    /// are refused (`CodecError.damaged`, `.limitExceeded`). Drawing cannot be cancelled. At most 32,767 pixels a side.
    package struct SVGCoder: ImageDecoder {
        package init() {}

        package var formats: [ImageFormat] { [.svg] }

        package func canDecode(_ data: Data) -> Bool { FormatSniffer.format(of: data) == .svg }

        /// Reads the whole document, because its size may depend on its styles.
        package func probe(_ data: Data) throws -> ImageInfo {
            var (width, height) = (0.0, 0.0)
            try Self.withDocument(data) { bytes in
                try CodecCall.decode(.svg, context: .uncancellable) { call in
                    halcyon_svg_size(bytes.bindMemory(to: UInt8.self).baseAddress, bytes.count, &width, &height, call)
                }
            }
            guard width > 0, height > 0, width.isFinite, height.isFinite else {
                throw CodecError.damaged(.svg, reason: "its size is zero")
            }
            // The bound is beyond every limit and still a valid number of pixels.
            let sides = [width, height].map { Int(min($0.rounded(.up), Double(Int32.max))) }
            return ImageInfo(format: .svg, size: PixelSize(sides[0], sides[1]), hasAlpha: true, isVector: true)
        }

        /// Returns the pictures in `data:` addresses, which librsvg unpacks as a whole and keeps until the drawing is
        /// done.
        package func embeddedImages(in data: Data) throws -> [EmbeddedImage] {
            try data.withUnsafeBytes { bytes in
                try SVGReader.read(Self.document(in: bytes)).pictures.map { try SVGDataAddress($0).image() }
            }
        }

        /// Returns the memory of librsvg before it draws: 2 KiB for an element, and 7 KiB for each byte of the longest
        /// text, all of whose letters it lays out at once (measured with 2.54); and the dashes of the outline that has
        /// most of them.
        package func workingBytes(of data: Data, info: ImageInfo, nativeSize: PixelSize) -> Int {
            let document = try? data.withUnsafeBytes { try SVGReader.read(Self.document(in: $0)) }
            guard let document else { return 0 }
            let text = document.longestText.adding(document.textReferences, times: document.letters)
            let dashes = document.elements.reduce(0) { max($0, document.dashes(of: $1)) }
            return 0.adding(document.elements.count, times: 2 << 10).adding(text, times: 7 << 10)
                .adding(Int(dashes), times: SVGDashes.dashBytes)
        }

        package func scaledSize(for info: ImageInfo, atLeast size: PixelSize) -> PixelSize { size }

        package func decode(_ data: Data, plan: DecodePlan, context: WorkContext) throws -> Bitmap {
            try Self.withDocument(data) { bytes in
                try CodecCall.decode(.svg, size: plan.nativeSize, isOpaque: false, context: context) { bitmap, call in
                    halcyon_svg_render(bytes.bindMemory(to: UInt8.self).baseAddress, bytes.count, bitmap, call)
                }
            }
        }

        /// The stack size in bytes. librsvg recurses for nested elements and for references. A document that `SVGCost`
        /// accepts takes less than a third of this.
        private static let stackSize = 64 << 20

        /// Checks the cost of the document, then calls `body` with it on a stack that is deep enough, whatever the
        /// calling thread is.
        private static func withDocument<Value>(
            _ data: Data, _ body: (UnsafeRawBufferPointer) throws -> Value
        ) throws -> Value {
            try data.withUnsafeBytes { bytes in
                let document = document(in: bytes)
                let value = try WorkerThread.run(name: "halcyon-svg", stackSize: stackSize) {
                    let description = try SVGReader.read(document)
                    try SVGCost.check(description)
                    guard description.hasUnitLengths else { return try body(document) }
                    return try withoutUnitLengths(document).withUnsafeBytes(body)
                }
                guard let value else { throw BitmapError.outOfMemory(bytes: stackSize) }
                return value
            }
        }

        /// Returns the document without its attributes `kernelUnitLength`, under a name that nothing knows. Browsers ignore them;
        /// librsvg scales the drawing up by as much as they say, which takes a minute and gigabytes for a thousandth.
        ///
        /// - Throws: `CodecError.damaged` if the document is in an encoding in which they are not found.
        private static func withoutUnitLengths(_ document: UnsafeRawBufferPointer) throws(CodecError) -> [UInt8] {
            let (name, letter) = (Array("kernelUnitLength".utf8), UInt8(ascii: "x"))
            var (bytes, start, count) = (Array(document), 0, 0)
            while let range = bytes[start...].firstRange(of: name) {
                bytes[range.upperBound - 1] = letter
                (start, count) = (range.upperBound, count + 1)
            }
            guard count > 0 else { throw .damaged(.svg, reason: "the lengths of a filter cannot be read") }
            return bytes
        }

        /// Returns the document up to its last bracket, because the parser accepts nothing but blanks behind the end of
        /// the document. A document in UTF-16, where a bracket has two bytes, is returned as a whole.
        private static func document(in bytes: UnsafeRawBufferPointer) -> UnsafeRawBufferPointer {
            // UTF-16 begins with its mark, or with a bracket beside a zero.
            guard let first = bytes.first, first > 0, first < 0xFE, bytes.count > 1, bytes[1] > 0 else { return bytes }
            let end = bytes.lastIndex(of: UInt8(ascii: ">")).map { $0 + 1 } ?? bytes.count
            return UnsafeRawBufferPointer(rebasing: bytes[..<end])
        }
    }
#endif
