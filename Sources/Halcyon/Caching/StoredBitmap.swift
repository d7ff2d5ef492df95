import Foundation
import HalcyonCodecs
import HalcyonImage

/// The pixels of a finished image as the disk keeps them: not encoded, so that they are read at the speed of memory, which is
/// six times as fast as a PNG.
///
/// The bytes are a header of 24 bytes, the ICC profile of the pixels, if they have one, and the rows from top to bottom, with
/// three bytes a pixel if all are opaque, otherwise four. Numbers are little-endian. Only finished entries of a cache are read
/// in this way: bytes from a server never are.
struct StoredBitmap {
    private static let magic = Array("HALCYON\u{1}".utf8)
    private static let headerLength = 24
    private static let format = ImageFormat.bitmap

    let size: PixelSize
    private let isOpaque: Bool
    private let profileLength: Int
    private let bytes: Data

    /// The memory of the image's pixels, in bytes.
    var workingBytes: Int { (size.area ?? 0) * 4 }

    /// Returns the bytes of an image; nil for an animation, which has more than one bitmap.
    static func data(of image: Image) -> Data? {
        let (bitmap, profile) = (image.bitmap, image.colorProfile ?? Data())
        guard image.animation == nil, let profileLength = UInt32(exactly: profile.count),
            let count = Bitmap.packedByteCount(of: bitmap.size, isOpaque: bitmap.isOpaque)
        else { return nil }
        var data = Data(capacity: headerLength + profile.count + count)
        data.append(contentsOf: magic)
        for number in [UInt32(bitmap.width), UInt32(bitmap.height), bitmap.isOpaque ? 1 : 0, profileLength] {
            withUnsafeBytes(of: number.littleEndian) { data.append(contentsOf: $0) }
        }
        data.append(profile)
        let start = data.count
        data.count += count
        data.withUnsafeMutableBytes { bitmap.pack(into: UnsafeMutableRawBufferPointer(rebasing: $0[start...])) }
        return data
    }

    /// Reads the header of stored bytes; nil if they are not of this kind.
    ///
    /// - Throws: `CodecError.damaged` for bytes that no image has, `.limitExceeded`.
    init?(_ data: Data, limits: DecodeLimits) throws(CodecError) {
        guard data.starts(with: Self.magic) else { return nil }
        guard data.count >= Self.headerLength else { throw .damaged(Self.format, reason: "its header is cut off") }
        let numbers = data.withUnsafeBytes { bytes in
            (0..<4).map { Int(UInt32(littleEndian: bytes.loadUnaligned(fromByteOffset: 8 + $0 * 4, as: UInt32.self))) }
        }
        (size, isOpaque, profileLength) = (PixelSize(numbers[0], numbers[1]), numbers[2] == 1, numbers[3])
        guard size.width > 0, size.height > 0, numbers[2] <= 1,
            let count = Bitmap.packedByteCount(of: size, isOpaque: isOpaque),
            data.count - Self.headerLength - profileLength == count
        else { throw .damaged(Self.format, reason: "its length is not that of \(size) pixels") }
        try limits.check(size)
        bytes = data
    }

    /// Makes the image. Its facts are those of a bitmap, since the entry's metadata has the source's.
    ///
    /// - Throws: `BitmapError`.
    func image() throws -> Image {
        let bitmap = try bytes.withUnsafeBytes { bytes in
            try Bitmap(
                size: size, isOpaque: isOpaque,
                packed: UnsafeRawBufferPointer(rebasing: bytes[(Self.headerLength + profileLength)...]))
        }
        var image = Image(bitmap: bitmap, info: ImageInfo(format: Self.format, size: size))
        if profileLength > 0 { image.colorProfile = Data(bytes.dropFirst(Self.headerLength).prefix(profileLength)) }
        return image
    }
}
