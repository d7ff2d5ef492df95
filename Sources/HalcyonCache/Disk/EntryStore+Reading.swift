import Foundation

extension EntryStore {
    /// The minimum time between two updates of an entry's times, in seconds, so that a hit seldom writes.
    private static let timeStep = 60
    /// The number of bytes at a file's end that are read first if only its trailer is needed.
    private static let tailSize = 4096
    /// The size in bytes from which the end of a file is checked before memory is allocated for the whole.
    private static let largeFile = 16 << 20
    /// The size in bytes of the largest file that is read on a caller's thread: its checksum and copy take 20 us.
    private static let smallFile = 128 << 10

    /// The result of reading an entry's file.
    private enum Reading {
        case intact(FileBuffer, EntryFooter)
        case damaged
        /// The file could not be read, which does not mean that it is damaged.
        case unreadable
    }

    /// Reads and verifies an entry; returns nil if there is none, if it has expired, or if the file with its name belongs
    /// to another key.
    ///
    /// - Parameter extending: the effect of the access on the entry's expiration; nil leaves its file unchanged.
    func read(_ key: CacheKey, now: Date, extending: ExpirationExtension?) -> StoredEntry? {
        guard let key = sealed(key) else { return nil }
        if let (file, status) = openEntry(naming.file(for: key), now: now) {
            defer { try? files.close(file) }
            if let entry = read(file, status, key, now: now, extending: extending) { return entry }
        }
        return readOnlyFolders.isEmpty ? nil : readElsewhere(key)
    }

    /// Reads and verifies an entry if it is small and the kernel has it in memory, without waiting for a disk.
    ///
    /// - Returns: nil in any other case, also if the file's times have to be written or the file has to be removed: then `read`
    ///   finds out.
    func readCached(_ key: CacheKey, now: Date, extending: ExpirationExtension) -> StoredEntry? {
        // The secret and the owner may have to be read from the disk.
        guard key.user == nil, isOwnerKnown, let file = try? files.openCached(folder.file(naming.file(for: key))) else {
            return nil
        }
        defer { try? files.close(file) }
        guard let status = try? files.status(of: file), Self.canBeEntry(status), isOwn(status),
            status.size <= Self.smallFile, FileTime(now) < status.modified,
            let whole = contents(of: file, from: 0, size: status.size, isCached: true),
            let footer = verifiedFooter(of: whole, status),
            !times(of: status, lifetime: EntryTimes.seconds(footer.lifetime), extending: extending, now: now).areDue
        else { return nil }
        return stored(whole, footer, key, status) { status.modified }
    }

    /// Reads and verifies an entry from its open file.
    func read(
        _ file: Int32, _ status: FileStatus, _ key: CacheKey, now: Date, extending: ExpirationExtension?
    ) -> StoredEntry? {
        switch reading(of: file, status) {
        case .intact(let whole, let footer):
            return stored(whole, footer, key, status) {
                extending.map {
                    touch(file, status, lifetime: EntryTimes.seconds(footer.lifetime), extending: $0, now: now)
                } ?? status.modified
            }
        case .damaged:
            removeDamaged(naming.file(for: key), status)
            return nil
        case .unreadable:
            return nil
        }
    }

    /// Returns the entry from one of the read-only folders, where entries never expire and are never changed or removed.
    private func readElsewhere(_ key: CacheKey) -> StoredEntry? {
        for folder in readOnlyFolders {
            for entry in naming.candidates(for: key) {
                guard let file = try? files.open(folder.file(entry), for: .reading) else { continue }
                defer { try? files.close(file) }
                guard let status = try? files.status(of: file), Self.canBeEntry(status),
                    case .intact(let whole, let footer) = reading(of: file, status),
                    let found = stored(whole, footer, key, status, keptUntil: { .latest })
                else { continue }
                return found
            }
        }
        return nil
    }

    private func reading(of file: Int32, _ status: FileStatus) -> Reading {
        var mapped: FileBuffer?
        if let mappedReads, status.size >= mappedReads {
            // A file that cannot be mapped may still be readable.
            mapped = FileBuffer(mapping: file, size: status.size, by: files)
        }
        if mapped == nil, status.size > Self.largeFile {
            guard let tail = tail(of: file, status) else { return .unreadable }
            guard EntryFooter(endOf: tail.bytes, fileSize: status.size) != nil else { return .damaged }
        }
        guard let whole = mapped ?? contents(of: file, from: 0, size: status.size) else { return .unreadable }
        return verifiedFooter(of: whole, status).map { .intact(whole, $0) } ?? .damaged
    }

