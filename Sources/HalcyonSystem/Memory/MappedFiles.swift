import Foundation

/// The files behind large mappings, so that another process can be given the file in place of a copy of its bytes.
///
/// Each entry holds a descriptor for as long as the mapping lives; there are at most 64, and files that can be written to
/// through their descriptor are left out.
package enum MappedFiles {
    private struct Entry {
        let bytes: UnsafeRawBufferPointer
        let file: Int32
    }

    /// The least size of a file that is worth a descriptor, in bytes: smaller ones are copied sooner than they are mapped.
    package static let minimumBytes = 2 << 20
    private static let mostEntries = 64
    private static let entries = Lock(Entries())

    /// `@unchecked Sendable`: the addresses are compared, never read.
    private struct Entries: @unchecked Sendable {
        var all: [Entry] = []
    }

    /// Notes that the bytes are those at the beginning of a file.
    package static func add(_ bytes: UnsafeRawBufferPointer, of file: Int32) {
        let flags = fcntl(file, F_GETFL)
        guard bytes.count >= minimumBytes, flags >= 0, flags & O_ACCMODE == O_RDONLY else { return }
        entries.withLock { entries in
            guard entries.all.count < mostEntries else { return }
            let copy = fcntl(file, F_DUPFD_CLOEXEC, 0)
            if copy >= 0 { entries.all.append(Entry(bytes: bytes, file: copy)) }
        }
    }

    /// Notes that a mapping ends.
    package static func remove(_ bytes: UnsafeRawBufferPointer) {
        guard bytes.count >= minimumBytes else { return }
        entries.withLock { entries in
            guard let index = entries.all.firstIndex(where: { $0.bytes.baseAddress == bytes.baseAddress }) else {
                return
            }
            close(entries.all.remove(at: index).file)
        }
    }

    /// Returns a descriptor of the file that begins with this data, which the caller closes; nil if none is known.
    package static func descriptor(of data: Data) -> Int32? {
        guard data.count >= minimumBytes else { return nil }
        return data.withUnsafeBytes { bytes in
            entries.withLock { entries -> Int32? in
                let entry = entries.all.first {
                    $0.bytes.baseAddress == bytes.baseAddress && bytes.count <= $0.bytes.count
                }
                let copy = entry.map { fcntl($0.file, F_DUPFD_CLOEXEC, 0) }
                return copy.flatMap { $0 >= 0 ? $0 : nil }
            }
        }
    }
}
