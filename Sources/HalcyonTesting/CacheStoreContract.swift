import Foundation
import HalcyonCache
import HalcyonSystem

/// Checks that a `CacheStore` keeps those promises to an `ImageCache` that can be seen from outside.
///
///     let contract = CacheStoreContract(MyStore(server: address))
///     #expect(await contract.violations() == [])
///
/// The store is cleared at the beginning and at the end. Everything is done through the protocol; the checks take as long as a
/// few hundred calls of the store do. How the store behaves while its server is slow, full or gone is for tests of its own.
public struct CacheStoreContract: Sendable {
    let store: any CacheStore
    let other: any CacheStore
    let maximumBytes: Int
    let limit: Duration
    let advance: (@Sendable (Duration) async -> Void)?

    /// Creates the checks of a store.
    ///
    /// - Parameters:
    ///   - store: the store.
    ///   - other: another one with the same contents, as another process has it; nil, the default, is the store itself.
    ///   - maximumBytes: the size in bytes of the largest entry that is stored; 1 MiB by default.
    ///   - limit: the time that each check may take; one minute by default.
    ///   - advance: lets time pass for the store, by its clock or by waiting; nil, the default, leaves out what needs that.
    public init(
        _ store: any CacheStore, other: (any CacheStore)? = nil, maximumBytes: Int = 1 << 20,
        limit: Duration = .seconds(60), advance: (@Sendable (Duration) async -> Void)? = nil
    ) {
        (self.store, self.other) = (store, other ?? store)
        (self.maximumBytes, self.limit, self.advance) = (maximumBytes, limit, advance)
    }

    /// Returns a sentence for each promise that the store does not keep; none if it keeps all.
    public func violations() async -> [String] {
        var found: [String] = []
        let checks: [(String, @Sendable () async throws -> [String])] = [
            ("an entry is found as it was stored", roundTrips), ("a later entry replaces the former", replacement),
            ("keys with other bytes have other entries", keys), ("an entry that was removed is not found", removal),
            ("an entry that has expired is not found", expiration), ("metadata are replaced alone", metadata),
            ("entries stored at the same time are whole", concurrency), ("a cancelled task ends", cancellation),
            ("a claim has one holder", claims), ("nothing is found in a cleared store", clearing),
        ]
        for (promise, check) in checks { found += await outcome(of: check).map { "\(promise): \($0)" } }
        return found
    }

    /// Returns the violations that a check of a cleared store finds, or that it has not ended in time.
    private func outcome(of check: @escaping @Sendable () async throws -> [String]) async -> [String] {
        // No task group, which would wait for a store that never answers.
        await withCheckedContinuation { continuation in
            let waiting = Lock<CheckedContinuation<[String], Never>?>(continuation)
            let end: @Sendable ([String]) -> Void = { found in
                waiting.withLock { waiting in
                    waiting?.resume(returning: found)
                    waiting = nil
                }
            }
            let work = Task {
                await store.clear()
                do {
                    let found = try await check()
                    await store.clear()
                    end(found)
                } catch {
                    end(["\(error)"])
                }
            }
            let timer = Task { [limit] in
                try await Task.sleep(for: limit)
                work.cancel()
                end(["it has not ended after \(limit)"])
            }
            Task {
                await work.value
                timer.cancel()
            }
        }
    }

    // MARK: - Entries

    private func roundTrips() async throws -> [String] {
        var found: [String] = []
        for size in [0, 1, 511, 65_536, maximumBytes] {
            let (key, data) = (Self.key(size), Self.bytes(size, seed: size))
            let (metadata, extended) = (Self.bytes(size % 1000, seed: 1), Self.bytes(size % 77, seed: 2))
            try await store.store(data, metadata: metadata, extended: extended, for: key, expiration: .never)
            guard let entry = await other.entry(for: key) else {
                found.append("\(size) bytes are not found")
                continue
            }
            if entry.data != data { found.append("\(size) bytes came back as other \(entry.data.count)") }
            if entry.metadata != metadata { found.append("the metadata of \(size) bytes came back changed") }
            if entry.extended != extended { found.append("the extended data of \(size) bytes came back changed") }
            if await !other.contains(key) { found.append("\(size) bytes are not contained") }
        }
        return found
    }

