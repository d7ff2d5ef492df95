import HalcyonCodecs
import Foundation
import HalcyonImage
import HalcyonSystem

/// Unpacks drawings that are compressed with gzip, as files with the extension `svgz` are, within limits: a file of
/// a kilobyte may claim a megabyte.
enum SVGPacking {
    /// The maximum number of unpacked bytes of a file, of all drawings inside of it together. Maps reach some ten
    /// megabytes.
    static let maximumBytes = 32 << 20
    /// The maximum number of unpacked bytes for each byte, checked above a megabyte. Drawings reach 20, those of a
    /// repeated shape 100.
    private static let maximumRatio = 200

    static func isPacked(_ data: Data) -> Bool { data.starts(with: [0x1F, 0x8B]) }

    /// Unpacks a file with all of its members. Bytes behind the last one that begin no other member are ignored.
    ///
    /// - Parameter limit: the number of bytes that may still be unpacked.
    /// - Throws: `CodecError.limitExceeded`, and `.damaged` if the file is cut off or its checksum is wrong;
    ///   `BitmapError.outOfMemory`.
    static func unpacked(_ data: Data, limit: Int) throws -> Data {
        let most = min(limit, max(1 << 20, data.count * maximumRatio))
        let inflater = Inflater(.gzip, limit: most)
        var result = Data()
        do {
            var rest = data[...]
            while !rest.isEmpty {
                inflater.feed(rest.prefix(1 << 20))
                rest = rest.dropFirst(1 << 20)
                while let piece = try inflater.next() { result += piece }
            }
        } catch Inflater.Failure.tooLarge {
            throw CodecError.limitExceeded("bytes of an unpacked drawing", value: most + 1, limit: most)
        } catch Inflater.Failure.noMemory {
            throw BitmapError.outOfMemory(bytes: 1 << 16)
        } catch {
            throw CodecError.damaged(.svg, reason: "its compression is broken")
        }
        guard inflater.isComplete else {
            throw CodecError.damaged(.svg, reason: "its compressed data ends early")
        }
        return result
    }
}
