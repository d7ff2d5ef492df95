import Foundation
import HalcyonSystem

/// Bytes on the disk, one self-describing file per entry.
///
/// The file system is the index: nothing has to be loaded or repaired, several processes may use one folder, and a
/// crash leaves every entry whole or absent. A read verifies the whole key and two checksums, so that it returns the
/// bytes that were stored or nothing. Nothing touches the disk before the first call. Blocking work runs on threads of
/// the cache's own; the methods named `…Synchronously` run on the caller's.
public final class DiskCache: Sendable {
    /// Where the files lie. Made when the first entry is written, for its owner alone (0700).
    public let folder: URL
    public let configuration: Configuration
    let store: EntryStore
    let staging: StagingArea
    let timeSource: TimeSource
    let threads: ThreadPool
    let state = Lock(State())

    struct State {
        var statistics = Statistics()
        /// The limit that holds when the configuration has none, once it is known.
        var standardSizeLimit: Int?
        /// When the last scan of the whole folder ended.
        var lastScan: Date?
        /// Bytes.
        var writtenSinceScan = 0
        var trimming: Task<Void, Never>?
        /// From the first write on.
        var sweeping: RepeatingWork?
    }

    public convenience init(
        folder: URL, configuration: Configuration = Configuration(),
        fileSystem: any FileSystem = PosixFileSystem(), timeSource: TimeSource = .system
    ) {
        self.init(
            folder: folder, configuration: configuration, fileSystem: fileSystem, timeSource: timeSource,
            threads: ExecutionDomains.io)
    }

    /// - Parameter threads: where blocking work runs.
    package init(
        folder: URL, configuration: Configuration, fileSystem: any FileSystem, timeSource: TimeSource,
        threads: ThreadPool
    ) {
        self.folder = folder
        self.configuration = configuration
        self.timeSource = timeSource
        self.threads = threads
        store = EntryStore(folder: CacheFolder(folder), files: fileSystem, configuration: configuration)
        staging = StagingArea(limit: configuration.stagingLimit)
    }

    /// The folder that the XDG base directory specification gives a program: `$XDG_CACHE_HOME/<application>`, else
    /// `~/.cache/<application>`.
    public static func defaultFolder(for application: String) -> URL {
        CacheFolder.standard(for: application, environment: ProcessInfo.processInfo.environment)
    }

    // MARK: Reading

    /// The entry for a key; nil without one, past its time, or when the task is cancelled first.
    ///
    /// Staged entries are returned at once. An access is noted and extends the entry's time, at most once a minute.
    /// - Parameter extending: what it does to the entry's time; nil, the default, is the configuration's.
    public func entry(for key: DiskKey, extending: ExpirationExtension? = nil) async -> DiskEntry? {
        await entry(for: key, extending: extending, ticket: WorkTicket())
    }

    /// The same, at the ticket's priority; nil when the ticket is cancelled first. A cancelled task cancels it.
    package func entry(
        for key: DiskKey, extending: ExpirationExtension? = nil, ticket: WorkTicket
    ) async -> DiskEntry? {
        if let write = staging.write(for: key) { return entry(staged: write) }
        return try? await threads.run(ticket: ticket) { [self] _ in entryOnDisk(for: key, extending: extending) }
    }

    /// The entry for a key, without a trace: neither its last access nor its time changes, nor the statistics.
    package func peek(_ key: DiskKey, ticket: WorkTicket = WorkTicket()) async -> DiskEntry? {
        if let write = staging.write(for: key) { return isCurrent(write.contents) ? write.contents.entry() : nil }
        return try? await threads.run(ticket: ticket) { [self] _ in peekOnDisk(for: key) }
    }

    /// Whether there is an entry that is within its time. Asking does not extend that.
    ///
    /// This asks the file system for the file's size and time, and reads nothing: that the file is whole, and this key's and
    /// not another's with the same hash, only a read can tell.
    public func contains(_ key: DiskKey) async -> Bool {
        if let write = staging.write(for: key) { return isCurrent(write.contents) }
        let found = try? await threads.run { [self] _ in store.contains(key) { timeSource.roughly } }
        return found ?? false
    }

    /// Where the entry of a key lies, or would lie once it is written. For an entry of one user a file may have to be read.
    public func path(for key: DiskKey) -> URL {
        URL(filePath: store.folder.file(store.file(for: key)), directoryHint: .notDirectory)
    }

    // MARK: Writing