    private func replacement() async throws -> [String] {
        let key = Self.key(1)
        try await put(Self.bytes(5000, seed: 1), key)
        try await put(Self.bytes(20, seed: 2), key)
        return await other.entry(for: key)?.data == Self.bytes(20, seed: 2) ? [] : ["the former is found, or neither"]
    }

    private func keys() async throws -> [String] {
        var found: [String] = []
        let keys = [[0], [0, 0], [1], [], Array(repeating: 7, count: 9000), Array("a\r\nb".utf8), [0xFF, 0xFE]]
        for (number, bytes) in keys.enumerated() { try await put(Data([UInt8(number)]), CacheKey(bytes)) }
        for (number, bytes) in keys.enumerated() {
            let entry = await other.entry(for: CacheKey(bytes, name: "another name"))
            if entry?.data != Data([UInt8(number)]) { found.append("key \(number) of \(bytes.count) bytes") }
        }
        let several: [[UInt8]] = [[1], [2], [0], [1]]
        let entries = await other.entries(for: several.map { CacheKey($0) })
        if entries.map({ $0?.data }) != [Data([2]), nil, Data([0]), Data([2])] {
            found.append("the entries for several keys are not in their order")
        }
        if await other.entry(for: CacheKey([2])) != nil { found.append("a key that was never stored is found") }
        if await other.contains(CacheKey([2])) { found.append("a key that was never stored is contained") }
        return found
    }

    private func removal() async throws -> [String] {
        let (gone, kept) = (Self.key(1), Self.key(2))
        try await put(Data([1]), gone)
        try await put(Data([2]), kept)
        await store.remove(gone)
        await store.remove(Self.key(3))
        var found: [String] = []
        if await other.entry(for: gone) != nil { found.append("it is found") }
        if await other.contains(gone) { found.append("it is contained") }
        if await other.entry(for: kept)?.data != Data([2]) { found.append("another one is gone") }
        return found
    }

    private func clearing() async throws -> [String] {
        for number in 0..<20 { try await put(Data([UInt8(number)]), Self.key(number)) }
        await store.clear()
        var found: [String] = []
        for number in 0..<20 where await other.entry(for: Self.key(number)) != nil { found.append("key \(number)") }
        if let usage = await store.usage(), usage.entries != 0 { found.append("\(usage.entries) entries are counted") }
        try await put(Data([9]), Self.key(1))
        if await other.entry(for: Self.key(1))?.data != Data([9]) { found.append("nothing can be stored any more") }
        return found
    }

    // MARK: - Time

    private func expiration() async throws -> [String] {
        var found: [String] = []
        for (number, expiration) in [StorageExpiration.expired, .seconds(-1), .seconds(.nan)].enumerated() {
            let key = Self.key(number)
            try await store.store(Data([1]), metadata: Data(), extended: Data(), for: key, expiration: expiration)
            if await other.entry(for: key) != nil { found.append("stored as \(expiration)") }
        }
        let (short, long) = (Self.key(10), Self.key(11))
        try await store.store(Data([1]), metadata: Data(), extended: Data(), for: short, expiration: .seconds(2))
        try await store.store(Data([2]), metadata: Data(), extended: Data(), for: long, expiration: .days(1))
        guard let entry = await other.entry(for: long), let end = entry.keptUntil else {
            return found + ["an entry for a day is not found, or has no end"]
        }
        if abs(end.timeIntervalSince(entry.storedAt) - 86_400) > 1 { found.append("a day ends at another time") }
        guard let advance else { return found }
        await advance(.seconds(3))
        if await other.entry(for: short) != nil { found.append("found after its time") }
        if await other.contains(short) { found.append("contained after its time") }
        if await other.entry(for: long) == nil { found.append("another one is gone before its time") }
        return found
    }

