import Foundation
import HalcyonSystem

/// A cache of bytes on the disk, with one self-describing file per entry.
///
/// The file system is the index: nothing has to be loaded or repaired, several processes may use one folder, and a crash
/// leaves every entry complete or absent. A read verifies the whole key and two checksums, so that it returns the bytes
/// that were stored or nothing. The disk is not accessed before the first call. Blocking work runs on the cache's own
/// threads; the methods named `…Synchronously` run on the caller's thread.
public final class DiskCache: Sendable {
    /// The folder of the files. It is created when the first entry is written, with access for its owner only (0700).
    public let folder: URL
    /// The configuration with which the cache was made. The size limit, the expiration, the effect of an access on it and the
    /// interval of the sweeps may have been changed since by the properties of the cache itself.
    public let configuration: Configuration
    let store: EntryStore
    let staging: StagingArea
    let timeSource: TimeSource
    let threads: ThreadPool
    let state: Lock<State>
    /// Held by the thread that reads an entry to write it anew.
    private let rewriting = Lock(())

    struct State {
        var statistics = Statistics()
        var sizeLimit: Int?
        var expiration: StorageExpiration
        var accessExtension: ExpirationExtension
        var sweepInterval: Duration?
        /// The size limit in effect if none was set, once it is known.
        var standardSizeLimit: Int?
        /// The time at which the last scan of the whole folder ended.
        var lastScan: Date?
        /// The number of bytes written since the last scan.
        var writtenSinceScan = 0
        var trimming: Task<Void, Never>?
        /// Whether the limit was lowered since the last turn of a trim began. A trim then scans the folder, since its size may not
        /// be known yet.
        var isTrimRequested = false
        /// Whether anything was read or written, and the sweeps are due at their interval, if there is one.
        var isInUse = false
        /// The timer of the sweeps.
        var sweeping: RepeatingWork?
        /// Whether the timer has run for the first time, after a shorter while than later.
        var hasSwept = false

        init(_ configuration: Configuration) {
            (sizeLimit, sweepInterval) = (configuration.sizeLimit, configuration.sweepInterval)
            (expiration, accessExtension) = (configuration.expiration, configuration.accessExtension)
        }
    }

    /// Creates a cache in a folder, which is made with the first entry.
    ///
    /// - Parameter timeSource: the clock by which entries expire; the system's by default.
    public convenience init(
        folder: URL, configuration: Configuration = Configuration(), timeSource: TimeSource = .system
    ) {
        self.init(
            folder: folder, configuration: configuration, fileSystem: PosixFileSystem(), timeSource: timeSource)
    }

    /// Creates a cache that calls a file system of one's own.
    package convenience init(
        folder: URL, configuration: Configuration = Configuration(), fileSystem: any FileSystem,
        timeSource: TimeSource = .system
    ) {
        self.init(
            folder: folder, configuration: configuration, fileSystem: fileSystem, timeSource: timeSource,
            threads: ThreadPools.io)
    }

