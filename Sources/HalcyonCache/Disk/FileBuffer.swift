import Foundation

/// Bytes of a file, given back with their last owner: the buffer itself or a `Data` on it.
///
/// `@unchecked Sendable` because nobody writes them once they are here.
final class FileBuffer: @unchecked Sendable {
    let bytes: UnsafeRawBufferPointer
    private let release: @Sendable (UnsafeRawBufferPointer) -> Void

    /// Memory that `body` fills; nil when there is none, or when `body` says that it could not.
    init?(size: Int, _ body: (UnsafeMutableRawBufferPointer) -> Bool) {
        guard let start = malloc(max(size, 1)) else { return nil }
        guard body(UnsafeMutableRawBufferPointer(start: start, count: size)) else {
            free(start)
            return nil
        }
        bytes = UnsafeRawBufferPointer(start: start, count: size)
        release = { free(UnsafeMutableRawPointer(mutating: $0.baseAddress)) }
    }

    /// A mapping of a whole file; nil when it cannot be mapped.
    init?(mapping file: Int32, size: Int, by files: any FileSystem) {
        guard size > 0, let bytes = try? files.map(file, size: size) else { return nil }
        self.bytes = bytes
        release = { files.unmap($0) }
    }

    deinit {
        release(bytes)
    }

    /// The first bytes without a copy; they keep the whole buffer.
    func prefix(_ count: Int) -> Data {
        guard count > 0, let start = bytes.baseAddress else { return Data() }
        return Data(
            bytesNoCopy: UnsafeMutableRawPointer(mutating: start), count: count,
            deallocator: .custom { _, _ in withExtendedLifetime(self) {} })
    }
}
