import Foundation
import HalcyonCache
import HalcyonSystem
import HalcyonTesting
@testable import RedisServing
import Testing

@testable import RedisStore

@Suite("Entries in Redis") struct RoundTripTests {
    private let key = CacheKey("https://example.com/a.jpg")

    @Test("the contract of stores is kept by two stores on one server") func contract() async throws {
        let server = try await RedisServer()
        let clock = ManualClock()
        let stores = (0..<2).map { _ in
            RedisStore(configuration: server.configuration, timeSource: clock.timeSource)
        }
        let contract = CacheStoreContract(
            stores[0], other: stores[1], maximumBytes: 7 << 20, advance: { clock.advance(by: $0) })
        #expect(await contract.violations() == [])
    }

    @Test("all parts come back, with their times") func parts() async throws {
        let server = try await RedisServer()
        let clock = ManualClock()
        let store = RedisStore(configuration: server.configuration, timeSource: clock.timeSource)
        let data = Data((0..<70_000).map { UInt8(truncatingIfNeeded: $0 &* 31) })
        try await store.store(
            data, metadata: Data("\r\n$-1\r\n".utf8), extended: Data([0, 255]), for: key, expiration: .seconds(60))
        let entry = try #require(await store.entry(for: key))
        #expect(entry.data == data)
        #expect(entry.metadata == Data("\r\n$-1\r\n".utf8))
        #expect(entry.extended == Data([0, 255]))
        #expect(entry.storedAt == clock.now)
        #expect(entry.keptUntil == clock.now + 60)
        #expect(store.statistics.hits == 1)
        #expect(store.statistics.bytesRead == store.statistics.bytesWritten)
    }

    @Test("an entry ends at its time in the server, and before by the clock") func expiry() async throws {
        let server = try await RedisServer()
        let clock = ManualClock()
        let store = RedisStore(configuration: server.configuration, timeSource: clock.timeSource)
        try await store.store(Data([1]), metadata: Data(), extended: Data(), for: key, expiration: .seconds(60))
        let name = "halcyon:v1:0:\(key.fileName)"
        guard case .integer(let left) = try server.send("PTTL", .init(name)) else { throw RedisServer.NotStarted() }
        #expect((50_000...60_000).contains(left))
        clock.advance(by: .seconds(61))
        #expect(await store.entry(for: key) == nil)
        #expect(await !store.contains(key))
        try await store.store(Data([1]), metadata: Data(), extended: Data(), for: key, expiration: .seconds(0.001))
        #expect(try await eventually { try server.send("EXISTS", .init(name)) == .integer(0) })
    }

    @Test("an entry without an expiration is kept for the lifetime of the configuration") func lifetime() async throws {
        let server = try await RedisServer()
        let store = RedisStore(configuration: server.configuration)
        for (expiration, days) in [(nil, 30), (StorageExpiration.never, 30), (.seconds(1e300), 3650)] {
            try await store.store(Data([1]), metadata: Data(), extended: Data(), for: key, expiration: expiration)
            let left = try server.send("PTTL", "halcyon:v1:0:\(key.fileName)")
            guard case .integer(let milliseconds) = left else { throw RedisServer.NotStarted() }
            #expect((days * 86_400_000 - 60_000...days * 86_400_000).contains(milliseconds))
            #expect(await store.entry(for: key)?.data == Data([1]))
        }
    }

    @Test("metadata larger than the first read are found and replaced") func largeMetadata() async throws {
        let server = try await RedisServer()
        let store = RedisStore(configuration: server.configuration)
        let (old, new) = (Data(repeating: 1, count: 100_000), Data(repeating: 2, count: 200_000))
        try await store.store(Data([1, 2, 3]), metadata: old, extended: Data([7]), for: key, expiration: .never)
        #expect(await store.contains(key))
        #expect(try await store.updateMetadata(new, for: key, replacing: old, expiration: nil))
        let entry = try #require(await store.entry(for: key))
        #expect(entry.metadata == new)
        #expect(entry.data == Data([1, 2, 3]))
        #expect(entry.keptUntil == nil)
    }

    @Test("of two who replace the same metadata one succeeds") func metadataRace() async throws {
        let server = try await RedisServer()
        let stores = (0..<2).map { _ in RedisStore(configuration: server.configuration) }
        for round in 0..<20 {
            try await stores[0].store(Data([1]), metadata: Data([0]), extended: Data(), for: key, expiration: .never)
            let done = try await withThrowingTaskGroup(of: Bool.self) { group in
                for (number, store) in stores.enumerated() {
                    group.addTask {
                        try await store.updateMetadata(
                            Data([UInt8(number + 1)]), for: key, replacing: Data([0]), expiration: nil)
                    }
                }
                return try await group.reduce(into: []) { $0.append($1) }
            }
            #expect(done.filter { $0 }.count == 1, "round \(round)")
        }
    }

