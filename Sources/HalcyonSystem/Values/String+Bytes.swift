import Glibc

extension String {
    /// Returns whether the text contains a byte, as fast as the memory is read: a search through `utf8` costs a call a byte, and
    /// the texts of URLs are searched at each look-up.
    package func contains(byte: UInt8) -> Bool {
        utf8.withContiguousStorageIfAvailable { bytes in
            bytes.baseAddress.map { memchr($0, Int32(byte), bytes.count) != nil } ?? false
        } ?? utf8.contains(byte)
    }
}
