import Foundation
import HalcyonImage

/// EXIF data with a thumbnail, as a camera writes it, or as no camera would.
public struct ExifThumbnail {
    public var thumbnail: Data
    public var orientation = Orientation.up
    public var isLittleEndian = false
    /// The compression that the second directory names: 6 is JPEG; nil leaves the tag out.
    public var compression: Int? = 6
    /// Values in place of the true ones.
    public var offset: Int?
    public var length: Int?
    /// The place of the second directory in place of the true one.
    public var nextDirectory: Int?
    /// The number of entries that the second directory claims.
    public var entryCount: Int?

    public init(_ thumbnail: Data) {
        self.thumbnail = thumbnail
    }

    /// Returns the JPEG with this EXIF data before its other segments.
    public func file(_ jpeg: Data) -> Data {
        let body = Data("Exif\0\0".utf8) + tiff
        let length = body.count + 2
        let segment = Data([0xFF, 0xE1, UInt8(length >> 8 & 255), UInt8(length & 255)]) + body
        return jpeg.prefix(2) + segment + jpeg.dropFirst(2)
    }

    private var tiff: Data {
        // The header, one entry, the place of the second directory, its entries and no third directory.
        let second = 8 + 2 + 12 + 4
        let entries = (compression == nil ? 2 : 3)
        let start = second + 2 + entries * 12 + 4
        var data = Data((isLittleEndian ? "II" : "MM").utf8) + short(42) + long(8)
        data += short(1) + entry(0x0112, type: 3, orientation.rawValue) + long(nextDirectory ?? second)
        data += short(entryCount ?? entries)
        if let compression { data += entry(0x0103, type: 3, compression) }
        data += entry(0x0201, type: 4, offset ?? start) + entry(0x0202, type: 4, length ?? thumbnail.count)
        return data + long(0) + thumbnail
    }

    private func entry(_ tag: Int, type: Int, _ value: Int) -> Data {
        short(tag) + short(type) + long(1) + (type == 3 ? short(value) + short(0) : long(value))
    }

    private func short(_ value: Int) -> Data {
        let bytes = [UInt8(value >> 8 & 255), UInt8(value & 255)]
        return Data(isLittleEndian ? bytes.reversed() : bytes)
    }

    private func long(_ value: Int) -> Data {
        isLittleEndian ? short(value & 0xFFFF) + short(value >> 16) : short(value >> 16) + short(value & 0xFFFF)
    }
}
