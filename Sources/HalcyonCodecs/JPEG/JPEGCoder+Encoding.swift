#if JPEG
    import CHalcyonCodecs
    import Foundation
    import HalcyonImage
    import HalcyonSystem

    extension JPEGCoder: ImageEncoder {
        package func isLossy(_ format: ImageFormat, options: EncodeOptions) -> Bool { true }

        package func writesMetadata(_ format: ImageFormat) -> Bool { true }

        /// Writes 4:2:0 with optimised Huffman tables. Transparent pixels are composited onto the background.
        package func encode(
            _ image: Image, as format: ImageFormat, options: EncodeOptions, context: WorkContext
        ) throws -> Data {
            let quality = max(1, Int32((options.clampedQuality * 100).rounded()))
            let file = try CodecCall.encode(image.bitmap, as: .jpeg, context: context) { bitmap, output, call in
                halcyon_jpeg_encode(
                    bitmap, image.bitmap.isOpaque, UInt32(options.background.packed), quality, options.isProgressive,
                    output, call)
            }
            return try JPEGMetadata.insert(options.storedOrientation(of: image), image.colorProfile, into: file)
        }
    }

    /// The metadata segments that are inserted near the start of a written JPEG.
    enum JPEGMetadata {
        /// The bytes of a profile that fit in a segment: its length is 16 bits and counts itself, and 14 bytes identify
        /// the part.
        private static let profilePart = 65_535 - 2 - 14

        /// Returns the file with an orientation and an ICC profile.
        ///
        /// - Throws: `CodecError.encodingFailed` for a profile of more than 255 parts.
        static func insert(_ orientation: Orientation, _ profile: Data?, into file: Data) throws -> Data {
            guard orientation != .up || profile != nil else { return file }
            var segments = Data()
            if orientation != .up { append(0xE1, Data("Exif\0\0".utf8) + Exif.data(orientation), to: &segments) }
            if let profile {
                let count = (profile.count + profilePart - 1) / profilePart
                guard count <= 255 else { throw CodecError.encodingFailed(.jpeg, reason: "its profile is too long") }
                for number in 0..<count {
                    let part = profile.dropFirst(number * profilePart).prefix(profilePart)
                    let head = Data("ICC_PROFILE\0".utf8) + [UInt8(number + 1), UInt8(count)]
                    append(0xE2, head + part, to: &segments)
                }
            }
            // The segments follow SOI and the JFIF segment, which the encoder writes with a length of 16.
            let head = 2 + 2 + 16
            return file.prefix(head) + segments + file.dropFirst(head)
        }

        private static func append(_ marker: UInt8, _ body: Data, to data: inout Data) {
            let length = body.count + 2
            data += [0xFF, marker, UInt8(length >> 8), UInt8(length & 255)]
            data += body
        }
    }
#endif
