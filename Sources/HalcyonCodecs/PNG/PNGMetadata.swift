#if PNG
    import CZlib
    import Foundation
    import HalcyonImage

    /// Inserts the chunks of metadata behind the header of a PNG.
    enum PNGMetadata {
        /// Returns the file with an orientation and a profile.
        ///
        /// - Throws: `CodecError.encodingFailed`.
        static func insert(_ orientation: Orientation, _ profile: Data?, into file: Data) throws -> Data {
            guard orientation != .up || profile != nil else { return file }
            // The name of the profile, a zero, and 0 for the only compression method.
            let packed = try profile.map { Data("iCCP".utf8) + Data("ICC profile\0\0".utf8) + (try compressed($0)) }
            return file.read { reader in
                var result = Data(reader.bytes.prefix(8))
                for chunk in PNGChunks(reader) {
                    // The profile replaces an sRGB chunk.
                    if chunk.isNamed("sRGB"), packed != nil { continue }
                    result.append(contentsOf: reader.bytes[chunk.offset..<chunk.end])
                    guard chunk.isNamed("IHDR") else { continue }
                    if let packed { APNGFrameReader.append(packed, to: &result) }
                    if orientation != .up {
                        APNGFrameReader.append(Data("eXIf".utf8) + Exif.data(orientation), to: &result)
                    }
                }
                return result
            }
        }

        private static func compressed(_ data: Data) throws -> Data {
            var count = compressBound(UInt(data.count))
            var result = Data(count: Int(count))
            let status = result.withUnsafeMutableBytes { target in
                data.withUnsafeBytes { source in
                    compress(
                        target.baseAddress?.assumingMemoryBound(to: UInt8.self), &count,
                        source.baseAddress?.assumingMemoryBound(to: UInt8.self), UInt(source.count))
                }
            }
            guard status == Z_OK else { throw CodecError.encodingFailed(.png, reason: "its profile cannot be packed") }
            return result.prefix(Int(count))
        }
    }
#endif
