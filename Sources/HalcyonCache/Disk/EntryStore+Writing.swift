import Foundation

extension EntryStore {
    /// Writes an entry in place of the former one. If that fails, the former entry is removed too: a caller that has seen
    /// the newer bytes must not get older ones afterwards.
    ///
    /// - Parameters:
    ///   - limit: the maximum size of the entry's file, in bytes.
    ///   - isWanted: called under the `names` lock, just before the rename.
    ///   - onceWritten: called under the same lock, just after the rename.
    ///   - onceFailed: called under the same lock if the entry could not be written, just after the removal of the former
    ///     one.
    /// - Returns: whether the entry was written.
    /// - Throws: `DiskCacheError`. There is no entry then, unless another write has stored one meanwhile.
    func replace(
        _ key: CacheKey, with contents: EntryContents, atMost limit: Int, ifWanted isWanted: () -> Bool = { true },
        onceWritten: () -> Void = {}, onceFailed: () -> Void = {}
    ) throws -> Bool {
        let key = try sealedForWriting(key, onceFailed: onceFailed)
        let entry = naming.file(for: key)
        let changes = names.withLock { $0.changes(in: entry.folder) }
        // Held open, so that no newer file can get its inode number.
        let former = try? files.open(folder.file(entry), for: .reading)
        defer { if let former { try? files.close(former) } }
        let status = former.flatMap { try? files.status(of: $0) } ?? (try? files.status(at: folder.file(entry)))
        do {
            // An entry larger than the whole cache would evict all others and itself.
            guard contents.fileSize(for: key) <= limit else { throw DiskCacheError.tooLarge }
            return try write(
                contents, for: key, over: status.map { ($0, changes) }, ifWanted: isWanted, onceWritten: onceWritten)
        } catch {
            remove(entry, ifStill: { status?.isSameFile(as: $0) ?? false }, alsoThen: onceFailed)
            throw error
        }
    }

    private func sealedForWriting(_ key: CacheKey, onceFailed: () -> Void) throws -> CacheKey {
        do {
            return try sealedForWriting(key)
        } catch {
            names.withLock { _ in onceFailed() }
            throw DiskCacheError(error)
        }
    }

    /// Writes an entry to a temporary name and, if it is still wanted then, renames it to its own.
    ///
    /// - Parameter former: the file that had the name, and the number of changes in the folder by then; nil if not known.
    private func write(
        _ contents: EntryContents, for key: CacheKey, over former: (status: FileStatus, changes: Int)? = nil,
        ifWanted isWanted: () -> Bool, onceWritten: () -> Void = {}
    ) throws -> Bool {
        guard key.bytes.count <= UInt32.max, contents.metadata.count <= UInt32.max else {
            throw DiskCacheError.tooLarge
        }
        let entry = naming.file(for: key)
        let temporary = temporaryFile(in: entry.folder)
        do {
            let file = try create(temporary, in: entry.folder)
            do {
                let status = try write(contents, for: key, to: file)
                let isWritten = try commit(
                    temporary, as: entry, size: contents.fileSize(for: key), over: former, ifWanted: isWanted,
                    onceWritten: onceWritten)
                if isWritten { try synchronizeName(of: entry, status) }
                return isWritten
            } catch {
                try? files.unlink(temporary)
                throw error
            }
        } catch {
            throw DiskCacheError(error)
        }
    }

    /// Synchronizes the folder if `.full` is requested. If that fails, the entry is removed, since the caller is told that
    /// it was not written.
    private func synchronizeName(of entry: EntryFile, _ status: FileStatus?) throws {
        guard synchronization == .full else { return }
        do {
            try files.synchronizeFolder(folder.fanOut(entry.folder))
        } catch {
            remove(entry, ifStill: { status?.isSameFile(as: $0) ?? false })
            throw error
        }
    }

    /// Replaces the metadata of an entry by rewriting its file.
    ///
    /// - Returns: false if there is no entry, or none any more once its file was written.
    /// - Throws: `DiskCacheError`; the entry is unchanged then, or gone if only its name could not be synchronized.
    func update(
        _ key: CacheKey, metadata: Data, replacing formerMetadata: Data? = nil, expiration: StorageExpiration?,
        now: Date
    ) throws -> Bool {
        guard let key = sealed(key) else { return false }
        let entry = naming.file(for: key)
        // Held open until the new file has the name, so that no other file can have this one's inode number by then.
        guard let (file, status) = openEntry(entry, now: now) else { return false }
        defer { try? files.close(file) }
        guard let found = read(file, status, key, now: now, extending: ExpirationExtension.none) else { return false }
        let former = EntryContents(found)
        guard formerMetadata.map({ $0 == former.metadata }) ?? true else { return false }
        guard let contents = EntryContents(former, metadata: metadata, expiration: expiration, now: now) else {
            remove(entry, ifStill: { $0.isSameFile(as: found.file) })
            return false
        }
        let path = folder.file(entry)
        // A removal or a store that came meanwhile takes precedence.
        return try write(
            contents, for: key,
            ifWanted: {
                (try? files.status(at: path))?.isSameFile(as: found.file) ?? false
            })
    }