    /// Returns the footer of a whole file; nil if the file is damaged.
    private func verifiedFooter(of whole: FileBuffer, _ status: FileStatus) -> EntryFooter? {
        guard let footer = EntryFooter(endOf: whole.bytes, fileSize: status.size),
            EntryFooter.isIntact(trailer: UnsafeRawBufferPointer(rebasing: whole.bytes[footer.payloadLength...])),
            EntryFooter.checksum(UnsafeRawBufferPointer(rebasing: whole.bytes[..<footer.payloadLength]))
                == footer.payloadChecksum
        else { return nil }
        return footer
    }

    /// Returns the verified entry of a file.
    ///
    /// - Returns: nil if it belongs to another key.
    private func stored(
        _ whole: FileBuffer, _ footer: EntryFooter, _ key: CacheKey, _ status: FileStatus, keptUntil: () -> FileTime
    ) -> StoredEntry? {
        let trailer = UnsafeRawBufferPointer(rebasing: whole.bytes[footer.payloadLength...])
        return withExtendedLifetime(whole) {
            let parts = TrailerParts(trailer, footer)
            guard parts.isKey(key) else { return nil }
            let keptUntil = keptUntil()
            let entry = CacheEntry(
                data: whole.prefix(footer.payloadLength), metadata: parts.metadata, extended: parts.extended,
                keptUntil: keptUntil == .latest ? nil : keptUntil.date,
                storedAt: Date(timeIntervalSince1970: EntryTimes.seconds(footer.storedAt)))
            return StoredEntry(
                entry: entry, lifetime: EntryTimes.seconds(footer.lifetime), keptUntil: keptUntil, file: status)
        }
    }

    /// Returns whether there is an entry, by its file's name, size and time alone. Nothing is read, and so nothing is
    /// verified.
    func contains(_ key: CacheKey, now: () -> Date) -> Bool {
        guard let key = sealed(key) else { return false }
        if let status = status(of: key), Self.canBeEntry(status), isOwn(status), mayUseFolder(),
            status.modified.isAfter(now())
        {
            return true
        }
        return readOnlyFolders.isEmpty ? false : containsElsewhere(key)
    }

    private func status(of key: CacheKey) -> FileStatus? {
        guard naming.isPlain else { return try? files.status(at: folder.file(naming.file(for: key))) }
        return folder.withPath(of: EntryName(key)) { try? files.status(atPath: $0) } ?? nil
    }

    private func containsElsewhere(_ key: CacheKey) -> Bool {
        readOnlyFolders.contains { folder in
            naming.candidates(for: key).contains { entry in
                (try? files.status(at: folder.file(entry))).map(Self.canBeEntry) ?? false
            }
        }
    }

    static func canBeEntry(_ status: FileStatus) -> Bool {
        status.kind == .regular && status.size >= EntryFooter.size
    }

    /// Returns whether a file ends with the footer of an entry, whatever its name is.
    func endsAsEntry(_ path: String) -> Bool {
        guard let file = try? files.open(path, for: .reading) else { return false }
        defer { try? files.close(file) }
        guard let status = try? files.status(of: file), Self.canBeEntry(status),
            let end = contents(of: file, from: status.size - EntryFooter.size, size: EntryFooter.size)
        else { return false }
        return withExtendedLifetime(end) { EntryFooter(endOf: end.bytes, fileSize: status.size) != nil }
    }

    /// Returns the information in the trailer of an entry's file; nil if the file has gone or is damaged.
    func info(_ entry: EntryFile) -> DiskCache.EntryInfo? {
        guard let (file, status) = openEntry(entry, now: nil) else { return nil }
        defer { try? files.close(file) }
        return withTrailer(of: file, entry, status) { parts, footer in
            DiskCache.EntryInfo(
                key: key(Array(parts.key), of: entry), metadata: parts.metadata, extended: parts.extended,
                dataSize: footer.payloadLength, fileSize: status.size,
                storedAt: Date(timeIntervalSince1970: EntryTimes.seconds(footer.storedAt)),
                lastAccess: status.accessed.date,
                keptUntil: status.modified == .latest ? nil : status.modified.date)
        }
    }

