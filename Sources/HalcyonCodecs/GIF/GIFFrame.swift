#if GIF
    import CGIF
    import Foundation
    import HalcyonImage
    import HalcyonSystem

    /// One frame of a GIF whose descriptor giflib has just read. The pixels come next.
    struct GIFFrame {
        private var left: Int
        private var top: Int
        private let size: PixelSize
        private let isInterlaced: Bool
        /// The 256 premultiplied colours. Indices beyond the file's table are opaque black.
        private let palette: [UInt32]
        private let isTransparent: Bool

        /// Skips extensions up to the next frame, and reads its descriptor.
        ///
        /// - Parameter transparentIndex: the transparent index of an extension that was read before.
        /// - Throws: `CodecError.damaged`.
        init(nextOf file: UnsafeMutablePointer<GifFileType>, transparentIndex: Int? = nil) throws {
            var control = GraphicsControlBlock()
            control.TransparentColor = transparentIndex.map { Int32(clamping: $0) } ?? NO_TRANSPARENT_COLOR
            try Self.skipToFrame(file, control: &control)
            guard DGifGetImageDesc(file) == GIF_OK else { throw GIFSource.error(file.pointee.Error) }
            let descriptor = file.pointee.Image
            (left, top) = (Int(descriptor.Left), Int(descriptor.Top))
            size = PixelSize(Int(descriptor.Width), Int(descriptor.Height))
            guard !size.isEmpty else { throw CodecError.damaged(.gif, reason: "a frame is empty") }
            isInterlaced = descriptor.Interlace
            guard let colors = descriptor.ColorMap ?? file.pointee.SColorMap else {
                throw CodecError.damaged(.gif, reason: "it has no colour table")
            }
            isTransparent = control.TransparentColor != NO_TRANSPARENT_COLOR
            palette = Self.palette(colors.pointee, transparent: Int(control.TransparentColor))
        }

        private static func skipToFrame(
            _ file: UnsafeMutablePointer<GifFileType>, control: inout GraphicsControlBlock
        ) throws {
            while true {
                var kind = UNDEFINED_RECORD_TYPE
                guard DGifGetRecordType(file, &kind) == GIF_OK else { throw GIFSource.error(file.pointee.Error) }
                if kind == IMAGE_DESC_RECORD_TYPE { return }
                guard kind == EXTENSION_RECORD_TYPE else {
                    throw CodecError.damaged(.gif, reason: "it has no frame")
                }
                var code: Int32 = 0
                var block: UnsafeMutablePointer<GifByteType>?
                guard DGifGetExtension(file, &code, &block) == GIF_OK else { throw GIFSource.error(file.pointee.Error) }
                while let part = block {
                    // The first byte is the length of the block.
                    if code == GRAPHICS_EXT_FUNC_CODE { DGifExtensionToGCB(Int(part[0]), part + 1, &control) }
                    guard DGifGetExtensionNext(file, &block) == GIF_OK else {
                        throw GIFSource.error(file.pointee.Error)
                    }
                }
            }
        }

        private static func palette(_ colors: ColorMapObject, transparent: Int) -> [UInt32] {
            // As little-endian words the pixels are blue, green, red, alpha in memory.
            var palette = [UInt32](repeating: 0xFF00_0000, count: 256)
            for index in 0..<min(256, max(0, Int(colors.ColorCount))) {
                guard let color = colors.Colors?[index] else { break }
                palette[index] |= UInt32(color.Red) << 16 | UInt32(color.Green) << 8 | UInt32(color.Blue)
            }
            if palette.indices.contains(transparent) { palette[transparent] = 0 }
            return palette
        }

        /// The frame moved to the corner of the canvas, to be drawn alone.
        var atOrigin: GIFFrame {
            var frame = self
            (frame.left, frame.top) = (0, 0)
            return frame
        }

        /// Decodes the frame's pixels onto a canvas; pixels outside it are dropped.
        ///
        /// - Throws: `CodecError.damaged` if the data ends or is invalid before the frame is complete.
        func draw(
            on canvas: PixelSize, from file: UnsafeMutablePointer<GifFileType>, context: WorkContext
        ) throws -> Bitmap {
            let isWhole = left == 0 && top == 0 && size.width >= canvas.width && size.height >= canvas.height
            return try Bitmap(size: canvas, isOpaque: isWhole && !isTransparent) { bytes in
                if !isWhole { bytes.initializeMemory(as: UInt8.self, repeating: 0) }
                let pixels = bytes.bindMemory(to: UInt32.self)
                var line = [GifPixelType](repeating: 0, count: size.width)
                for (index, row) in rows.enumerated() {
                    if index % 64 == 0 { try context.checkCancellation() }
                    guard DGifGetLine(file, &line, Int32(clamping: size.width)) == GIF_OK else {
                        throw GIFSource.error(file.pointee.Error)
                    }
                    place(line, at: top + row, in: pixels, canvas: canvas)
                }
            }
        }

        private func place(
            _ line: [GifPixelType], at y: Int, in pixels: UnsafeMutableBufferPointer<UInt32>, canvas: PixelSize
        ) {
            let visible = min(size.width, canvas.width - left)
            guard y < canvas.height, visible > 0 else { return }
            let start = y * canvas.width + left
            palette.withUnsafeBufferPointer { palette in
                for x in 0..<visible { pixels[start + x] = palette[Int(line[x])] }
            }
        }

        /// The row numbers in the order in which the file stores them.
        private var rows: [Int] {
            guard isInterlaced else { return Array(0..<size.height) }
            return [(0, 8), (4, 8), (2, 4), (1, 2)].flatMap { Array(stride(from: $0, to: size.height, by: $1)) }
        }
    }
#endif
