import Foundation
import HalcyonCodecs
import HalcyonImage

/// The pixels of a finished image as the disk keeps them: not encoded, so that they are read at the speed of memory, which is
/// six times as fast as a PNG.
///
/// The bytes are a header of 24 bytes, the ICC profile of the pixels, if they have one, and the rows from top to
/// bottom, with three bytes a pixel if all are opaque, otherwise four. An image with a gain map has it behind them: a
/// header of 16 bytes, its metadata as ISO 21496-1 has them, its rows, and its ICC profile, if it has one. Numbers are
/// little-endian. Only finished entries of a cache are read in this way: bytes from a server never are.
struct StoredBitmap {
    private static let magic = Array("HALCYON\u{1}".utf8)
    private static let magicWithGainMap = Array("HALCYON\u{2}".utf8)
    private static let headerLength = 24
    private static let mapHeaderLength = 16
    private static let format = ImageFormat.bitmap

    let size: PixelSize
    private let isOpaque: Bool
    private let profileLength: Int
    private let pixelLength: Int
    private let map: Map?
    private let bytes: Data

    /// The gain map behind the pixels.
    private struct Map {
        let size: PixelSize
        let isMonochrome: Bool
        let metadata: GainMap.Metadata
        let start: Int
        let byteCount: Int
    }

    /// The memory of the image's pixels, in bytes.
    var workingBytes: Int { ((size.area ?? 0) + (map?.size.area ?? 0)) * 4 }

    /// Returns the bytes of an image; nil for an animation, which has more than one bitmap.
    static func data(of image: Image) -> Data? {
        let (bitmap, profile, map) = (image.bitmap, image.colorProfile ?? Data(), image.gainMap)
        guard image.animation == nil, let profileLength = UInt32(exactly: profile.count),
            let count = Bitmap.packedByteCount(of: bitmap.size, isOpaque: bitmap.isOpaque)
        else { return nil }
        var data = Data(capacity: headerLength + profile.count + count + (map?.bitmap.byteCount ?? 0))
        data.append(contentsOf: map == nil ? magic : magicWithGainMap)
        data.append(numbers: [bitmap.width, bitmap.height, bitmap.isOpaque ? 1 : 0, Int(profileLength)])
        data.append(profile)
        data.append(packed: bitmap, count)
        guard let map else { return data }
        let metadata = map.metadata.iso
        guard let count = Bitmap.packedByteCount(of: map.size, isOpaque: map.bitmap.isOpaque), map.bitmap.isOpaque
        else {
            return nil
        }
        data.append(numbers: [map.size.width, map.size.height, map.isMonochrome ? 1 : 0, metadata.count])
        data.append(metadata)
        data.append(packed: map.bitmap, count)
        if let profile = map.colorProfile { data.append(profile) }
        return data
    }

    /// Reads the header of stored bytes; nil if they are not of this kind.
    ///
    /// - Throws: `CodecError.damaged` for bytes that no image has, `.limitExceeded`.
    init?(_ data: Data, limits: DecodeLimits) throws(CodecError) {
        let hasMap = data.starts(with: Self.magicWithGainMap)
        guard hasMap || data.starts(with: Self.magic) else { return nil }
        guard let numbers = data.numbers(at: 8) else { throw .damaged(Self.format, reason: "its header is cut off") }
        (size, isOpaque, profileLength) = (PixelSize(numbers[0], numbers[1]), numbers[2] == 1, numbers[3])
        let start = Self.headerLength + profileLength
        guard size.width > 0, size.height > 0, numbers[2] <= 1,
            let count = Bitmap.packedByteCount(of: size, isOpaque: isOpaque),
            hasMap ? data.count - start > count : data.count - start == count
        else { throw .damaged(Self.format, reason: "its length is not that of \(size) pixels") }
        try limits.check(size)
        (bytes, pixelLength) = (data, count)
        map = hasMap ? try Self.map(data, at: start + count, limits) : nil
    }

    private static func map(_ data: Data, at start: Int, _ limits: DecodeLimits) throws(CodecError) -> Map {
        guard let numbers = data.numbers(at: start), case let place = start + mapHeaderLength,
            data.count - place >= numbers[3], numbers[0] > 0, numbers[1] > 0, numbers[2] <= 1,
            let metadata = data.dropFirst(place).prefix(numbers[3]).read({ GainMap.Metadata(iso: $0) }),
            case let size = PixelSize(numbers[0], numbers[1]),
            let count = Bitmap.packedByteCount(of: size, isOpaque: true),
            data.count - place - numbers[3] >= count
        else { throw .damaged(format, reason: "its gain map is none") }
        try limits.check(size)
        return Map(
            size: size, isMonochrome: numbers[2] == 1, metadata: metadata, start: place + numbers[3], byteCount: count)
    }

    /// Makes the image. Its facts are those of a bitmap, since the entry's metadata has the source's.
    ///
    /// - Throws: `BitmapError`.
    func image() throws -> Image {
        let start = Self.headerLength + profileLength
        var image = Image(
            bitmap: try bitmap(size, isOpaque: isOpaque, at: start, pixelLength),
            info: ImageInfo(format: Self.format, size: size))
        if profileLength > 0 { image.colorProfile = Data(bytes.dropFirst(Self.headerLength).prefix(profileLength)) }
        if let map {
            let values = try bitmap(map.size, isOpaque: true, at: map.start, map.byteCount)
            let profile = bytes.dropFirst(map.start + map.byteCount)
            image.gainMap = GainMap(
                bitmap: values, isMonochrome: map.isMonochrome, metadata: map.metadata,
                colorProfile: profile.isEmpty ? nil : Data(profile))
        }
        return image
    }

    private func bitmap(_ size: PixelSize, isOpaque: Bool, at start: Int, _ count: Int) throws -> Bitmap {
        try bytes.withUnsafeBytes { bytes in
            try Bitmap(
                size: size, isOpaque: isOpaque, packed: UnsafeRawBufferPointer(rebasing: bytes[start..<start + count]))
        }
    }
}

extension Data {
    /// Appends numbers of 32 bits.
    fileprivate mutating func append(numbers: [Int]) {
        for number in numbers { Swift.withUnsafeBytes(of: UInt32(number).littleEndian) { append(contentsOf: $0) } }
    }

    /// Reads four numbers of 32 bits; nil if they are not there.
    fileprivate func numbers(at offset: Int) -> [Int]? {
        guard count >= offset + 16 else { return nil }
        return withUnsafeBytes { bytes in
            (0..<4).map {
                Int(UInt32(littleEndian: bytes.loadUnaligned(fromByteOffset: offset + $0 * 4, as: UInt32.self)))
            }
        }
    }

    fileprivate mutating func append(packed bitmap: Bitmap, _ byteCount: Int) {
        let start = count
        count += byteCount
        withUnsafeMutableBytes { bitmap.pack(into: UnsafeMutableRawBufferPointer(rebasing: $0[start...])) }
    }
}
