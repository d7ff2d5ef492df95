import Foundation

/// Bytes read from a file, freed with their last owner: the buffer itself or a `Data` on it.
///
/// `@unchecked Sendable` because it is written by its only owner before anybody else sees it, and never again.
final class FileBuffer: @unchecked Sendable {
    let bytes: UnsafeMutableRawBufferPointer

    /// Nil when there is no such memory.
    init?(size: Int) {
        guard let start = malloc(max(size, 1)) else { return nil }
        bytes = UnsafeMutableRawBufferPointer(start: start, count: size)
    }

    deinit {
        free(bytes.baseAddress)
    }

    /// The first bytes without a copy; they keep the whole buffer.
    func prefix(_ count: Int) -> Data {
        guard count > 0, let start = bytes.baseAddress else { return Data() }
        return Data(bytesNoCopy: start, count: count, deallocator: .custom { _, _ in withExtendedLifetime(self) {} })
    }
}
