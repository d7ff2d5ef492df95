#if TIFF
    import CHalcyonCodecs
    import Foundation
    import HalcyonImage
    import HalcyonSystem

    /// A reader of the pages of a TIFF as frames.
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
        /// The largest allocation that libtiff may make.
        private let mostBytes: Int
        /// The conversion from CMYK.
        private let transform: ColorTransform?

        /// - Throws: `CodecError.damaged`.
        init(_ data: Data, transform: ColorTransform?) throws {
            self.data = data
            self.transform = transform
            let header = try data.read { try TIFFHeader($0) }
            let directories = header.pages
            // In addition to a strip or tile, libtiff allocates the tables of offsets, whose numbers take up to four
            // times as many bytes as in the file.
            mostBytes = (1 << 20).adding(4, times: data.count).adding(1, times: header.unitBytes)
            pages = directories.map { Page(offset: $0.offset, hasPalette: $0.hasPalette, hasAlpha: $0.hasAlpha) }
            size = directories[0].size
            let rect = PixelRect(x: 0, y: 0, width: size.width, height: size.height)
            frames = pages.map { _ in AnimationFrame(rect: rect, duration: .zero, blend: .replace) }
        }

        private var ink: halcyon_codec_ink {
            transform?.ink ?? halcyon_codec_ink()
        }

        func pixels(at index: Int, context: WorkContext) throws -> Bitmap {
            let page = pages[index]
            return try CodecCall.decode(
                .tiff, size: size, isOpaque: !page.hasAlpha, context: context
            ) { bitmap, call in
                data.withUnsafeBytes { bytes in
                    let layout = halcyon_tiff_layout(
                        directory: UInt64(page.offset), has_palette: page.hasPalette, has_alpha: page.hasAlpha,
                        most_bytes: mostBytes, ink: ink)
                    return halcyon_tiff_decode(
                        bytes.baseAddress?.assumingMemoryBound(to: UInt8.self), bytes.count, layout, bitmap, call)
                }
            }
        }
    }
#endif
