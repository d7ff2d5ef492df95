import Foundation

/// A store of bytes that an image cache uses behind its disk, or in the place of one: a database that several machines share,
/// an object store, a program's own files.
///
/// `DiskCache` is one itself. An `ImageCache` asks its stores in their order when its disk has no entry, and keeps on the disk
/// whatever it finds; it hands them every entry that it stores, and every removal. The entries of one user, and those of files,
/// never go to a store.
///
/// A store is a cache: whatever it cannot do now means "not cached" and nothing worse. A look-up returns an entry as it was
/// stored, or none; bytes that may be damaged, of another key, or of an earlier entry are none. A look-up and a claim are waited
/// for, so a store that is slow gives up in time by itself. Entries and removals are handed to it behind a load, and one at a
/// time for each key; a removal that the program asks for is waited for. `CacheStoreContract` in HalcyonTesting checks what can
/// be seen of this from outside; how a store behaves while its server is slow or gone is for its own tests.
public protocol CacheStore: Sendable {
    /// Returns the entry for a key; nil if there is none, if it has expired, if the store cannot tell, or if the task is
    /// cancelled.
    func entry(for key: CacheKey) async -> CacheEntry?

    /// Returns the entries for several keys, in the order of the keys, as `entry(for:)` returns them; none of them is looked for
    /// before those in front of it. The default implementation calls `entry(for:)` for each: a store behind a network asks for all
    /// of them by one round trip.
    func entries(for keys: [CacheKey]) async -> [CacheEntry?]

    /// Returns whether there is an entry, without its bytes. The default implementation looks for the whole entry.
    func contains(_ key: CacheKey) async -> Bool

    /// Stores an entry in the place of the former one.
    ///
    /// - Parameter expiration: nil is the store's own. If it has passed already, nothing is stored.
    /// - Throws: any error if the entry is not stored; the former one is not found either then. `CancellationError` if the task
    ///   was cancelled before anything was stored.
    func store(
        _ data: Data, metadata: Data, extended: Data, for key: CacheKey, expiration: StorageExpiration?
    ) async throws

    /// Replaces the metadata of an entry, as after a 304 response; its bytes, extended data and time of storing stay.
    ///
    /// In one step: an entry that is removed or replaced meanwhile must not come back. A store that cannot do this returns false
    /// and changes nothing, and each look-up of a stale entry costs a request to its server.
    ///
    /// - Parameters:
    ///   - former: the metadata that the entry must have, since another entry may have replaced it meanwhile; nil allows any.
    ///   - expiration: the new expiration, counted from now; nil leaves it unchanged.
    /// - Returns: false if there is no such entry, or the store cannot replace metadata.
    /// - Throws: any error if the metadata is not replaced.
    @discardableResult
    func updateMetadata(
        _ metadata: Data, for key: CacheKey, replacing former: Data?, expiration: StorageExpiration?
    ) async throws -> Bool

    /// Removes an entry, which is not found from now on, even if the store cannot be reached now and can later.
    func remove(_ key: CacheKey) async

    /// Removes all entries, which are not found from now on.
    func clear() async

    /// Returns what the store holds; nil, as the default implementation does, if it cannot tell.
    func usage() async -> CacheStoreUsage?

    /// Asks to be the one who makes an entry that a look-up has not found, where several processes share a store. A key that never has
    /// an entry is claimed for work on another one, such as the question to a server whether that is still good.
    ///
    /// A store that grants a claim lets others who ask for the same one wait for a bounded time, until the entry is stored or the
    /// claim ends, and not for ever if its holder has died. The default implementation returns `.alone` at once.
    func claim(_ key: CacheKey) async -> CacheClaim
}

extension CacheStore {
    public func entries(for keys: [CacheKey]) async -> [CacheEntry?] {
        var found: [CacheEntry?] = []
        for key in keys { found.append(await entry(for: key)) }
        return found
    }

    public func contains(_ key: CacheKey) async -> Bool { await entry(for: key) != nil }

    public func usage() async -> CacheStoreUsage? { nil }

    public func claim(_ key: CacheKey) async -> CacheClaim { .alone }
}

/// The size of a store.
public struct CacheStoreUsage: Sendable, Hashable {
    /// The number of entries.
    public var entries: Int
    /// The bytes of the entries, as the store counts them.
    public var bytes: Int

    /// Creates a size.
    public init(entries: Int, bytes: Int) {
        (self.entries, self.bytes) = (entries, bytes)
    }
}

/// The answer to a process that asks to make an entry.
public enum CacheClaim: Sendable {
    /// The caller makes the entry. Others who ask wait until it is stored, or the token is released or freed.
    case granted(CacheClaimToken)
    /// Another process has stored the entry meanwhile: a look-up finds it.
    case stored
    /// Nobody makes it for the caller: the store has no claims, cannot tell now, or has let the caller wait long enough.
    case alone
}

/// A claim that was granted. It ends with the last reference to it, so that no path of a failed load can forget it.
public final class CacheClaimToken: Sendable {
    private let release: @Sendable () -> Void

    /// Creates a token.
    ///
    /// - Parameter release: called once, when the claim ends; it must not block.
    public init(release: @escaping @Sendable () -> Void) {
        self.release = release
    }

    deinit { release() }
}

extension DiskCache: CacheStore {
    public func clear() async { await removeAll() }

    public func usage() async -> CacheStoreUsage? {
        let info = await info()
        return CacheStoreUsage(entries: info.entries, bytes: info.bytes)
    }

    public func entry(for key: CacheKey) async -> CacheEntry? { await entry(for: key, extending: nil) }
}
