import Foundation

/// The same on the caller's thread, which blocks for as long as the disk takes.
extension DiskCache {
    /// The entry for a key; nil without one or past its time. Notes the access.
    ///
    /// - Parameter extending: what that does to the entry's time; nil, the default, is the configuration's.
    public func entrySynchronously(for key: DiskKey, extending: ExpirationExtension? = nil) -> DiskEntry? {
        if let write = staging.write(for: key) { return entry(staged: write) }
        return entryOnDisk(for: key, extending: extending)
    }

    /// Whether there is an entry, as `contains` says it.
    public func containsSynchronously(_ key: DiskKey) -> Bool {
        if !staging.isIdle, let write = staging.write(for: key) { return isCurrent(write.contents) }
        return store.contains(key) { timeSource.roughly }
    }

    /// Writes an entry.
    ///
    /// - Parameter expiration: nil takes the configuration's. For one that is over already nothing is written.
    /// - Throws: `DiskCacheError` when the entry could not be written.
    public func storeSynchronously(
        _ data: Data, metadata: Data = Data(), extended: Data = Data(), for key: DiskKey,
        expiration: StorageExpiration? = nil
    ) throws {
        guard let contents = contents(data, metadata, extended, expiration) else { return }
        let mark = staging.mark
        // This is newer than what was staged before, and takes its place in the same moment; or neither is kept.
        defer { staging.admitWaiting { writeBehind() } }
        _ = try written(contents.fileSize(for: key)) {
            try store.replace(
                key, with: contents, atMost: sizeLimit, onceWritten: { staging.drop(key) },
                onceFailed: { staging.drop(key, upTo: mark) })
        }
    }

    /// Removes an entry, staged or on the disk, but not in a read-only folder.
    public func removeSynchronously(_ key: DiskKey) {
        // Under the lock under which a staged write gets its name: it has been renamed and is removed, or sees that it
        // is not wanted any more.
        store.remove(store.file(for: key), alsoThen: { staging.drop(key) })
        staging.admitWaiting { writeBehind() }
    }
}

extension DiskCache {
    func contents(
        _ data: Data, _ metadata: Data, _ extended: Data, _ expiration: StorageExpiration?
    ) -> EntryContents? {
        EntryContents(
            data: data, metadata: metadata, extended: extended, expiration: expiration ?? configuration.expiration,
            now: timeSource.now)
    }

    func isCurrent(_ contents: EntryContents) -> Bool {
        FileTime(timeSource.now) < contents.keptUntil
    }

    /// What a read finds where a write is staged. Past its time that is nothing: what is on the disk is older still.
    func entry(staged write: StagingArea.Write) -> DiskEntry? {
        let isCurrent = isCurrent(write.contents)
        state.withLock { state in
            if isCurrent { state.statistics.hits += 1 } else { state.statistics.misses += 1 }
        }
        return isCurrent ? write.contents.entry() : nil
    }

    /// The entry as it lies there: not counted, and not noted as an access.
    func peekOnDisk(for key: DiskKey) -> DiskEntry? {
        store.read(key, now: timeSource.now, extending: nil)?.entry
    }

    func entryOnDisk(for key: DiskKey, extending: ExpirationExtension? = nil) -> DiskEntry? {
        let found = store.read(key, now: timeSource.now, extending: extending ?? configuration.accessExtension)
        state.withLock { state in
            if found == nil { state.statistics.misses += 1 } else { state.statistics.hits += 1 }
        }
        return found?.entry
    }

    /// Counts a write, and starts a trim behind it when the limit is passed.
    func written(_ bytes: Int, _ write: () throws -> Bool) throws -> Bool {
        do {
            let isWritten = try write()
            if isWritten {
                state.withLock { state in
                    state.statistics.writes += 1
                    state.writtenSinceScan += bytes
                }
                startTrimIfNeeded()
                startSweeping()
            }
            return isWritten
        } catch {
            let error = DiskCacheError(error)
            state.withLock { state in
                state.statistics.failedWrites += 1
                state.statistics.lastWriteError = error
            }
            throw error
        }
    }

    /// Writes what is staged, one entry a turn, so that reads come in between.
    func writeBehind() {
        threads.submit(priority: .low) { [self] in
            guard let write = staging.next() else { return }
            // A failure is counted; nobody waits to hear of it.
            _ = try? written(write.cost) {
                try store.replace(
                    write.key, with: write.contents, atMost: sizeLimit, ifWanted: { staging.isInFlightWanted })
            }
            staging.finishInFlight { [self] in writeBehind() }
            writeBehind()
        }
    }

    /// Runs blocking work on the cache's threads, whether or not the task is cancelled.
    func perform<Value: Sendable>(_ body: @escaping @Sendable () -> Value) async -> Value {
        await withCheckedContinuation { continuation in
            threads.submit { continuation.resume(returning: body()) }
        }
    }
}