    @Test("an entry that is too large is not stored, and the former is gone") func size() async throws {
        let server = try await RedisServer()
        var configuration = server.configuration
        configuration.maximumEntryBytes = 10_000
        let store = RedisStore(configuration: configuration)
        try await store.store(Data([1]), metadata: Data(), extended: Data(), for: key, expiration: .never)
        await #expect(throws: RedisStoreError.self) {
            try await store.store(
                Data(count: 10_000), metadata: Data(), extended: Data(), for: key, expiration: .never)
        }
        #expect(await store.entry(for: key) == nil)
        #expect(try await eventually { try server.count("*") == 0 })
    }

    @Test("writes beyond the queue's bound are not stored") func queue() async throws {
        let server = try await RedisServer()
        var configuration = server.configuration
        configuration.maximumQueuedBytes = 1000
        let store = RedisStore(configuration: configuration)
        await #expect(throws: RedisStoreError.busy) {
            try await store.store(Data(count: 2000), metadata: Data(), extended: Data(), for: key, expiration: .never)
        }
        for _ in 0..<10 {
            try await store.store(Data(count: 500), metadata: Data(), extended: Data(), for: key, expiration: .never)
        }
    }

    @Test("everything removed by one store is gone for another, which need not be told") func clearing() async throws {
        let server = try await RedisServer()
        let (store, other) = (
            RedisStore(configuration: server.configuration), RedisStore(configuration: server.configuration)
        )
        try await other.store(Data([1]), metadata: Data(), extended: Data(), for: key, expiration: .never)
        await store.clear()
        #expect(await other.entry(for: key) == nil)
        #expect(await !other.contains(key))
        await store.clear()
        try await other.store(Data([2]), metadata: Data(), extended: Data(), for: key, expiration: .never)
        #expect(await store.entry(for: key)?.data == Data([2]))
        await store.clear()
        await other.remove(key)
        #expect(try !(await other.updateMetadata(Data([1]), for: key, replacing: nil, expiration: nil)))
        #expect(try server.send("GET", "halcyon:generation") == .bytes(Data("3".utf8)))
    }

    @Test("a server that has lost the generation gets it again") func lostGeneration() async throws {
        let server = try await RedisServer()
        let store = RedisStore(configuration: server.configuration)
        try await store.store(Data([1]), metadata: Data(), extended: Data(), for: key, expiration: .never)
        let value = try server.send("GET", "halcyon:v1:0:\(key.fileName)")
        await store.clear()
        await store.clear()
        // As if it had been started again with the data of before.
        guard case .bytes(let bytes) = value else { throw RedisServer.NotStarted() }
        for generation in ["0", "garbage", "-5", "99999999999999999999999"] {
            try server.send("SET", "halcyon:generation", .init(generation))
            try server.send("SET", "halcyon:v1:0:\(key.fileName)", .init(Array(bytes)))
            #expect(await store.entry(for: key)?.data != Data([1]))
            try await store.store(Data([3]), metadata: Data(), extended: Data(), for: key, expiration: .never)
            #expect(await RedisStore(configuration: server.configuration).entry(for: key)?.data == Data([3]))
        }
        try server.send("DEL", "halcyon:generation")
        try server.send("LPUSH", "halcyon:generation", "x")
        #expect(await store.entry(for: key)?.data == Data([3]))
    }

    @Test("TCP, a password, a user and a database") func login() async throws {
        let port = Int.random(in: 20_000..<30_000)
        let server = try await RedisServer("--port", "\(port)", "--requirepass", "secret")
        for host in ["127.0.0.1", "localhost"] {
            let configuration = RedisStore.Configuration(
                address: .host(host, port: port), password: "secret", database: 3, prefix: "p-\(host)",
                lookupTimeout: .seconds(20), connectTimeout: .seconds(20), writeTimeout: .seconds(20))
            let store = RedisStore(configuration: configuration)
            try await store.store(Data([1]), metadata: Data(), extended: Data(), for: key, expiration: .never)
            #expect(await store.entry(for: key)?.data == Data([1]))
            var named = configuration
            named.username = "default"
            #expect(await RedisStore(configuration: named).entry(for: key)?.data == Data([1]))
            var other = configuration
            other.database = 0
            #expect(await RedisStore(configuration: other).entry(for: key) == nil)
            #expect(!"\(configuration)".contains("secret"))
            #expect(!String(reflecting: configuration).contains("secret"))
        }
        for password in ["wrong", nil] {
            let configuration = RedisStore.Configuration(
                address: server.configuration.address, password: password, lookupTimeout: .seconds(20),
                connectTimeout: .seconds(20))
            let store = RedisStore(configuration: configuration)
            #expect(await store.entry(for: key) == nil)
            #expect(store.statistics.unanswered == 1)
            #expect(store.statistics.failures >= 1)
        }
    }
}
