import Foundation
import HalcyonSystem
import Synchronization

/// The blocking core of the disk cache: one file an entry, in 256 folders, and the file system as the only index.
///
/// A reader needs no lock, since a file appears whole by its rename and its bytes never change. What replaces or
/// removes a name looks first whether the right thing is there, and so holds `names` over that look and the act.
final class EntryStore: Sendable {
    let folder: CacheFolder
    let files: any FileSystem
    /// Held while a file gets or loses its name; never while bytes are read or written.
    let names = Lock(FolderSizes())
    /// Files removed because they were not whole.
    let damaged = Atomic<Int>(0)
    /// The total of `names`, to be had without waiting for a file to get its name.
    private let totalSize = Atomic<Int>(0)

    /// Times are written at most this often per entry, so that a hit seldom writes.
    private static let timeStep = 60
    /// How much of a file's end is read at first where only its trailer is wanted.
    private static let tailSize = 4096
    /// From this size on the end is looked at before memory is taken for the whole.
    private static let largeFile = 16 << 20

    init(folder: CacheFolder, files: any FileSystem) {
        self.folder = folder
        self.files = files
    }

    /// What the files occupy, as far as is known.
    var estimatedSize: Int { max(0, totalSize.load(ordering: .relaxed)) }

    /// Publishes the total after a change. Call it while `names` is held.
    func sizesChanged(_ sizes: FolderSizes) {
        totalSize.store(sizes.total, ordering: .relaxed)
    }

    // MARK: Reading

    /// Reads and verifies an entry; nil without one, past its time, or when another key's has the same name.
    ///
    /// - Parameter extending: what the access does to the entry's time; nil leaves its file as it is.
    func read(_ key: DiskKey, now: Date, extending: ExpirationExtension?) -> StoredEntry? {
        guard let (file, status) = openEntry(EntryName(key), now: now) else { return nil }
        defer { try? files.close(file) }
        return read(file, status, key, now: now, extending: extending)
    }

    /// The same from the entry's file, open.
    func read(
        _ file: Int32, _ status: FileStatus, _ key: DiskKey, now: Date, extending: ExpirationExtension?
    ) -> StoredEntry? {
        let name = EntryName(key)
        if status.size > Self.largeFile {
            guard let tail = tail(of: file, status) else { return nil }
            guard EntryFooter(endOf: UnsafeRawBufferPointer(tail.bytes), fileSize: status.size) != nil else {
                removeDamaged(name, status)
                return nil
            }
        }
        guard let whole = contents(of: file, from: 0, size: status.size) else { return nil }
        let bytes = UnsafeRawBufferPointer(whole.bytes)
        guard let footer = EntryFooter(endOf: bytes, fileSize: status.size),
            case let (payload, trailer) = (bytes[..<footer.payloadLength], bytes[footer.payloadLength...]),
            EntryFooter.isIntact(trailer: UnsafeRawBufferPointer(rebasing: trailer)),
            EntryFooter.checksum(UnsafeRawBufferPointer(rebasing: payload)) == footer.payloadChecksum
        else {
            removeDamaged(name, status)
            return nil
        }
        let parts = TrailerParts(UnsafeRawBufferPointer(rebasing: trailer), footer)
        guard parts.isKey(key) else { return nil }
        let lifetime = EntryTimes.seconds(footer.lifetime)
        let keptUntil =
            extending.map { touch(file, status, lifetime: lifetime, extending: $0, now: now) } ?? status.modified
        let entry = DiskEntry(
            data: whole.prefix(footer.payloadLength), metadata: parts.metadata, extended: parts.extended,
            keptUntil: keptUntil == .latest ? nil : keptUntil.date,
            storedAt: Date(timeIntervalSince1970: EntryTimes.seconds(footer.storedAt)))
        return StoredEntry(entry: entry, lifetime: lifetime, keptUntil: keptUntil, file: status)
    }

    /// Whether there is an entry, from its trailer alone. Neither extends its time nor counts as an access.
    func contains(_ key: DiskKey, now: Date) -> Bool {
        let name = EntryName(key)
        guard let (file, status) = openEntry(name, now: now) else { return false }
        defer { try? files.close(file) }
        return withTrailer(of: file, name, status) { parts, _ in parts.isKey(key) } ?? false
    }

