import Foundation
import HalcyonCache
import HalcyonTesting
@testable import RedisServing
import Testing

@testable import RedisStore

@Suite("A Redis that is full, slow or gone") struct OutageTests {
    private let key = CacheKey("https://example.com/a.jpg")
    private let other = CacheKey("another")

    private func put(_ byte: UInt8, _ key: CacheKey, _ store: RedisStore, count: Int = 1) async throws {
        try await store.store(
            Data(repeating: byte, count: count), metadata: Data(), extended: Data(), for: key, expiration: .never)
    }

    @Test("full: what is there is found, new entries and their former ones are not") func full() async throws {
        let server = try await RedisServer("--maxmemory", "20mb", "--maxmemory-policy", "noeviction")
        let store = RedisStore(configuration: server.configuration)
        try await put(1, key, store)
        try await put(2, other, store)
        try server.send("CONFIG", "SET", "maxmemory", "1")
        for _ in 0..<10 {
            await #expect(throws: RedisStoreError.refused(command: "SET", code: "OOM")) { try await put(3, key, store) }
        }
        #expect(await store.entry(for: key) == nil)
        #expect(await store.entry(for: other)?.data == Data([2]))
        guard case .alone = await store.claim(key) else { throw RedisServer.NotStarted() }
        #expect(store.statistics.suspensions == 0)
        try server.send("CONFIG", "SET", "maxmemory", "0")
        try await put(4, key, store)
        #expect(await store.entry(for: key)?.data == Data([4]))
    }

