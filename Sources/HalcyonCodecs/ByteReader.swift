import Foundation

/// Checked reads from bytes that nobody vouches for: nil outside, never a trap, no overflow.
///
/// Only valid within the closure that lent the bytes.
struct ByteReader {
    let bytes: UnsafeRawBufferPointer

    init(_ bytes: UnsafeRawBufferPointer) { self.bytes = bytes }

    var count: Int { bytes.count }

    /// Whether `length` bytes lie at `offset`.
    func has(_ length: Int, at offset: Int) -> Bool {
        offset >= 0 && length >= 0 && offset <= count && length <= count - offset
    }

    func byte(_ offset: Int) -> Int? {
        has(1, at: offset) ? Int(bytes[offset]) : nil
    }

    func bigEndian16(_ offset: Int) -> Int? {
        has(2, at: offset) ? Int(bytes[offset]) << 8 | Int(bytes[offset + 1]) : nil
    }

    func littleEndian16(_ offset: Int) -> Int? {
        has(2, at: offset) ? Int(bytes[offset + 1]) << 8 | Int(bytes[offset]) : nil
    }

    func littleEndian24(_ offset: Int) -> Int? {
        guard let low = littleEndian16(offset), let high = byte(offset + 2) else { return nil }
        return high << 16 | low
    }

    func bigEndian32(_ offset: Int) -> Int? {
        guard let high = bigEndian16(offset), let low = bigEndian16(offset + 2) else { return nil }
        return high << 16 | low
    }

    func littleEndian32(_ offset: Int) -> Int? {
        guard let low = littleEndian16(offset), let high = littleEndian16(offset + 2) else { return nil }
        return high << 16 | low
    }

    /// Where a byte stands at or behind `offset`. As fast as memory is read.
    func firstIndex(of byte: UInt8, from offset: Int) -> Int? {
        guard offset >= 0, offset < count, let start = bytes.baseAddress,
            let found = memchr(start + offset, Int32(byte), count - offset)
        else { return nil }
        return UnsafeRawPointer(found) - start
    }

    /// Where a text stands at or behind `offset`.
    func firstMatch(_ text: StaticString, from offset: Int) -> Int? {
        var position = offset
        while let found = firstIndex(of: text.utf8Start.pointee, from: position) {
            if matches(text, at: found) { return found }
            position = found + 1
        }
        return nil
    }

    /// Whether these bytes stand at `offset`.
    func matches(_ expected: StaticString, at offset: Int) -> Bool {
        let length = expected.utf8CodeUnitCount
        guard has(length, at: offset), let start = bytes.baseAddress else { return false }
        return memcmp(start + offset, expected.utf8Start, length) == 0
    }

    func matches(_ expected: [UInt8], at offset: Int) -> Bool {
        guard has(expected.count, at: offset) else { return false }
        return expected.indices.allSatisfy { bytes[offset + $0] == expected[$0] }
    }

    /// The part of these bytes that lies at `offset`, shorter where they end before `length`.
    func part(at offset: Int, length: Int) -> ByteReader {
        let start = min(max(offset, 0), count)
        let end = start + min(max(length, 0), count - start)
        return ByteReader(UnsafeRawBufferPointer(rebasing: bytes[start..<end]))
    }

    /// The bytes at `offset` as ASCII, nil where there are too few or others among them.
    func ascii(at offset: Int, length: Int) -> String? {
        guard has(length, at: offset) else { return nil }
        let part = bytes[offset..<offset + length]
        guard part.allSatisfy({ $0 < 0x80 }) else { return nil }
        return String(decoding: part, as: UTF8.self)
    }
}

extension Data {
    /// Reads with checks, whatever index the data starts at.
    func read<Result>(_ body: (ByteReader) throws -> Result) rethrows -> Result {
        try withUnsafeBytes { try body(ByteReader($0)) }
    }
}