    /// All that the trailer of an entry's file says; nil for one that has gone or is not whole.
    func info(_ name: EntryName) -> DiskCache.EntryInfo? {
        guard let (file, status) = openEntry(name, now: nil) else { return nil }
        defer { try? files.close(file) }
        return withTrailer(of: file, name, status) { parts, footer in
            DiskCache.EntryInfo(
                key: DiskKey(parts.key), metadata: parts.metadata, extended: parts.extended,
                dataSize: footer.payloadLength, fileSize: status.size,
                storedAt: Date(timeIntervalSince1970: EntryTimes.seconds(footer.storedAt)),
                lastAccess: status.accessed.date,
                keptUntil: status.modified == .latest ? nil : status.modified.date)
        }
    }

    /// Opens the file with this name if it can be an entry and, unless `now` is nil, is within its time.
    func openEntry(_ name: EntryName, now: Date?) -> (file: Int32, status: FileStatus)? {
        guard let file = try? files.open(folder.file(name), for: .reading) else { return nil }
        guard let status = try? files.status(of: file), status.kind == .regular,
            now.map({ FileTime($0) < status.modified }) ?? true
        else {
            try? files.close(file)
            return nil
        }
        guard status.size >= EntryFooter.size else {
            try? files.close(file)
            removeDamaged(name, status)
            return nil
        }
        return (file, status)
    }

    private func withTrailer<Result>(
        of file: Int32, _ name: EntryName, _ status: FileStatus, _ body: (TrailerParts, EntryFooter) -> Result
    ) -> Result? {
        guard var tail = tail(of: file, status) else { return nil }
        let footer = EntryFooter(endOf: UnsafeRawBufferPointer(tail.bytes), fileSize: status.size)
        if let footer, footer.trailerLength > tail.bytes.count {
            guard let longer = contents(of: file, from: footer.payloadLength, size: footer.trailerLength) else {
                return nil
            }
            tail = longer
        }
        return withExtendedLifetime(tail) {
            guard let footer,
                case let trailer = UnsafeRawBufferPointer(rebasing: tail.bytes.suffix(footer.trailerLength)),
                EntryFooter.isIntact(trailer: trailer)
            else {
                removeDamaged(name, status)
                return nil
            }
            return body(TrailerParts(trailer, footer), footer)
        }
    }

    private func tail(of file: Int32, _ status: FileStatus) -> FileBuffer? {
        let size = min(status.size, Self.tailSize)
        return contents(of: file, from: status.size - size, size: size)
    }

    /// Reads so many bytes; nil when they cannot be had, which says nothing about the file.
    private func contents(of file: Int32, from start: Int, size: Int) -> FileBuffer? {
        guard let buffer = FileBuffer(size: size) else { return nil }
        var done = 0
        while done < size {
            let rest = UnsafeMutableRawBufferPointer(rebasing: buffer.bytes[done...])
            guard let count = try? files.read(file, into: rest, at: start + done), count > 0 else { return nil }
            done += count
        }
        return buffer
    }

    /// Notes an access in the file's times, at most once a minute.
    ///
    /// - Returns: until when the entry is kept now.
    private func touch(
        _ file: Int32, _ status: FileStatus, lifetime: TimeInterval, extending: ExpirationExtension, now: Date
    ) -> FileTime {
        let access = FileTime(now)
        let extended = extending.lifetime(own: lifetime).map { FileTime(now.addingTimeInterval($0)) }
        let keptUntil = max(status.modified, extended ?? status.modified)
        // A last access in the future comes from a clock that was wrong, and is put right.
        let isDue =
            abs(access.seconds - status.accessed.seconds) >= Self.timeStep
            || keptUntil.seconds - status.modified.seconds >= Self.timeStep
        // Not our file, or a file system that is read-only: the entry is as good without.
        guard isDue, (try? files.setTimes(of: file, accessed: access, modified: keptUntil)) != nil else {
            return status.modified
        }
        return keptUntil
    }

    private func removeDamaged(_ name: EntryName, _ status: FileStatus) {
        if remove(name, ifStill: { $0.isSameFile(as: status) }) != nil {
            damaged.wrappingAdd(1, ordering: .relaxed)
        }
    }

    // MARK: Removing

    /// Removes an entry's file if it is what the caller thinks.
    ///
    /// - Parameter alsoThen: done under the same lock, before the file goes.
    /// - Returns: the bytes it had; nil when nothing was removed.
    @discardableResult
    func remove(
        _ name: EntryName, ifStill isIt: (FileStatus) -> Bool = { _ in true }, alsoThen: () -> Void = {}
    ) -> Int? {
        let path = folder.file(name)
        return names.withLock { sizes in
            alsoThen()
            guard let status = try? files.status(at: path), status.kind != .directory, isIt(status),
                (try? files.unlink(path)) != nil
            else { return nil }
            guard status.kind == .regular else { return 0 }
            sizes.change(name.folder, by: -status.size)
            sizesChanged(sizes)
            return status.size
        }
    }
}
