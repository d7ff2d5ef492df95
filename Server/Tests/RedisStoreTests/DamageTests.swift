import Foundation
import HalcyonCache
@testable import RedisServing
import Testing

@testable import RedisStore

@Suite("Foreign values in Redis") struct DamageTests {
    private let key = CacheKey("https://example.com/a.jpg")
    private var name: RedisCommand.Argument { "halcyon:v1:0:\(key.fileName)" }

    /// A server, a store and the bytes of an entry in it.
    private func setUp() async throws -> (RedisServer, RedisStore, [UInt8]) {
        let server = try await RedisServer()
        let store = RedisStore(configuration: server.configuration)
        try await store.store(Data([1, 2, 3]), metadata: Data([4]), extended: Data(), for: key, expiration: .never)
        guard case .bytes(let value) = try server.send("GET", name) else { throw RedisServer.NotStarted() }
        return (server, store, Array(value))
    }

    @Test("are misses, are removed, and are no failure of the server") func foreign() async throws {
        let (server, store, value) = try await setUp()
        var otherVersion = value
        otherVersion[8] = 2
        var flipped = value
        flipped[value.count - 1] ^= 1
        let other = CacheKey("another")
        let otherValue = try StoredValue.value(
            of: Data([1]), metadata: Data(), extended: Data(), for: other, storedAt: .now, keptUntil: nil, limit: 10_000
        )
        let values = [
            otherVersion, flipped, otherValue, Array(value.dropLast()), Array(value.prefix(20)), value + [0],
            Array("garbage".utf8), [0], Array(repeating: 65, count: 9_000_000),
        ]
        for (number, foreign) in values.enumerated() {
            try server.send("SET", name, .init(foreign))
            #expect(await store.entry(for: key) == nil, "value \(number)")
            #expect(try await eventually { try server.send("EXISTS", name) == .integer(0) }, "value \(number)")
        }
        #expect(store.statistics.damaged == values.count)
        #expect(store.statistics.failures == 0)
        #expect(store.statistics.suspensions == 0)
        try await store.store(Data([5]), metadata: Data(), extended: Data(), for: key, expiration: .never)
        #expect(await store.entry(for: key)?.data == Data([5]))
    }

    @Test("of other types as well") func types() async throws {
        let (server, store, _) = try await setUp()
        for _ in 0..<5 {
            try server.send("DEL", name)
            try server.send("LPUSH", name, "x")
            #expect(await store.entry(for: key) == nil)
            #expect(try await eventually { try server.send("EXISTS", name) == .integer(0) })
            try server.send("HSET", name, "x", "y")
            #expect(await !store.contains(key))
            #expect(try await eventually { try server.send("EXISTS", name) == .integer(0) })
            try server.send("SADD", name, "x")
            #expect(try !(await store.updateMetadata(Data([1]), for: key, replacing: nil, expiration: nil)))
            #expect(try await eventually { try server.send("EXISTS", name) == .integer(0) })
        }
        #expect(store.statistics.failures == 0)
        try server.send("LPUSH", name, "x")
        try await store.store(Data([5]), metadata: Data(), extended: Data(), for: key, expiration: .never)
        #expect(await store.entry(for: key)?.data == Data([5]))
    }

    @Test("in the front alone are noticed without the body") func front() async throws {
        let (server, store, value) = try await setUp()
        var damaged = value
        damaged[50] ^= 1
        try server.send("SET", name, .init(damaged))
        #expect(await !store.contains(key))
        #expect(try await eventually { try server.send("EXISTS", name) == .integer(0) })
        try server.send("SET", name, .init(damaged))
        #expect(try !(await store.updateMetadata(Data([9]), for: key, replacing: nil, expiration: nil)))
        #expect(try await eventually { try server.send("EXISTS", name) == .integer(0) })
    }

    @Test("a good entry that has come meanwhile is not removed for them") func replaced() async throws {
        let (server, store, value) = try await setUp()
        let seen = Array("garbage".utf8)
        try server.send("SET", name, .init(value))
        try server.send("EVAL", .init(Scripts.discard), "1", name, .init(seen))
        try server.send("EVAL", .init(Scripts.discard), "1", name, "")
        #expect(await store.entry(for: key)?.data == Data([1, 2, 3]))
    }

    @Test("under the key of a claim let the caller go on") func lease() async throws {
        let (server, store, _) = try await setUp()
        let other = CacheKey("another")
        try server.send("LPUSH", "halcyon:lease:0:\(other.fileName)", "x")
        var configuration = store.configuration
        configuration.claimWait = .milliseconds(100)
        let waiting = RedisStore(configuration: configuration)
        guard case .alone = await waiting.claim(other) else { throw RedisServer.NotStarted() }
        #expect(waiting.statistics.failures == 0)
    }
}
