import Foundation

/// Bounds-checked reads from untrusted bytes: a read outside of them returns nil, and never traps or overflows.
///
/// Valid only within the closure that lends the bytes.
package struct ByteReader {
    package let bytes: UnsafeRawBufferPointer

    package init(_ bytes: UnsafeRawBufferPointer) { self.bytes = bytes }

    package var count: Int { bytes.count }

    /// Whether `length` bytes lie at `offset`.
    package func has(_ length: Int, at offset: Int) -> Bool {
        offset >= 0 && length >= 0 && offset <= count && length <= count - offset
    }

    package func byte(_ offset: Int) -> Int? {
        has(1, at: offset) ? Int(bytes[offset]) : nil
    }

    package func bigEndian16(_ offset: Int) -> Int? {
        has(2, at: offset) ? Int(bytes[offset]) << 8 | Int(bytes[offset + 1]) : nil
    }

    package func littleEndian16(_ offset: Int) -> Int? {
        has(2, at: offset) ? Int(bytes[offset + 1]) << 8 | Int(bytes[offset]) : nil
    }

    package func littleEndian24(_ offset: Int) -> Int? {
        guard let low = littleEndian16(offset), let high = byte(offset + 2) else { return nil }
        return high << 16 | low
    }

    package func bigEndian32(_ offset: Int) -> Int? {
        guard let high = bigEndian16(offset), let low = bigEndian16(offset + 2) else { return nil }
        return high << 16 | low
    }

    package func littleEndian32(_ offset: Int) -> Int? {
        guard let low = littleEndian16(offset), let high = littleEndian16(offset + 2) else { return nil }
        return high << 16 | low
    }

    /// Returns the offset of the first occurrence of a byte at or after `offset`, by `memchr`, at the speed of memory.
    package func firstIndex(of byte: UInt8, from offset: Int) -> Int? {
        guard offset >= 0, offset < count, let start = bytes.baseAddress,
            let found = memchr(start + offset, Int32(byte), count - offset)
        else { return nil }
        return UnsafeRawPointer(found) - start
    }

    /// Returns the offset of the first occurrence of a text at or after `offset`.
    package func firstMatch(_ text: StaticString, from offset: Int) -> Int? {
        firstMatch(UnsafeRawBufferPointer(start: text.utf8Start, count: text.utf8CodeUnitCount), from: offset)
    }

    /// Returns the offset of the first occurrence of some bytes at or after `offset`; nil for none.
    package func firstMatch(_ wanted: [UInt8], from offset: Int) -> Int? {
        wanted.withUnsafeBytes { firstMatch($0, from: offset) }
    }

    private func firstMatch(_ wanted: UnsafeRawBufferPointer, from offset: Int) -> Int? {
        guard let first = wanted.first else { return nil }
        var position = offset
        while let found = firstIndex(of: first, from: position) {
            if matches(wanted, at: found) { return found }
            position = found + 1
        }
        return nil
    }

    /// Returns whether the bytes at `offset` equal `expected`.
    package func matches(_ expected: StaticString, at offset: Int) -> Bool {
        matches(UnsafeRawBufferPointer(start: expected.utf8Start, count: expected.utf8CodeUnitCount), at: offset)
    }

    package func matches(_ expected: [UInt8], at offset: Int) -> Bool {
        expected.withUnsafeBytes { matches($0, at: offset) }
    }

    private func matches(_ expected: UnsafeRawBufferPointer, at offset: Int) -> Bool {
        guard has(expected.count, at: offset) else { return false }
        guard let start = bytes.baseAddress, let other = expected.baseAddress else { return expected.isEmpty }
        return memcmp(start + offset, other, expected.count) == 0
    }

    /// Returns the part of these bytes at `offset`, shorter than `length` if the bytes end before.
    package func part(at offset: Int, length: Int) -> ByteReader {
        let start = min(max(offset, 0), count)
        let end = start + min(max(length, 0), count - start)
        return ByteReader(UnsafeRawBufferPointer(rebasing: bytes[start..<end]))
    }

    /// Returns the bytes at `offset` as ASCII, or nil if there are too few of them or one is not ASCII.
    package func ascii(at offset: Int, length: Int) -> String? {
        guard has(length, at: offset) else { return nil }
        let part = bytes[offset..<offset + length]
        guard part.allSatisfy({ $0 < 0x80 }) else { return nil }
        return String(decoding: part, as: UTF8.self)
    }
}

extension Data {
    /// Lends a bounds-checked reader, whose offsets begin at 0 even if the indices of the data do not.
    package func read<Result>(_ body: (ByteReader) throws -> Result) rethrows -> Result {
        try withUnsafeBytes { try body(ByteReader($0)) }
    }
}