    /// Writes an entry and returns once it is on the disk.
    ///
    /// - Parameter expiration: nil takes the configuration's. For one that is over already nothing is written.
    /// - Throws: `DiskCacheError` when the entry could not be written; `CancellationError` when the task was cancelled
    ///   before that began.
    public func store(
        _ data: Data, metadata: Data = Data(), extended: Data = Data(), for key: DiskKey,
        expiration: StorageExpiration? = nil
    ) async throws {
        try await threads.run { [self] _ in
            try storeSynchronously(
                data, metadata: metadata, extended: extended, for: key, expiration: expiration)
        }
    }

    /// Takes an entry to be written behind, and returns at once. Reads find it from now on.
    ///
    /// When `stagingLimit` is reached this waits, without blocking a thread, until there is room. A write that fails
    /// later only counts in `statistics`.
    /// - Returns: false when nothing was staged: the task was cancelled before there was room, or the expiration is
    ///   over already.
    @discardableResult
    public func stage(
        _ data: Data, metadata: Data = Data(), extended: Data = Data(), for key: DiskKey,
        expiration: StorageExpiration? = nil
    ) async -> Bool {
        guard let contents = contents(data, metadata, extended, expiration) else { return false }
        return await staging.stage(contents, for: key) { [self] in writeBehind() }
    }

    /// Stages an entry if there is room for it now; otherwise it is not cached.
    @discardableResult
    public func stageIfRoom(
        _ data: Data, metadata: Data = Data(), extended: Data = Data(), for key: DiskKey,
        expiration: StorageExpiration? = nil
    ) -> Bool {
        guard let contents = contents(data, metadata, extended, expiration) else { return false }
        return staging.tryStage(contents, for: key) { writeBehind() }
    }

    /// Gives an entry other metadata, as after a 304; its bytes, extended data and time of storing stay.
    ///
    /// - Parameters:
    ///   - former: what the entry must have for it, since another one may have taken its place meanwhile; nil takes any.
    ///   - expiration: how long the entry is kept from now on; nil leaves its time as it is.
    /// - Returns: false when there is no such entry.
    /// - Throws: `DiskCacheError` when it could not be written; the entry is as it was then.
    @discardableResult
    public func updateMetadata(
        _ metadata: Data, for key: DiskKey, replacing former: Data? = nil, expiration: StorageExpiration? = nil
    ) async throws -> Bool {
        let now = timeSource.now
        let staged = staging.write(for: key)
        if let former, let staged, staged.contents.metadata != former { return false }
        if let expiration, expiration.lifetime(from: now) <= 0 {
            await remove(key)
            return false
        }
        // Past its time already, and what is on the disk is older.
        if let staged, !isCurrent(staged.contents) { return false }
        let isStaged = staging.replace(key, start: { writeBehind() }) { contents in
            guard former.map({ $0 == contents.metadata }) ?? true else { return nil }
            return EntryContents(contents, metadata: metadata, expiration: expiration, now: now)
        }
        if isStaged { return true }
        return try await threads.run { [self] _ in
            try written(0) {
                try store.update(key, metadata: metadata, replacing: former, expiration: expiration, now: now)
            }
        }
    }

    /// Returns when everything staged so far is on the disk, or has failed to get there.
    public func flush() async {
        await staging.flush()
    }

    // MARK: Removing

    /// Removes an entry, staged or on the disk, but not in a read-only folder. It is done even when the task is cancelled.
    public func remove(_ key: DiskKey) async {
        await perform { [self] in removeSynchronously(key) }
    }

    /// What the cache removes by itself from now on: expired, trimmed, all or damaged, file by file. Not what `remove`
    /// removes, nor what another entry takes the place of.
    ///
    /// Each use of this is another reader. One that is slow gets the newest 64 events; the stream ends with the cache.
    public var removals: AsyncStream<RemovalEvent> { store.removals.stream() }

    /// Flushes and trims, as a program does before it ends.
    ///
    /// - Returns: false when the time was not enough; the rest goes on behind.
    public func shutdown(within limit: Duration) async -> Bool {
        let work = Task { [self] in
            await flush()
            await trimIfNeeded()
        }
        return await withCheckedContinuation { continuation in
            let answer = OneShot(continuation)
            let timer = Task {
                try? await Task.sleep(for: limit.forTimer)
                answer.resume(returning: false)
            }
            Task {
                await work.value
                answer.resume(returning: true)
                timer.cancel()
            }
        }
    }

    /// How the cache has fared.
    public var statistics: Statistics {
        var statistics = state.withLock { $0.statistics }
        statistics.damaged = store.damaged.load(ordering: .relaxed)
        statistics.stagedBytes = staging.bytes
        return statistics
    }
}