    private func metadata() async throws -> [String] {
        let (key, data) = (Self.key(1), Self.bytes(3000, seed: 3))
        try await store.store(data, metadata: Data([1]), extended: Data([9]), for: key, expiration: .days(1))
        var found: [String] = []
        let other = try await store.updateMetadata(Data([2]), for: key, replacing: Data([5]), expiration: nil)
        if other { found.append("replaced although other metadata were expected") }
        let missing = try await store.updateMetadata(Data([2]), for: Self.key(2), replacing: nil, expiration: nil)
        if missing { found.append("replaced in an entry that is not there") }
        if await self.other.entry(for: Self.key(2)) != nil { found.append("an entry is made of metadata alone") }
        let replaced = try await store.updateMetadata(Data([3]), for: key, replacing: Data([1]), expiration: .days(2))
        guard let entry = await self.other.entry(for: key) else { return found + ["the entry is gone"] }
        if entry.metadata != Data([replaced ? 3 : 1]) { found.append("the metadata are others") }
        if entry.data != data || entry.extended != Data([9]) {
            found.append("the bytes or the extended data are others")
        }
        let kept = entry.keptUntil?.timeIntervalSince(entry.storedAt) ?? .infinity
        if abs(kept - (replaced ? 172_800 : 86_400)) > 60 { found.append("the expiration is another one") }
        return found
    }

    // MARK: - Several at once

    private func concurrency() async throws -> [String] {
        let key = Self.key(1)
        let versions = (1...8).map { Self.bytes(1000 * $0, seed: $0) }
        try await put(versions[0], key)
        let strange = try await withThrowingTaskGroup(of: Int.self) { group in
            for version in versions {
                group.addTask {
                    for _ in 0..<5 { try await put(version, key) }
                    return 0
                }
                group.addTask {
                    var strange = 0
                    for _ in 0..<10 {
                        if let data = await other.entry(for: key)?.data, !versions.contains(data) { strange += 1 }
                    }
                    return strange
                }
            }
            return try await group.reduce(0, +)
        }
        var found: [String] = []
        if strange > 0 { found.append("\(strange) look-ups found a mixture") }
        guard let last = await other.entry(for: key)?.data, versions.contains(last) else {
            return found + ["the last one is not found"]
        }
        return found
    }

    private func cancellation() async throws -> [String] {
        let key = Self.key(1)
        try await put(Data([1]), key)
        let ends = await withTaskGroup(of: Data??.self) { group in
            group.cancelAll()
            group.addTask { await other.entry(for: key)?.data }
            group.addTask {
                try? await put(Data([2]), key)
                return nil
            }
            group.addTask {
                _ = await store.claim(Self.key(2))
                return nil
            }
            return await group.reduce(into: [Data]()) { ends, end in
                if let data = end ?? nil { ends.append(data) }
            }
        }
        var found =
            ends.contains { $0 != Data([1]) && $0 != Data([2]) } ? ["a look-up found bytes that were not stored"] : []
        guard let data = await other.entry(for: key)?.data, data == Data([1]) || data == Data([2]) else {
            found.append("the entry is gone")
            return found
        }
        return found
    }

    private func claims() async throws -> [String] {
        let key = Self.key(1)
        // A store without claims lets everybody go on alone.
        var first: CacheClaim? = await store.claim(key)
        guard case .granted = first else { return [] }
        var found: [String] = []
        let waiting = Task { await other.claim(key) }
        try await put(Data([1]), key)
        withExtendedLifetime(first) {}
        first = nil
        switch await waiting.value {
        case .stored, .alone: break
        case .granted: found.append("another one was granted while the first was held")
        }
        if await other.entry(for: key)?.data != Data([1]) { found.append("the entry is not found by who has waited") }
        let second = Self.key(2)
        var held: CacheClaim? = await store.claim(second)
        guard case .granted = held else { return found + ["a claim was refused that nobody held"] }
        let next = Task { await other.claim(second) }
        held = nil
        switch await next.value {
        case .granted, .alone: break
        case .stored: found.append("nothing was stored, and it says so")
        }
        withExtendedLifetime(held) {}
        return found
    }

    // MARK: - Material

    private func put(_ data: Data, _ key: CacheKey) async throws {
        try await store.store(data, metadata: Data(), extended: Data(), for: key, expiration: .never)
    }

    private static func key(_ number: Int) -> CacheKey { CacheKey("contract-\(number)") }

    /// Bytes that are no text, and others for each seed.
    private static func bytes(_ count: Int, seed: Int) -> Data {
        var state = UInt64(truncatingIfNeeded: seed) &* 0x9E37_79B9_7F4A_7C15 | 1
        return Data(
            (0..<count).map { _ in
                state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
                return UInt8(truncatingIfNeeded: state >> 56)
            })
    }
}