    /// Creates a cache whose blocking work runs on the given threads.
    ///
    /// - Parameter threads: the threads for blocking work.
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
        state = Lock(State(configuration))
    }

    /// Returns the cache folder of a program according to the XDG base directory specification:
    /// `$XDG_CACHE_HOME/<application>`, else `~/.cache/<application>`.
    public static func defaultFolder(for application: String) -> URL {
        CacheFolder.standard(for: application, environment: ProcessInfo.processInfo.environment)
    }

    // MARK: Reading

    /// Returns the entry for a key; nil if there is none, if it has expired, or if the task is cancelled first.
    ///
    /// Staged entries are returned at once, and so are entries of at most 128 KiB that the kernel has in memory. The
    /// access is recorded and extends the entry's expiration, at most once a minute.
    /// - Parameter extending: the effect of the access on the entry's expiration; nil, the default, is the configuration's.
    public func entry(for key: CacheKey, extending: ExpirationExtension? = nil) async -> CacheEntry? {
        await entry(for: key, extending: extending, ticket: WorkTicket())
    }

    /// Returns the entry for a key, at the ticket's priority; nil also if the ticket is cancelled first. A cancelled task
    /// cancels the ticket.
    package func entry(
        for key: CacheKey, extending: ExpirationExtension? = nil, ticket: WorkTicket
    ) async -> CacheEntry? {
        if let write = staging.write(for: key) { return entry(staged: write) }
        if !Task.isCancelled, !ticket.isCancelled, let entry = entryInMemory(for: key, extending: extending) {
            return entry
        }
        return try? await threads.run(ticket: ticket) { [self] _ in entryOnDisk(for: key, extending: extending) }
    }

    /// Returns the entry for a key without changing its last access, its expiration or the statistics.
    package func peek(_ key: CacheKey, ticket: WorkTicket = WorkTicket()) async -> CacheEntry? {
        if let write = staging.write(for: key) { return isCurrent(write.contents) ? write.contents.entry() : nil }
        return try? await threads.run(ticket: ticket) { [self] _ in peekOnDisk(for: key) }
    }

    /// Returns whether there is an entry that has not expired. This does not extend its expiration.
    ///
    /// It asks the file system for the file's size and times, and reads nothing: only a read can tell whether the file is
    /// complete and belongs to this key, not to another with the same hash.
    public func contains(_ key: CacheKey) async -> Bool {
        if let write = staging.write(for: key) { return isCurrent(write.contents) }
        let found = try? await threads.run { [self] _ in store.contains(key) { timeSource.roughly } }
        return found ?? false
    }

    /// Returns the path of the file of a key's entry, whether or not it has been written. For the entry of one user, the
    /// folder's secret may have to be read from its file.
    public func path(for key: CacheKey) -> URL {
        URL(filePath: store.folder.file(store.file(for: key)), directoryHint: .notDirectory)
    }

    // MARK: Writing

    /// Writes an entry and returns once it is on the disk.
    ///
    /// - Parameter expiration: nil takes the configuration's. If it has passed already, nothing is written.
    /// - Throws: `DiskCacheError` if the entry could not be written; `CancellationError` if the task was cancelled before
    ///   the write began.
    public func store(
        _ data: Data, metadata: Data = Data(), extended: Data = Data(), for key: CacheKey,
        expiration: StorageExpiration? = nil
    ) async throws {
        try await threads.run { [self] _ in
            try storeSynchronously(
                data, metadata: metadata, extended: extended, for: key, expiration: expiration)
        }
    }

    /// Stages an entry to be written in the background, and returns at once. Reads find it from now on.
    ///
    /// If `stagingLimit` is reached, this waits, without blocking a thread, until there is room. A write that fails later
    /// is only counted in `statistics`.
    /// - Returns: false if nothing was staged: the task was cancelled before there was room, or the expiration has passed
    ///   already.
    @discardableResult
    public func stage(
        _ data: Data, metadata: Data = Data(), extended: Data = Data(), for key: CacheKey,
        expiration: StorageExpiration? = nil
    ) async -> Bool {
        guard let contents = contents(data, metadata, extended, expiration) else { return false }
        return await staging.stage(contents, for: key) { [self] in writeBehind() }
    }

    /// Stages an entry if there is room for it now; otherwise it is not cached.
    ///
    /// - Returns: whether the entry was staged.
    @discardableResult
    package func stageIfRoom(
        _ data: Data, metadata: Data = Data(), extended: Data = Data(), for key: CacheKey,
        expiration: StorageExpiration? = nil
    ) -> Bool {
        guard let contents = contents(data, metadata, extended, expiration) else { return false }
        return staging.tryStage(contents, for: key) { writeBehind() }
    }

    /// Replaces the metadata of an entry, as after a 304 response; its bytes, extended data and time of storing stay.
    ///
    /// - Parameters:
    ///   - former: the metadata that the entry must have, since another entry may have replaced it meanwhile; nil allows
    ///     any.
    ///   - expiration: the new expiration, counted from now; nil leaves it unchanged.
    /// - Returns: false if there is no such entry.
    /// - Throws: `DiskCacheError` if it could not be written; the entry is unchanged then, or gone if only its new name
    ///   could not be synchronized.
    @discardableResult
    public func updateMetadata(
        _ metadata: Data, for key: CacheKey, replacing former: Data? = nil, expiration: StorageExpiration? = nil
    ) async throws -> Bool {
        let now = timeSource.now
        let staged = staging.write(for: key)
        if let former, let staged, staged.contents.metadata != former { return false }
        if let expiration, expiration.lifetime(from: now) <= 0 {
            await remove(key)
            return false
        }
        // The staged write has expired already, and the entry on the disk is older.
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

    /// Stages an entry of metadata alone that is made from its former one, one such change at a time in this process.
    ///
    /// - Parameter change: returns the new metadata; nil leaves the entry as it is. Nil is given if there is none.
    package func changeMetadata(
        for key: CacheKey, expiration: StorageExpiration, _ change: @escaping @Sendable (Data?) -> Data?
    ) async {
        await perform { [self] in
            rewriting.withLock { _ in
                let staged = staging.write(for: key).map { isCurrent($0.contents) ? $0.contents.entry() : nil }
                guard let metadata = change((staged ?? peekOnDisk(for: key))?.metadata) else { return }
                stageIfRoom(Data(), metadata: metadata, for: key, expiration: expiration)
            }
        }
    }

    /// Returns when every entry staged so far is on the disk or has failed to be written.
    public func flush() async {
        await staging.flush()
    }

    // MARK: Removing

    /// Removes an entry, staged or on the disk, but not in a read-only folder. This is completed even if the task is
    /// cancelled.
    public func remove(_ key: CacheKey) async {
        await perform { [self] in removeSynchronously(key) }
    }

    /// The entries that the cache removes itself from now on: expired, trimmed, damaged, or by `removeAll()`, file by file.
    /// Entries that `remove` removes, or that another entry replaces, are not included.
    ///
    /// Each access to this property adds a reader. A slow reader gets the newest 64 events; the stream ends with the cache.
    public var removals: AsyncStream<RemovalEvent> { store.removals.stream() }

    /// Flushes, trims and sweeps, for use before a program ends.
    ///
    /// The sweep is left out if the cache was not used, if `sweepInterval` is nil, or if less than that has passed since any
    /// process swept the folder, so that a short program that is run again and again does not scan it each time. A sweep takes
    /// about 50 ms for 10,000 entries.
    ///
    /// - Returns: false if the time was not enough to flush and to trim. Anything that is not done by then, such as a sweep,
    ///   continues in the background.
    public func shutdown(within limit: Duration) async -> Bool {
        let isWritten = Lock(false)
        let work = Task { [self] in
            await flush()
            await trimIfNeeded()
            isWritten.withLock { $0 = true }
            await sweepAtEnd()
        }
        return await withCheckedContinuation { continuation in
            let answer = OneShot(continuation)
            let timer = Task {
                try? await Task.sleep(for: limit.forTimer)
                answer.resume(returning: isWritten.withLock { $0 })
            }
            Task {
                await work.value
                answer.resume(returning: true)
                timer.cancel()
            }
        }
    }

    /// The counters of the cache.
    public var statistics: Statistics {
        var statistics = state.withLock { $0.statistics }
        statistics.damaged = store.damaged.load(ordering: .relaxed)
        statistics.stagedBytes = staging.bytes
        return statistics
    }
}

/// A continuation that several tasks may try to resume; only the first attempt takes effect.
final class OneShot<Value: Sendable>: Sendable {
    private let continuation: Lock<CheckedContinuation<Value, Never>?>

    init(_ continuation: CheckedContinuation<Value, Never>) {
        self.continuation = Lock(continuation)
    }

    func resume(returning value: Value) {
        let continuation = continuation.withLock { continuation in
            defer { continuation = nil }
            return continuation
        }
        continuation?.resume(returning: value)
    }
}
