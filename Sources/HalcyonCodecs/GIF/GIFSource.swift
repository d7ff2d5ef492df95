#if GIF
    import CGIF
    import HalcyonImage

    /// Bytes in memory that giflib reads through a callback.
    struct GIFSource {
        private let bytes: UnsafeRawBufferPointer
        private var offset = 0
        /// The offset at which reading continues elsewhere, and the offset at which it continues.
        private var jump: (from: Int, to: Int)?

        /// Opens the bytes with giflib, which reads up to the end of the screen descriptor, and keeps the file open
        /// while `body` runs.
        ///
        /// - Parameter jump: the end of the head of the file, and the offset of the frame to read.
        /// - Throws: `CodecError.damaged`, `BitmapError.outOfMemory`, and the errors of `body`.
        static func withFile<Result>(
            _ bytes: UnsafeRawBufferPointer, jump: (from: Int, to: Int)? = nil,
            _ body: (UnsafeMutablePointer<GifFileType>) throws -> Result
        ) throws -> Result {
            var source = GIFSource(bytes: bytes, jump: jump)
            // giflib keeps the source's address.
            return try withUnsafeMutablePointer(to: &source) { source in
                var code: Int32 = 0
                let file = DGifOpen(
                    source,
                    { file, target, count in
                        guard let source = file?.pointee.UserData?.assumingMemoryBound(to: GIFSource.self) else {
                            return 0
                        }
                        return source.pointee.read(into: target, count: count)
                    }, &code)
                guard let file else { throw error(code) }
                defer { _ = DGifCloseFile(file, nil) }
                return try body(file)
            }
        }

        /// Copies the next bytes. Fewer bytes than requested signal the end of the file to giflib.
        private mutating func read(into target: UnsafeMutablePointer<GifByteType>?, count: Int32) -> Int32 {
            if let jump, offset == jump.from {
                offset = min(jump.to, bytes.count)
                self.jump = nil
            }
            let end = min(jump?.from ?? bytes.count, bytes.count)
            let length = min(max(Int(count), 0), end - offset)
            guard let target, length > 0, let start = bytes.baseAddress?.advanced(by: offset) else { return 0 }
            target.update(from: start.assumingMemoryBound(to: UInt8.self), count: length)
            offset += length
            return Int32(length)
        }

        /// Returns the error for giflib's code, with giflib's message if there is one.
        static func error(_ code: Int32) -> any Error {
            if code == D_GIF_ERR_NOT_ENOUGH_MEM { return BitmapError.outOfMemory(bytes: 0) }
            if code == D_GIF_ERR_READ_FAILED { return CodecError.damaged(.gif, reason: "the file was cut off") }
            let text = GifErrorString(code).map { String(cString: $0) }
            return CodecError.damaged(.gif, reason: text ?? "giflib's error \(code)")
        }
    }
#endif
