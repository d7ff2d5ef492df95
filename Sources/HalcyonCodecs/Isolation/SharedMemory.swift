import CHalcyonWorker
import Foundation
import HalcyonImage
import HalcyonSystem

/// Memory, or a file, by a descriptor that is closed with the object.
final class SharedMemory: Sendable {
    let file: Int32
    let byteCount: Int

    /// - Throws: `CodecError.isolationUnavailable` if the system grants no memory or no descriptor.
    private init(_ file: Int32, _ byteCount: Int) throws {
        guard file >= 0 else { throw Self.unavailable }
        (self.file, self.byteCount) = (file, byteCount)
    }

    /// Creates memory of zeros, whose size is fixed.
    convenience init(byteCount: Int) throws {
        try self.init(halcyon_memory_create(byteCount), byteCount)
    }

    /// The file on the disk that has these bytes, to read, if they are mapped from one; otherwise creates memory with them, which
    /// nobody can change, and which costs a copy.
    convenience init(of data: Data) throws {
        let copied = { data.withUnsafeBytes { halcyon_memory_copy($0.baseAddress, $0.count) } }
        try self.init(MappedFiles.descriptor(of: data) ?? copied(), data.count)
    }

    deinit {
        close(file)
    }

    static var unavailable: CodecError {
        .isolationUnavailable("no memory to share: \(String(cString: strerror(errno)))")
    }
}

/// The memory that a program and one worker share for as long as the worker lives: a word by which a request is cancelled, room for
/// a file, and two windows, through which results come in parts.
///
/// Its size is sealed, so that neither side can take it away from the other. It is touched once and used again and again: memory of
/// its own for each result would cost a fault for each page on both sides, which takes longer than the two copies through a window.
///
/// `@unchecked Sendable`: the address never changes, and one thread at a time uses the worker that the memory belongs to.
final class WorkerArena: @unchecked Sendable {
    static let byteCount = controlBytes + fileBytes + 2 * windowBytes
    private static let controlBytes = 4096
    /// The room for a file; a larger one has memory of its own.
    static let fileBytes = 2 << 20
    /// The bytes of one of the two windows.
    static let windowBytes = 1 << 20

    private let base: UnsafeMutableRawPointer

    /// Maps the memory; nil if the system does not grant that.
    init?(_ file: Int32) {
        guard let base = mmap(nil, Self.byteCount, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0), base != MAP_FAILED
        else {
            return nil
        }
        self.base = base
    }

    deinit {
        munmap(base, Self.byteCount)
    }

    /// The number of the request that nobody wants any more.
    var cancelled: Int {
        get { halcyon_control_read(base.assumingMemoryBound(to: Int.self)) }
        set { halcyon_control_write(base.assumingMemoryBound(to: Int.self), newValue) }
    }

    /// The room for a file.
    var file: UnsafeMutableRawPointer { base + Self.controlBytes }

    /// The window for a part of a result.
    func window(_ part: Int) -> UnsafeMutableRawPointer {
        base + Self.controlBytes + Self.fileBytes + part % 2 * Self.windowBytes
    }

    /// The number of parts of a result.
    static func parts(of byteCount: Int) -> Int { byteCount / windowBytes + (byteCount % windowBytes > 0 ? 1 : 0) }

    /// The bytes of one part of a result.
    static func range(of part: Int, _ byteCount: Int) -> Range<Int> {
        part * windowBytes..<min(byteCount, (part + 1) * windowBytes)
    }
}
