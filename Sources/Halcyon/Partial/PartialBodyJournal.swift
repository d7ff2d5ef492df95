import Foundation
import HalcyonCache
import HalcyonNetwork
import HalcyonSystem

/// The file by which an interrupted body is found again, by this process or another: a label, then the body in frames of
/// length, hash and bytes.
///
/// It is locked while it is written or read. The bytes of a frame are used only if its hash is right, so the file may be
/// truncated, overwritten or replaced by anyone with access to the folder, and a process may be killed while it writes.
final class PartialBodyJournal: Sendable {
    /// The greatest length of a frame that is read: the length of one write, and of the bytes that may be pending in addition.
    private static let longestFrame = 64 << 20
    private static let headerSize = 40

    let name: String
    private let path: String
    private let files: any FileSystem
    private let file: Lock<Int32?>
    private let written: Lock<Int>

    /// Creates the file with a label in it.
    init(_ name: String, in folder: String, label: Data, files: any FileSystem) throws {
        let path = "\(folder)/\(name)"
        let file = try files.open(path, for: .appending)
        (self.name, self.path, self.files) = (name, path, files)
        self.file = Lock(file)
        written = Lock(label.count)
        do {
            try PartialBodyFiles.write(label, to: file, by: files)
        } catch {
            discard()
            throw error
        }
    }

    deinit { close() }

    /// The number of bytes in the file.
    var size: Int { written.withLock { $0 } }

    func append(_ bytes: Data) throws {
        guard let file = file.withLock({ $0 }), !bytes.isEmpty else { return }
        var frame = Data(capacity: Self.headerSize + bytes.count)
        withUnsafeBytes(of: UInt64(bytes.count).littleEndian) { frame.append(contentsOf: $0) }
        frame.append(contentsOf: Array(ContentHash.text(of: bytes).utf8))
        frame.append(bytes)
        try PartialBodyFiles.write(frame, to: file, by: files)
        written.withLock { $0 += frame.count }
    }

    /// Closes the file without removing it.
    func close() {
        let open = file.withLock { file -> Int32? in
            defer { file = nil }
            return file
        }
        if let open { files.release(open) }
    }

    func discard() {
        // The name is removed first: once the file is closed, another process may open it.
        try? files.unlink(path)
        close()
    }

    /// Reads the frames of an open file, up to the first one that is damaged.
    ///
    /// - Parameters:
    ///   - start: the offset of the first frame.
    ///   - take: called with the bytes of each frame.
    static func read(
        _ file: Int32, from start: Int, by files: any FileSystem, _ take: (Data) throws -> Void
    ) rethrows {
        var offset = start
        while let header = PartialBodyFiles.read(headerSize, at: offset, of: file, by: files) {
            let length = header.prefix(8).reversed().reduce(UInt64(0)) { $0 << 8 | UInt64($1) }
            guard length > 0, length <= UInt64(longestFrame),
                // Memory of this length is allocated only if the file has as many bytes.
                let size = try? files.status(of: file).size, size - offset - headerSize >= Int(length),
                let bytes = PartialBodyFiles.read(Int(length), at: offset + headerSize, of: file, by: files),
                Data(ContentHash.text(of: bytes).utf8) == header.dropFirst(8)
            else { return }
            try take(bytes)
            offset += headerSize + Int(length)
        }
    }
}
