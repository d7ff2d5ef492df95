import Foundation

/// The files behind large mappings, so that another process can be given the file in place of a copy of its bytes.
///
/// Each entry holds a descriptor for as long as the mapping lives; there are at most 64, and files that can be written to
/// through their descriptor are left out.
package enum MappedFiles {
    private struct Entry {
        /// Compared, never read.
        let address: UInt
        let byteCount: Int
        let file: Int32
    }

    /// The least size of a file that is worth a descriptor, in bytes: smaller ones are copied sooner than they are mapped.
    package static let minimumBytes = 2 << 20
    private static let mostEntries = 64
    private static let entries = Lock<[Entry]>([])

    /// Notes that the bytes are those at the beginning of a file.
    package static func add(_ bytes: UnsafeRawBufferPointer, of file: Int32) {
        let flags = fcntl(file, F_GETFL)
        guard bytes.count >= minimumBytes, flags >= 0, flags & O_ACCMODE == O_RDONLY else { return }
        entries.withLock { entries in
            guard entries.count < mostEntries else { return }
            let copy = fcntl(file, F_DUPFD_CLOEXEC, 0)
            if copy >= 0 {
                entries.append(Entry(address: UInt(bitPattern: bytes.baseAddress), byteCount: bytes.count, file: copy))
            }
        }
    }

    /// Notes that a mapping ends.
    package static func remove(_ bytes: UnsafeRawBufferPointer) {
        guard bytes.count >= minimumBytes else { return }
        entries.withLock { entries in
            guard let index = entries.firstIndex(where: { $0.address == UInt(bitPattern: bytes.baseAddress) }) else {
                return
            }
            close(entries.remove(at: index).file)
        }
    }

    /// Returns a descriptor of the file that begins with this data, which the caller closes; nil if none is known.
    package static func descriptor(of data: Data) -> Int32? {
        guard data.count >= minimumBytes else { return nil }
        return data.withUnsafeBytes { bytes in
            entries.withLock { entries -> Int32? in
                let entry = entries.first {
                    $0.address == UInt(bitPattern: bytes.baseAddress) && bytes.count <= $0.byteCount
                }
                let copy = entry.map { fcntl($0.file, F_DUPFD_CLOEXEC, 0) }
                return copy.flatMap { $0 >= 0 ? $0 : nil }
            }
        }
    }
}
