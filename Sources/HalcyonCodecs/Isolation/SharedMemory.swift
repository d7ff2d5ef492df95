import CHalcyonWorker
import Foundation
import HalcyonImage

/// Memory that a program and its worker share, by a descriptor that is closed with the object.
final class SharedMemory: Sendable {
    let file: Int32
    let byteCount: Int

    /// - Throws: `CodecError.isolationUnavailable` if the system grants no memory or no descriptor.
    private init(_ file: Int32, _ byteCount: Int) throws {
        guard file >= 0 else {
            throw CodecError.isolationUnavailable("no memory to share: \(String(cString: strerror(errno)))")
        }
        (self.file, self.byteCount) = (file, byteCount)
    }

    /// Creates memory of zeros, whose size is fixed.
    convenience init(byteCount: Int) throws {
        try self.init(halcyon_memory_create(max(1, byteCount)), byteCount)
    }

    /// Creates memory with a file's bytes, which nobody can change. Costs a copy of them.
    convenience init(copying data: Data) throws {
        let file = data.withUnsafeBytes { halcyon_memory_copy($0.baseAddress, $0.count) }
        try self.init(file, data.count)
    }

    deinit {
        close(file)
    }

    /// Forbids changes for good and returns the bytes, which the caller has to unmap.
    ///
    /// - Throws: `WireError` if the worker can still write to them.
    func sealed() throws -> UnsafeMutableRawBufferPointer {
        guard halcyon_memory_seal(file) == 0 else { throw WireError.invalid("memory that it can still write to") }
        // A private mapping: a kernel before 6.7 grants no shared one of sealed memory. Nothing writes to it, so its pages are
        // those of the worker.
        guard let bytes = mmap(nil, max(1, byteCount), PROT_READ, MAP_PRIVATE, file, 0), bytes != MAP_FAILED else {
            throw BitmapError.outOfMemory(bytes: byteCount)
        }
        return UnsafeMutableRawBufferPointer(start: bytes, count: byteCount)
    }

    /// Forbids changes for good and makes a bitmap of the bytes, without a copy.
    func bitmap(size: PixelSize, isOpaque: Bool) throws -> Bitmap {
        let bytes = try sealed()
        do {
            return try Bitmap(size: size, isOpaque: isOpaque, received: bytes)
        } catch {
            munmap(bytes.baseAddress, byteCount)
            throw error
        }
    }
}
