import Foundation
import HalcyonSystem

/// The secret with which a folder's files hash credentials: 32 random bytes in a file of the folder that only its owner can
/// access.
///
/// All processes and runs that use the folder share it, and no other folder has it. Its methods block until it was read
/// once.
package final class FolderSecret: Sendable {
    private static let fileName = "CREDENTIAL.KEY"

    private let folder: String
    private let files: any FileSystem
    private let ownership: FolderOwnership?
    private let known = Lock<[UInt8]?>(nil)

    /// Creates the secret of a folder without reading it.
    ///
    /// - Parameter ownership: nil if the files may belong to any user.
    package init(folder: String, files: any FileSystem, ownership: FolderOwnership?) {
        self.folder = folder
        self.files = files
        self.ownership = ownership
    }

    /// Returns the secret; nil while there is none, or if it cannot be read.
    package func value() -> [UInt8]? {
        known.withLock { $0 } ?? read()
    }

    /// Returns the secret, and creates it if there is none. The folder must exist.
    package func made() throws -> [UInt8] {
        if let value = value() { return value }
        let temporary = "\(folder)/.halcyon-\(String(UInt64.random(in: .min ... .max), radix: 16))"
        let file = try files.open(temporary, for: .creating)
        do {
            do {
                try write(KeyedHash.newKey(), to: file)
            } catch {
                try? files.close(file)
                throw error
            }
            try files.close(file)
            try place(temporary)
        } catch {
            try? files.unlink(temporary)
            throw error
        }
        guard let value = read() else { throw SystemCallError(.read, code: EIO) }
        return value
    }

    /// Moves a new secret into its place. If another process was faster, its secret counts, as it may have been used
    /// already. A file that is not a secret is replaced; one that cannot be read now is kept, as it may be readable later.
    private func place(_ temporary: String) throws {
        let path = "\(folder)/\(Self.fileName)"
        do {
            try files.renameExclusively(temporary, to: path)
        } catch {
            if error.code == EEXIST {
                if read() != nil { return try files.unlink(temporary) }
                if let status = try? files.status(at: path), isKey(status) { throw error }
            }
            try files.rename(temporary, to: path)
        }
    }

    private func read() -> [UInt8]? {
        guard let file = try? files.open("\(folder)/\(Self.fileName)", for: .reading) else { return nil }
        defer { try? files.close(file) }
        var bytes = [UInt8](repeating: 0, count: KeyedHash.keyLength)
        guard let status = try? files.status(of: file), isKey(status),
            (try? bytes.withUnsafeMutableBytes { try files.read(file, into: $0, at: 0) }) == bytes.count
        else { return nil }
        return known.withLock { known in
            // The first secret that was read stays, even if the file changes.
            known = known ?? bytes
            return known
        }
    }

    private func isKey(_ status: FileStatus) -> Bool {
        status.kind == .regular && ownership?.isOwn(status) ?? true && status.size == KeyedHash.keyLength
    }

    private func write(_ bytes: [UInt8], to file: Int32) throws {
        try bytes.withUnsafeBytes { bytes in
            var rest = bytes[...]
            while !rest.isEmpty {
                let count = try files.write(file, UnsafeRawBufferPointer(rebasing: rest))
                guard count > 0 else { throw SystemCallError(.write, code: EIO) }
                rest = rest.dropFirst(count)
            }
        }
    }
}
