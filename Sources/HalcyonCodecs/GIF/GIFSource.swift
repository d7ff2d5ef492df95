#if GIF
    import CGIF
    import HalcyonImage

    /// Bytes in memory, as giflib reads them.
    struct GIFSource {
        private let bytes: UnsafeRawBufferPointer
        private var offset = 0
        /// Behind so many bytes the reading goes on elsewhere.
        private var jump: (from: Int, to: Int)?

        /// Opens the bytes with giflib, up to and with the screen descriptor, for as long as `body` runs.
        ///
        /// - Parameter jump: where the head of the file ends, and where the frame to read begins.
        /// - Throws: `CodecError.damaged`, and what `body` throws.
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

        /// Fewer bytes than asked for tell giflib that the file ends.
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

        /// What giflib's code means, in its own words where it has some.
        static func error(_ code: Int32) -> any Error {
            if code == D_GIF_ERR_NOT_ENOUGH_MEM { return BitmapError.outOfMemory(bytes: 0) }
            if code == D_GIF_ERR_READ_FAILED { return CodecError.damaged(.gif, reason: "the file was cut off") }
            let text = GifErrorString(code).map { String(cString: $0) }
            return CodecError.damaged(.gif, reason: text ?? "giflib's error \(code)")
        }
    }
#endif
