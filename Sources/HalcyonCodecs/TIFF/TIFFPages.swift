#if TIFF
    import CHalcyonCodecs
    import Foundation
    import HalcyonImage
    import HalcyonSystem

    /// The pages of a TIFF as frames.
    struct TIFFPages: FrameReader {
        private struct Page {
            let offset: Int
            let hasPalette: Bool
            let hasAlpha: Bool
        }

        let frames: [AnimationFrame]
        private let data: Data
        private let pages: [Page]
        private let size: PixelSize

        /// - Throws: `CodecError.damaged`.
        init(_ data: Data) throws {
            self.data = data
            let directories = try data.read { try TIFFHeader($0).pages }
            pages = directories.map { Page(offset: $0.offset, hasPalette: $0.hasPalette, hasAlpha: $0.hasAlpha) }
            size = directories[0].size
            let rect = PixelRect(x: 0, y: 0, width: size.width, height: size.height)
            frames = pages.map { _ in AnimationFrame(rect: rect, duration: .zero, blend: .replace) }
        }

        func pixels(at index: Int, context: WorkContext) throws -> Bitmap {
            let page = pages[index]
            return try CodecCall.decode(
                .tiff, size: size, isOpaque: !page.hasAlpha, context: context
            ) { bitmap, call in
                data.withUnsafeBytes { bytes in
                    halcyon_tiff_decode(
                        bytes.baseAddress?.assumingMemoryBound(to: UInt8.self), bytes.count, UInt64(page.offset),
                        page.hasPalette, page.hasAlpha, bitmap, call)
                }
            }
        }
    }
#endif
