import Foundation
import Halcyon
import HalcyonCache
import HalcyonSystem
import HalcyonTesting
import TestSupport
import Testing

/// The contract of stores, kept by those that come with the library and broken by others.
@Suite(.timeLimit(.minutes(5)))
struct CacheStoreContractTests {
    @Test func theDiskKeepsIt() async throws {
        let (clock, folder) = (ManualClock(), PipelineFixture.temporaryFolder())
        defer { try? FileManager.default.removeItem(at: folder) }
        let (disk, other) = (
            DiskCache(folder: folder, timeSource: clock.timeSource),
            DiskCache(folder: folder, timeSource: clock.timeSource)
        )
        let contract = CacheStoreContract(disk, other: other) { clock.advance(by: $0) }
        #expect(await contract.violations() == [])
    }

    @Test func theStoreInMemoryKeepsIt() async throws {
        let clock = ManualClock()
        let contract = CacheStoreContract(MemoryCacheStore(time: clock.timeSource)) { clock.advance(by: $0) }
        #expect(await contract.violations() == [])
    }

    @Test func aStoreWithTheDefaultsKeepsIt() async throws {
        let clock = ManualClock()
        let contract = CacheStoreContract(PlainStore(time: clock.timeSource)) { clock.advance(by: $0) }
        #expect(await contract.violations() == [])
    }

    @Test(arguments: BrokenStore.Fault.allCases) fileprivate func eachFaultIsFound(fault: BrokenStore.Fault)
        async throws
    {
        let clock = ManualClock()
        let store = BrokenStore(fault, time: clock.timeSource)
        // A store that never answers is waited for; one that breaks another promise ends by itself.
        let limit: Duration = fault == .neverAnswersCancelled ? .milliseconds(500) : .seconds(300)
        let violations = await CacheStoreContract(store, limit: limit) { clock.advance(by: $0) }.violations()
        store.isOver.open()
        #expect(violations.contains { $0.hasPrefix(fault.promise) }, "\(violations)")
    }
}

/// A store that implements no more than it must.
private final class PlainStore: CacheStore {
    private let store: MemoryCacheStore

    init(time: TimeSource) { store = MemoryCacheStore(time: time) }

    func entry(for key: CacheKey) async -> CacheEntry? { await store.entry(for: key) }

    func store(
        _ data: Data, metadata: Data, extended: Data, for key: CacheKey, expiration: StorageExpiration?
    ) async throws {
        try await store.store(data, metadata: metadata, extended: extended, for: key, expiration: expiration)
    }

    func updateMetadata(
        _ metadata: Data, for key: CacheKey, replacing former: Data?, expiration: StorageExpiration?
    ) async throws -> Bool { false }

    func remove(_ key: CacheKey) async { await store.remove(key) }

    func clear() async { await store.clear() }
}

/// A store that breaks one promise.
private final class BrokenStore: CacheStore {
    enum Fault: String, CaseIterable {
        case cutsBytes, mixesKeys, forgetsNothing, neverExpires, keepsFormer, losesMetadata, ignoresFormer,
            clearsNothing
        case grantsEverybody, neverContains, throwsAtEmpty, mixesVersions, neverAnswersCancelled, makesOfMetadata
        case turnsAround

        var promise: String {
            switch self {
            case .cutsBytes, .losesMetadata, .neverContains, .throwsAtEmpty: "an entry is found as it was stored"
            case .mixesKeys, .turnsAround: "keys with other bytes"
            case .forgetsNothing: "an entry that was removed"
            case .neverExpires: "an entry that has expired"
            case .keepsFormer: "a later entry replaces"
            case .mixesVersions: "entries stored at the same time are whole"
            case .neverAnswersCancelled: "a cancelled task ends"
            case .ignoresFormer, .makesOfMetadata: "metadata are replaced alone"
            case .clearsNothing: "nothing is found in a cleared store"
            case .grantsEverybody: "a claim has one holder"
            }
        }
    }

    struct Refusal: Error {}

    private let store: MemoryCacheStore
    private let fault: Fault
    /// The first bytes that were stored since the store was cleared.
    private let first = Lock(Data())
    /// Opened at the end of the test, for what never ends.
    let isOver = ScriptedTransportGate()

    init(_ fault: Fault, time: TimeSource) { (self.fault, store) = (fault, MemoryCacheStore(time: time)) }

    private func key(_ key: CacheKey) -> CacheKey {
        fault == .mixesKeys ? CacheKey(key.bytes.prefix(1)) : key
    }

    func entry(for key: CacheKey) async -> CacheEntry? {
        if fault == .neverAnswersCancelled, Task.isCancelled { await Task { try? await isOver.wait() }.value }
        guard let entry = await store.entry(for: self.key(key)) else { return nil }
        var data = entry.data
        if fault == .cutsBytes { data = data.prefix(4000) }
        if fault == .mixesVersions { data = first.withLock { $0.prefix(500) } + data.dropFirst(500) }
        return CacheEntry(
            data: data, metadata: fault == .losesMetadata ? Data() : entry.metadata, extended: entry.extended,
            keptUntil: entry.keptUntil, storedAt: entry.storedAt)
    }

    func entries(for keys: [CacheKey]) async -> [CacheEntry?] {
        var found: [CacheEntry?] = []
        for key in fault == .turnsAround ? keys.reversed() : keys { found.append(await entry(for: key)) }
        return found
    }

    func contains(_ key: CacheKey) async -> Bool {
        guard fault != .neverContains else { return false }
        return await entry(for: key) != nil
    }

    func store(
        _ data: Data, metadata: Data, extended: Data, for key: CacheKey, expiration: StorageExpiration?
    ) async throws {
        first.withLock { if $0.isEmpty { $0 = data } }
        if fault == .throwsAtEmpty, data.isEmpty { throw Refusal() }
        if fault == .keepsFormer, await entry(for: key) != nil { return }
        try await store.store(
            data, metadata: metadata, extended: extended, for: self.key(key),
            expiration: fault == .neverExpires ? .never : expiration)
    }

    func updateMetadata(
        _ metadata: Data, for key: CacheKey, replacing former: Data?, expiration: StorageExpiration?
    ) async throws -> Bool {
        if fault == .makesOfMetadata, await !contains(key) {
            try await self.store(Data(), metadata: metadata, extended: Data(), for: key, expiration: expiration)
            return false
        }
        return try await store.updateMetadata(
            metadata, for: self.key(key), replacing: fault == .ignoresFormer ? nil : former, expiration: expiration)
    }

    func remove(_ key: CacheKey) async {
        if fault != .forgetsNothing { await store.remove(self.key(key)) }
    }

    func clear() async {
        first.withLock { $0 = Data() }
        if fault != .clearsNothing { await store.clear() }
    }

    func claim(_ key: CacheKey) async -> CacheClaim {
        fault == .grantsEverybody ? .granted(CacheClaimToken {}) : await store.claim(key)
    }
}