    /// Creates a file, and the folders above it if they are missing: at first, or because another program has deleted them.
    private func create(_ path: String, in fanOut: UInt8) throws -> Int32 {
        try checkFolder()
        for _ in 0..<3 {
            do {
                return try files.open(path, for: .creating)
            } catch {
                guard error.code == ENOENT else { throw error }
                try createFolders(for: fanOut)
                try checkFolderAgain()
            }
        }
        return try files.open(path, for: .creating)
    }

    func createFolders(for fanOut: UInt8) throws {
        try checkFolderAgain()
        try makeDirectories(folder.path)
        // The tag is only for backup programs; the cache works without it.
        if let tag = try? files.open(folder.tag, for: .creating) {
            _ = try? writeAll(Array(CacheFolder.tagContents.utf8), to: tag)
            try? files.close(tag)
        }
        try makeDirectory(folder.fanOut(fanOut))
    }

    private func makeDirectories(_ path: String) throws {
        do {
            try makeDirectory(path)
        } catch let error as SystemCallError where error.code == ENOENT {
            guard let slash = path.lastIndex(of: "/"), slash != path.startIndex else { throw error }
            try makeDirectories(String(path[..<slash]))
            try makeDirectory(path)
        }
    }

    private func makeDirectory(_ path: String) throws {
        do {
            try files.makeDirectory(path)
            guard synchronization == .full, let slash = path.lastIndex(of: "/") else { return }
            try files.synchronizeFolder(slash == path.startIndex ? "/" : String(path[..<slash]))
        } catch {
            // If it exists, another process was faster, or it is not a folder, which makes the next call fail.
            guard error.code == EEXIST else { throw error }
        }
    }

    /// Writes the entry to its file and closes it.
    ///
    /// - Returns: the status of the file if it is needed later, which is for `.full`; else nil.
    private func write(_ contents: EntryContents, for key: CacheKey, to file: Int32) throws -> FileStatus? {
        var status: FileStatus?
        do {
            try contents.data.withUnsafeBytes { data in
                try contents.trailer(for: key).withUnsafeBytes { try writeAll(data, $0, to: file) }
            }
            try files.setTimes(of: file, accessed: FileTime(contents.storedAt), modified: contents.keptUntil)
            // Otherwise not: a file that a power failure leaves short or empty is detected by its footer and checksums.
            if synchronization != .none { try files.synchronize(file) }
            if synchronization == .full { status = try files.status(of: file) }
        } catch {
            try? files.close(file)
            throw error
        }
        // Some file systems report only here that there was no space.
        try files.close(file)
        return status
    }

    private func writeAll(_ bytes: [UInt8], to file: Int32) throws {
        try bytes.withUnsafeBytes { try writeAll($0, UnsafeRawBufferPointer(start: nil, count: 0), to: file) }
    }

    /// Writes two pieces one behind the other, in one call if the system accepts both whole.
    private func writeAll(
        _ first: UnsafeRawBufferPointer, _ second: UnsafeRawBufferPointer, to file: Int32
    ) throws {
        var (first, second) = (first[...], second[...])
        while !first.isEmpty || !second.isEmpty {
            let count = try files.write(
                file, UnsafeRawBufferPointer(rebasing: first), UnsafeRawBufferPointer(rebasing: second))
            guard count > 0 else { throw SystemCallError(.write, code: EIO) }
            let ofFirst = min(count, first.count)
            first = first.dropFirst(ofFirst)
            second = second.dropFirst(count - ofFirst)
        }
    }

    private func commit(
        _ temporary: String, as entry: EntryFile, size: Int, over known: (status: FileStatus, changes: Int)?,
        ifWanted isWanted: () -> Bool, onceWritten: () -> Void
    ) throws -> Bool {
        let path = folder.file(entry)
        return try names.withLock { sizes in
            guard isWanted() else {
                try? files.unlink(temporary)
                return false
            }
            // If no name in the folder has been added or removed here since then, the former file is still there. Other
            // processes may have changed it, but their writes are not in the sizes anyway.
            let isKnown = known?.changes == sizes.changes(in: entry.folder)
            let former = isKnown ? known?.status : try? files.status(at: path)
            try files.rename(temporary, to: path)
            onceWritten()
            sizes.change(entry.folder, by: size - (former?.kind == .regular ? former?.size ?? 0 : 0))
            sizesChanged(sizes)
            return true
        }
    }
}
