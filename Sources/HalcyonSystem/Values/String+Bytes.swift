import Glibc

/// The texts of URLs are searched and compared at each look-up. These functions do it as fast as the memory is read: a search
/// through `utf8` costs a call for each byte, and `withUTF8` a copy of the reference.
extension String {
    /// Calls the closure with the text in UTF-8.
    @inlinable
    @inline(__always)
    package func withBytes<Result>(_ body: (UnsafeBufferPointer<UInt8>) -> Result) -> Result {
        utf8.withContiguousStorageIfAvailable(body) ?? ContiguousArray(utf8).withUnsafeBufferPointer(body)
    }

    /// Returns whether the text contains a byte.
    package func contains(byte: UInt8) -> Bool { withBytes { $0.contains(byte: byte) } }

    /// Returns whether both texts have the same bytes. `==` treats composed and decomposed letters as equal.
    package func hasSameBytes(as other: String) -> Bool {
        withBytes { left in
            other.withBytes { right in
                guard left.count == right.count else { return false }
                guard let first = left.baseAddress, let second = right.baseAddress else { return true }
                return memcmp(first, second, left.count) == 0
            }
        }
    }
}

extension UnsafeBufferPointer<UInt8> {
    /// Returns whether one of the bytes is `byte`.
    package func contains(byte: UInt8) -> Bool {
        baseAddress.map { memchr($0, Int32(byte), count) != nil } ?? false
    }

    /// Returns whether the first bytes are those of an ASCII literal.
    package func starts(with text: StaticString) -> Bool {
        guard let baseAddress, count >= text.utf8CodeUnitCount else { return false }
        return memcmp(baseAddress, text.utf8Start, text.utf8CodeUnitCount) == 0
    }
}