    /// Returns the key with the name that leads to its file, if that can be inferred: the name is not stored.
    private func key(_ bytes: [UInt8], of entry: EntryFile) -> CacheKey {
        let plain = CacheKey(bytes)
        guard !naming.isPlain, naming.file(for: plain) != entry, let text = String(validating: bytes, as: UTF8.self)
        else { return plain }
        let named = CacheKey(bytes, name: text)
        return naming.file(for: named) == entry ? named : plain
    }

    /// Opens the file with this name if it can be an entry and, unless `now` is nil, has not expired.
    func openEntry(_ entry: EntryFile, now: Date?) -> (file: Int32, status: FileStatus)? {
        guard mayUseFolder(), let file = try? files.open(folder.file(entry), for: .reading) else { return nil }
        guard let status = try? files.status(of: file), status.kind == .regular, isOwn(status),
            now.map({ FileTime($0) < status.modified }) ?? true
        else {
            try? files.close(file)
            return nil
        }
        guard status.size >= EntryFooter.size else {
            try? files.close(file)
            removeDamaged(entry, status)
            return nil
        }
        return (file, status)
    }

    private func withTrailer<Result>(
        of file: Int32, _ entry: EntryFile, _ status: FileStatus, _ body: (TrailerParts, EntryFooter) -> Result
    ) -> Result? {
        guard var tail = tail(of: file, status) else { return nil }
        let footer = EntryFooter(endOf: tail.bytes, fileSize: status.size)
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
                removeDamaged(entry, status)
                return nil
            }
            return body(TrailerParts(trailer, footer), footer)
        }
    }

    private func tail(of file: Int32, _ status: FileStatus) -> FileBuffer? {
        let size = min(status.size, Self.tailSize)
        return contents(of: file, from: status.size - size, size: size)
    }

    /// Reads a number of bytes; returns nil if that fails, which does not mean that the file is damaged.
    ///
    /// - Parameter isCached: whether only bytes in memory are read.
    private func contents(of file: Int32, from start: Int, size: Int, isCached: Bool = false) -> FileBuffer? {
        FileBuffer(size: size) { buffer in
            var done = 0
            while done < size {
                let (rest, offset) = (UnsafeMutableRawBufferPointer(rebasing: buffer[done...]), start + done)
                let read =
                    try? isCached
                    ? files.readCached(file, into: rest, at: offset) : files.read(file, into: rest, at: offset)
                guard let count = read, count > 0 else { return false }
                done += count
            }
            return true
        }
    }

    /// Records an access in the file's times, at most once a minute.
    ///
    /// - Returns: the time until which the entry is kept now.
    private func touch(
        _ file: Int32, _ status: FileStatus, lifetime: TimeInterval, extending: ExpirationExtension, now: Date
    ) -> FileTime {
        let times = times(of: status, lifetime: lifetime, extending: extending, now: now)
        // The file may belong to another user, or the file system may be read-only: the entry is valid without it.
        guard times.areDue,
            (try? files.setTimes(of: file, accessed: FileTime(now), modified: times.keptUntil)) != nil
        else { return status.modified }
        return times.keptUntil
    }

    /// Returns the time until which an access keeps an entry, and whether it is time to write that to the file.
    private func times(
        of status: FileStatus, lifetime: TimeInterval, extending: ExpirationExtension, now: Date
    ) -> (keptUntil: FileTime, areDue: Bool) {
        let extended = extending.lifetime(own: lifetime).map { FileTime(now.addingTimeInterval($0)) }
        let keptUntil = max(status.modified, extended ?? status.modified)
        // A last access in the future comes from a wrong clock, and is corrected.
        let areDue =
            Self.isDue(FileTime(now).seconds, since: status.accessed.seconds)
            || keptUntil.seconds - status.modified.seconds >= Self.timeStep
        return (keptUntil, areDue)
    }

    /// Returns whether two times differ by at least a step. A file's time may be any number.
    private static func isDue(_ seconds: Int, since former: Int) -> Bool {
        let (difference, overflow) = seconds.subtractingReportingOverflow(former)
        return overflow || difference.magnitude >= timeStep
    }
}

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
