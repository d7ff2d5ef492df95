import Foundation
import HalcyonCache
import HalcyonSystem
import Logging

/// A store of entries in Redis 6 or 7 or Valkey, which the processes of a fleet share.
///
/// A server that is slow, full, wrong or gone means "not cached": a look-up gives up after `lookupTimeout`, and after three
/// failures in a row the server is left alone for a second, then two, up to half a minute, in which every call returns at once.
/// One thread of the store's own sends and receives everything, by hiredis; a connection is opened with the first call.
///
/// Whoever may write into the server can replace images: protect it like the machines that use it. The user needs the commands
/// GETRANGE, GET, SET, UNLINK, EVAL, PUBLISH, SUBSCRIBE and those of the scripts (EXISTS, PTTL, PEXPIRE, DEL); with CLIENT ID,
/// CLIENT KILL and INFO, late writes of a lost connection are prevented.
public final class RedisStore: CacheStore {
    /// The configuration with which the store was made.
    public let configuration: Configuration
    let client: RedisClient

    /// Creates a store. Nothing is connected yet.
    ///
    /// - Parameters:
    ///   - timeSource: the clock by which entries expire, a server is suspended and claims are waited for. Timeouts of calls are
    ///     in the system's monotonic time.
    ///   - logger: told when the server is suspended and when it is back.
    public init(
        configuration: Configuration = Configuration(), timeSource: TimeSource = .system,
        logger: Logger = Logger(label: "halcyon.redis")
    ) {
        self.configuration = configuration
        client = RedisClient(configuration, clock: timeSource, logger: logger)
    }

    /// The counters of the store.
    public var statistics: Statistics { client.books.statistics }

    /// Ends the store: finishes the writes that have been handed to it, and then its thread and connections. Calls return at
    /// once from now on, with nothing.
    ///
    /// - Parameter limit: the time for the writes.
    /// - Returns: whether the time was enough.
    @discardableResult
    public func shutdown(within limit: Duration = .seconds(2)) async -> Bool {
        client.books.shutDown()
        let deadline = ContinuousClock.now + limit.forCalls
        return await withCheckedContinuation { continuation in
            client.loop.post(.stop(by: deadline, done: { continuation.resume(returning: $0) }))
        }
    }

    // MARK: Reading

    /// Returns the entry for a key; nil if there is none, it has expired, the server does not answer in time, or the task is
    /// cancelled. A value that is damaged, or of another key, version or program, is none, and is removed.
    public func entry(for key: CacheKey) async -> CacheEntry? { await entries(for: [key]).first ?? nil }

    /// Returns the entries for several keys, as `entry(for:)` does for each, by one round trip: the server looks for them in their
    /// order.
    public func entries(for keys: [CacheKey]) async -> [CacheEntry?] {
        guard !Task.isCancelled else { return keys.map { _ in nil } }
        // No store has an entry of one user, and one that was removed may still be there.
        let asked = keys.filter { !$0.isPrivate && !client.books.isRemoved($0.fileName) }
        var entries: [CacheKey: CacheEntry] = [:]
        do {
            let (limit, deadline) = (configuration.entryLimit, configuration.lookupDeadline)
            let values = try await asked.isEmpty ? [] : values(of: asked.map(\.fileName), upTo: limit, by: deadline)
            for (key, value) in zip(asked, values) { entries[key] = value.flatMap { found($0, for: key) } }
        } catch {
            if !(error is CancellationError) { client.books.count(\.unanswered, asked.count) }
            return keys.map { _ in nil }
        }
        for key in keys where !key.isPrivate {
            if entries[key] == nil { client.books.count(\.misses) } else { client.books.count(\.hits) }
        }
        return keys.map { entries[$0] }
    }

    /// Returns the entry in a value, if it is one of this key and has not expired.
    private func found(_ value: Value, for key: CacheKey) -> CacheEntry? {
        client.books.count(\.bytesRead, value.bytes.count)
        guard let entry = try? StoredValue.entry(value.bytes, for: key) else {
            discard(value, key.fileName)
            return nil
        }
        let isKept = entry.keptUntil.map { $0 > client.clock.now } ?? true
        return isKept && !client.books.isRemoved(key.fileName) ? entry : nil
    }

    /// Returns whether there is an entry; it reads the entry's key, times and metadata, and not its bytes.
    public func contains(_ key: CacheKey) async -> Bool {
        guard !Task.isCancelled, !key.isPrivate else { return false }
        return (try? await front(for: key)) != nil
    }

    /// The bytes of a value.
    struct Value {
        let bytes: Data
        let generation: Int
    }

    /// Returns the bytes of values up to an index, of which longer values have one more; nil for each that is not there. A value of
    /// another type is removed.
    private func values(
        of names: [String], upTo end: Int, by deadline: ContinuousClock.Instant
    ) async throws -> [Value?] {
        let client = client
        let answer = try await client.calls(
            .lookups, by: deadline, expecting: \.isBytes,
            { generation throws(RedisStoreError) in
                var commands: [RedisCommand] = []
                for name in names {
                    commands.append(
                        try RedisCommand("GETRANGE", client.entryKey(name, generation), "0", .init(end)))
                }
                return commands
            })
        return try zip(names, answer.replies).map { name, reply in
            switch reply {
            case .bytes(let bytes): return bytes.isEmpty ? nil : Value(bytes: bytes, generation: answer.generation)
            case .error(code: "WRONGTYPE"):
                discard(Value(bytes: Data(), generation: answer.generation), name)
                return nil
            case .error(let code): throw RedisStoreError.refused(command: "GETRANGE", code: code)
            default: throw RedisStoreError.malformed(command: "GETRANGE")
            }
        }
    }

    /// Reads the front of an entry that has not expired; nil if there is none.
    func front(for key: CacheKey) async throws -> StoredValue? {
        let (name, deadline) = (key.fileName, configuration.lookupDeadline)
        guard !client.books.isRemoved(name) else { return nil }
        // Metadata is a few hundred bytes as a rule.
        for end in [65_535, configuration.entryLimit] {
            guard let value = try await values(of: [name], upTo: end, by: deadline).first ?? nil else { return nil }
            do throws(StoredValue.Foreign) {
                guard let front = try StoredValue(frontOf: value.bytes, for: key) else {
                    if value.bytes.count > end, end < configuration.entryLimit { continue }
                    throw StoredValue.Foreign()
                }
                let isKept = front.header.keptUntil.map { $0 > client.clock.now } ?? true
                return isKept && !client.books.isRemoved(name) ? front : nil
            } catch {
                discard(value, name)
                return nil
            }
        }
        return nil
    }

    /// Removes a value that is no entry of its key, unless another has replaced it meanwhile.
    private func discard(_ value: Value, _ name: String) {
        client.books.count(\.damaged)
        let seen = RedisCommand.Argument(Array(value.bytes.prefix(StoredValue.Header.length)))
        let key = client.entryKey(name, value.generation)
        client.send(.writes, try? client.script(Scripts.discard, keys: [key], [seen]))
    }
}
