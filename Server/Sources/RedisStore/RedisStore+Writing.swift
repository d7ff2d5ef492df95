import Foundation
import HalcyonCache

extension RedisStore {
    /// Stores an entry in the place of the former one, and returns once the server has it.
    ///
    /// It is kept until its expiration, which the server counts by its own clock from now on; with none, or never, for
    /// `Configuration.lifetime`. A server that is configured with a limit of memory and a policy of eviction removes it earlier.
    /// - Throws: `RedisStoreError` if the entry is not stored; the former one is removed then. `CancellationError` if the task is
    ///   cancelled.
    public func store(
        _ data: Data, metadata: Data, extended: Data, for key: CacheKey, expiration: StorageExpiration?
    ) async throws {
        guard !key.isPrivate else { throw RedisStoreError.privateEntry }
        try Task.checkCancellation()
        let (name, now) = (key.fileName, client.clock.now)
        let lifetime = seconds(expiration, from: now)
        guard lifetime > 0 else { return }
        do {
            let value = try StoredValue.value(
                of: data, metadata: metadata, extended: extended, for: key, storedAt: now,
                keptUntil: lifetime.isFinite ? now + lifetime : nil, limit: configuration.entryLimit)
            try await store(value, name, for: milliseconds(lifetime))
            client.books.withState { state in
                state.statistics.stores += 1
                state.statistics.bytesWritten += value.count
            }
        } catch {
            if !(error is CancellationError) { client.books.count(\.failedStores) }
            let removal = client.books.withState { $0.removals.begin(name) }
            // Behind the entry in the same connection, without a caller that waits.
            if let exchange = client.removal(of: [name: removal]) { client.loop.post(.send(exchange, .writes)) }
            throw error
        }
    }

    private func store(_ value: [UInt8], _ name: String, for milliseconds: Int) async throws {
        let client = client
        let former = client.books.withState { $0.removals.beginReplacing(name) }
        let answer = try await client.call(
            .writes, by: configuration.writeDeadline, expecting: \.isStatus,
            fate: { outcome in
                guard case .success(let replies) = outcome, replies.first?.isStatus == true else { return }
                client.books.withState { $0.removals.replaced(name, upTo: former) }
            },
            { generation throws(RedisStoreError) in
                try RedisCommand("SET", client.entryKey(name, generation), .init(value), "PX", .init(milliseconds))
            })
        if case .error(let code) = answer.reply { throw RedisStoreError.refused(command: "SET", code: code) }
        let channel = client.channel(name)
        client.send(.lookups, try? RedisCommand("PUBLISH", .init(channel), "stored"))
    }

    /// The seconds for which an entry is kept; infinity if it has no expiration, zero or less if it has passed.
    private func seconds(_ expiration: StorageExpiration?, from now: Date) -> TimeInterval {
        let end = (expiration ?? .never).end(from: now)
        return end == .distantFuture ? .infinity : end.timeIntervalSince(now)
    }

    /// The milliseconds for which the server keeps an entry.
    private func milliseconds(_ lifetime: TimeInterval) -> Int {
        lifetime.isFinite
            ? Duration.seconds(min(lifetime, 1e9)).milliseconds() : configuration.lifetime.milliseconds()
    }

    /// Replaces the metadata of an entry; its bytes, extended data and time of storing stay. The server exchanges it only for the
    /// metadata that was read, in one step. Costs a copy of the entry within the server.
    ///
    /// - Returns: false if there is no such entry, or if it changes faster than it can be read.
    /// - Throws: `RedisStoreError` or `CancellationError`; the metadata is the former or the new one then.
    @discardableResult
    public func updateMetadata(
        _ metadata: Data, for key: CacheKey, replacing former: Data?, expiration: StorageExpiration?
    ) async throws -> Bool {
        guard !key.isPrivate else { return false }
        let (client, now) = (client, client.clock.now)
        let lifetime = expiration.map { seconds($0, from: now) }
        if let lifetime, lifetime <= 0 {
            await remove(key)
            return false
        }
        for _ in 0..<4 {
            guard let front = try await front(for: key) else { return false }
            if let former, former != front.metadata { return false }
            var keptUntil = front.header.keptUntil
            if let lifetime { keptUntil = lifetime.isFinite ? now + lifetime : nil }
            let new = try front.front(metadata: metadata, keptUntil: keptUntil, limit: configuration.entryLimit)
            let time = lifetime.map { RedisCommand.Argument(milliseconds($0)) } ?? ""
            let answer = try await client.call(
                .writes, by: configuration.writeDeadline, expecting: \.isInteger,
                { generation throws(RedisStoreError) in
                    // The front that was read matches nothing in another generation, whose entries are others.
                    let entry = client.entryKey(key.fileName, generation)
                    return try client.script(Scripts.update, keys: [entry], [.init(front.front), .init(new), time])
                })
            switch answer.reply {
            case .integer(1): return true
            case .error(let code): throw RedisStoreError.refused(command: "EVAL", code: code)
            default: continue
            }
        }
        return false
    }

    // MARK: Removing

    /// Removes an entry, which is not found from now on: while the server does not confirm it, this store does not ask for the
    /// entry, and removes it once the server is back. This is completed even if the task is cancelled.
    public func remove(_ key: CacheKey) async {
        let (client, name) = (client, key.fileName)
        let removal = client.books.withState { $0.removals.begin(name) }
        await Task { await client.remove([name: removal]) }.value
    }

    /// Removes all entries of the prefix, by a new generation of the keys: they are not found from now on, by any process whose
    /// call begins later, and the server frees their memory when they expire.
    public func clear() async {
        let client = client
        let removal = client.books.withState { $0.removals.beginClearing() }
        await Task { await client.clear(removal) }.value
    }
}
