import Foundation

/// The bytes of a file, released with their last owner: the buffer itself or a `Data` that refers to it.
///
/// `@unchecked Sendable` because the bytes are never written after `init`.
final class FileBuffer: @unchecked Sendable {
    let bytes: UnsafeRawBufferPointer
    private let release: @Sendable (UnsafeRawBufferPointer) -> Void

    /// Allocates memory that `body` fills; nil if there is none, or if `body` returns false.
    init?(size: Int, _ body: (UnsafeMutableRawBufferPointer) -> Bool) {
        guard let start = malloc(max(size, 1)) else { return nil }
        guard body(UnsafeMutableRawBufferPointer(start: start, count: size)) else {
            free(start)
            return nil
        }
        bytes = UnsafeRawBufferPointer(start: start, count: size)
        release = { free(UnsafeMutableRawPointer(mutating: $0.baseAddress)) }
    }

    /// Maps a whole file; nil if it cannot be mapped.
    init?(mapping file: Int32, size: Int, by files: any FileSystem) {
        guard size > 0, let bytes = try? files.map(file, size: size) else { return nil }
        self.bytes = bytes
        release = { files.unmap($0) }
    }

    deinit {
        release(bytes)
    }

    /// Returns the first bytes without a copy; they keep the whole buffer alive.
    func prefix(_ count: Int) -> Data {
        guard count > 0, let start = bytes.baseAddress else { return Data() }
        return Data(
            bytesNoCopy: UnsafeMutableRawPointer(mutating: start), count: count,
            deallocator: .custom { _, _ in withExtendedLifetime(self) {} })
    }
}
