#if WebP
    import CWebP
    import Foundation
    import HalcyonImage

    /// Inserts the chunks of metadata into a WebP by libwebpmux.
    enum WebPMetadata {
        /// Returns the file with an orientation and a profile.
        ///
        /// - Throws: `CodecError.encodingFailed`.
        static func insert(_ orientation: Orientation, _ profile: Data?, into file: Data) throws -> Data {
            guard orientation != .up || profile != nil else { return file }
            guard let mux = with(file, { WebPMuxCreate($0, 1) }) else { throw failed() }
            defer { WebPMuxDelete(mux) }
            if let profile { try set("ICCP", profile, in: mux) }
            if orientation != .up { try set("EXIF", Exif.data(orientation), in: mux) }
            var assembled = WebPData()
            defer { WebPDataClear(&assembled) }
            guard WebPMuxAssemble(mux, &assembled) == WEBP_MUX_OK, let bytes = assembled.bytes else { throw failed() }
            return Data(bytes: bytes, count: assembled.size)
        }

        private static func set(_ name: String, _ data: Data, in mux: OpaquePointer) throws {
            let isSet = name.withCString { name in with(data) { WebPMuxSetChunk(mux, name, $0, 1) } }
            guard isSet == WEBP_MUX_OK else { throw failed() }
        }

        private static func with<Result>(_ data: Data, _ body: (UnsafePointer<WebPData>) -> Result) -> Result {
            data.withUnsafeBytes { bytes in
                var data = WebPData(bytes: bytes.baseAddress?.assumingMemoryBound(to: UInt8.self), size: bytes.count)
                return body(&data)
            }
        }

        private static func failed() -> CodecError { WebPCoder.failed("its metadata cannot be added") }
    }
#endif