    @Test("a replica: look-ups work, writes do not, and what cannot be removed is not found") func replica()
        async throws
    {
        let server = try await RedisServer()
        let store = RedisStore(configuration: server.configuration)
        try await put(1, key, store)
        try await put(2, other, store)
        try server.send("REPLICAOF", "127.0.0.1", "1")
        await #expect(throws: RedisStoreError.refused(command: "SET", code: "READONLY")) {
            try await put(3, key, store)
        }
        #expect(await store.entry(for: key) == nil)
        #expect(await store.entry(for: other)?.data == Data([2]))
        await store.remove(other)
        #expect(await store.entry(for: other) == nil)
        #expect(store.statistics.suspensions == 0)
        try server.send("REPLICAOF", "NO", "ONE")
        #expect(try await eventually { try server.count("halcyon:v1:*") == 0 })
    }

    @Test("gone: misses at once, and nothing that was removed meanwhile is found after it is back") func gone()
        async throws
    {
        let server = try await RedisServer("--dbfilename", "d.rdb")
        let clock = ManualClock()
        let store = RedisStore(configuration: server.configuration, timeSource: clock.timeSource)
        try await put(1, key, store)
        try await put(2, other, store)
        try server.send("SAVE")
        server.kill()
        #expect(await store.entry(for: key) == nil)
        #expect(
            await eventually {
                _ = await store.entry(for: key)
                return store.statistics.suspensions == 1
            })
        let start = ContinuousClock.now
        for _ in 0..<1000 { #expect(await store.entry(for: other) == nil) }
        await store.remove(key)
        await #expect(throws: RedisStoreError.suspended) { try await put(9, key, store) }
        guard case .alone = await store.claim(other) else { throw RedisServer.NotStarted() }
        #expect(ContinuousClock.now - start < .seconds(2))
        try await server.start()
        try await clock.waitForSleepers()
        clock.advance(by: .seconds(31))
        #expect(await eventually { await store.entry(for: other)?.data == Data([2]) })
        #expect(await eventually { try? server.count("halcyon:v1:*") == 1 })
        #expect(await store.entry(for: key) == nil)
        try await put(3, key, store)
        #expect(await store.entry(for: key)?.data == Data([3]))
    }

    @Test("more removals than are remembered remove everything") func manyRemovals() async throws {
        let server = try await RedisServer("--dbfilename", "d.rdb")
        let clock = ManualClock()
        var configuration = server.configuration
        configuration.maximumPendingRemovals = 100
        let store = RedisStore(configuration: configuration, timeSource: clock.timeSource)
        let process = RedisStore(configuration: configuration)
        try await put(1, key, store)
        try server.send("SAVE")
        server.kill()
        for number in 0..<101 { await store.remove(CacheKey("\(number)")) }
        try await server.start()
        #expect(await eventually { await process.entry(for: key) != nil })
        #expect(
            await eventually {
                clock.advance(by: .seconds(31))
                return await process.entry(for: key) == nil
            })
        #expect(await eventually { (try? await put(2, key, store)) != nil })
        #expect(await process.entry(for: key)?.data == Data([2]))
    }

    @Test("cleared while it is gone: nothing is found before and after") func clearedWhileGone() async throws {
        let server = try await RedisServer("--dbfilename", "d.rdb")
        let clock = ManualClock()
        let store = RedisStore(configuration: server.configuration, timeSource: clock.timeSource)
        try await put(1, key, store)
        try server.send("SAVE")
        server.kill()
        await store.clear()
        try await server.start()
        #expect(await store.entry(for: key) == nil)
        #expect(
            await eventually {
                clock.advance(by: .seconds(31))
                return (try? await put(2, other, store)) != nil
            })
        #expect(await store.entry(for: key) == nil)
        #expect(await store.entry(for: other)?.data == Data([2]))
    }

    @Test("slow: look-ups end in time, and then at once") func slow() async throws {
        let server = try await RedisServer()
        let store = RedisStore(configuration: server.quickConfiguration)
        try await put(1, key, RedisStore(configuration: server.configuration))
        #expect(await eventually { await store.entry(for: key) != nil })
        let before = store.statistics.suspensions
        server.pause()
        defer { server.resume() }
        for _ in 0..<3 {
            let start = ContinuousClock.now
            #expect(await store.entry(for: key) == nil)
            #expect(ContinuousClock.now - start >= .milliseconds(49))
            // The server does not answer at all: a bound tells a hang.
            #expect(ContinuousClock.now - start < .seconds(10))
        }
        #expect(store.statistics.suspensions == before + 1)
        let start = ContinuousClock.now
        for _ in 0..<100 { #expect(await store.entry(for: key) == nil) }
        // Waits for the server would take five seconds.
        #expect(ContinuousClock.now - start < .seconds(3))
        server.resume()
        #expect(await eventually { await store.entry(for: key)?.data == Data([1]) })
    }

    @Test("a write that is late never comes after the removal behind it") func lateWrites() async throws {
        for round in 0..<8 {
            let server = try await RedisServer()
            let clock = ManualClock()
            var configuration = server.quickConfiguration
            configuration.writeTimeout = .milliseconds(100)
            let store = RedisStore(configuration: configuration, timeSource: clock.timeSource)
            let isStored = await eventually {
                clock.advance(by: .seconds(31))
                return (try? await put(1, other, store)) != nil
            }
            #expect(isStored)
            server.pause()
            // As large as the socket's buffer allows, so that the server has it all and reads it in several steps.
            await #expect(throws: RedisStoreError.self) {
                try await put(2, key, store, count: 100_000 + round * 10_000)
            }
            #expect(
                await eventually {
                    _ = await store.entry(for: other)
                    return !store.client.books.isAsked
                })
            await store.remove(key)
            server.resume()
            #expect(
                await eventually {
                    clock.advance(by: .seconds(31))
                    return await store.entry(for: other) != nil
                })
            #expect(await eventually { try? server.send("EXISTS", "halcyon:v1:0:\(key.fileName)") == .integer(0) })
            #expect(await RedisStore(configuration: server.configuration).entry(for: key) == nil)
        }
    }

    @Test("a connection that the server closes when it is idle is no failure") func idle() async throws {
        let server = try await RedisServer()
        let store = RedisStore(configuration: server.configuration)
        for round in 0..<5 as Range<UInt8> {
            try await put(round, key, store)
            #expect(await store.entry(for: key)?.data == Data([round]))
            try server.send("CLIENT", "KILL", "TYPE", "normal", "SKIPME", "yes")
            #expect(await eventually { await store.entry(for: key) != nil })
        }
        #expect(store.statistics.suspensions == 0)
    }

    @Test("a cancelled look-up ends at once") func cancellation() async throws {
        let server = try await RedisServer()
        var configuration = server.configuration
        configuration.lookupTimeout = .seconds(60)
        let store = RedisStore(configuration: configuration)
        try await put(1, key, store)
        server.pause()
        defer { server.resume() }
        let start = ContinuousClock.now
        let task = Task { await store.entry(for: key) }
        task.cancel()
        #expect(await task.value == nil)
        #expect(ContinuousClock.now - start < .seconds(5))
        server.resume()
        #expect(await store.entry(for: key)?.data == Data([1]))
    }

    @Test("the end waits for writes, and nothing is asked after it") func shutdown() async throws {
        let server = try await RedisServer()
        let store = RedisStore(configuration: server.configuration)
        try await put(1, key, store)
        let writes = (0..<20).map { number in
            Task { try await put(7, CacheKey("\(number)"), store, count: 100_000) }
        }
        #expect(await eventually { store.statistics.stores > 1 })
        #expect(await store.shutdown(within: .seconds(10)))
        for write in writes { _ = await write.result }
        #expect(await store.entry(for: key) == nil)
        await #expect(throws: RedisStoreError.shutDown) { try await put(1, key, store) }
        #expect(await RedisStore(configuration: server.configuration).entry(for: key)?.data == Data([1]))
        #expect(await store.shutdown(within: .zero))
    }
}
