/// Encodes everything that distinguishes one result from others into bytes that are the same in every process and on every
/// machine: the name of a cache entry is a hash of them.
///
/// A processor encodes its type's identifier and version first, then each parameter in a fixed order. Never encode
/// `hashValue` (seeded per process) or `String(describing:)`. Raise the version when the algorithm changes.
public struct KeyEncoder: Sendable {
    /// The bytes encoded so far.
    public private(set) var bytes: [UInt8] = []

    /// Creates an encoder without any bytes.
    public init() {}

    /// Encodes the type that the following parameters belong to. Raise the version whenever the output changes for the same
    /// parameters.
    public mutating func encode(type identifier: String, version: Int) {
        encode(identifier)
        encode(version)
    }

    /// Encodes the value as 8 bytes, little-endian.
    public mutating func encode(_ value: Int) {
        withUnsafeBytes(of: Int64(value).littleEndian) { bytes.append(contentsOf: $0) }
    }

    /// Encodes the value as 1 byte: 1 for true, 0 for false.
    public mutating func encode(_ value: Bool) {
        bytes.append(value ? 1 : 0)
    }

    /// Encodes the bit pattern, with negative zero as zero.
    public mutating func encode(_ value: Double) {
        let bits = (value == 0 ? 0 : value).bitPattern
        withUnsafeBytes(of: bits.littleEndian) { bytes.append(contentsOf: $0) }
    }

    /// Encodes the length and the UTF-8 bytes, so that two strings in a row cannot be read as two others.
    public mutating func encode(_ value: String) {
        let utf8 = Array(value.utf8)
        encode(utf8.count)
        bytes.append(contentsOf: utf8)
    }

    /// Encodes the width, then the height.
    public mutating func encode(_ size: PixelSize) {
        encode(size.width)
        encode(size.height)
    }

    /// Encodes the length in bytes and then the bytes that `write` encodes: a list of any length that cannot be mistaken
    /// for a part of the value behind it.
    public mutating func encode(nested write: (inout KeyEncoder) -> Void) {
        var nested = KeyEncoder()
        write(&nested)
        encode(nested.bytes.count)
        bytes += nested.bytes
    }

    /// Encodes a flag for presence, then the value.
    public mutating func encode(_ value: Int?) {
        encode(value != nil)
        if let value { encode(value) }
    }
}
