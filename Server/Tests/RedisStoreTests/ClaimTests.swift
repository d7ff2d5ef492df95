import Foundation
import HalcyonCache
import HalcyonTesting
@testable import RedisServing
import Testing

@testable import RedisStore

@Suite("Claims in Redis") struct ClaimTests {
    private let key = CacheKey("https://example.com/a.jpg")

    private func put(_ store: RedisStore) async throws {
        try await store.store(Data([1]), metadata: Data(), extended: Data(), for: key, expiration: .never)
    }

    private func stores(_ server: RedisServer, _ change: (inout RedisStore.Configuration) -> Void = { _ in })
        -> [RedisStore]
    {
        var configuration = server.configuration
        configuration.claimWait = .seconds(60)
        change(&configuration)
        let final = configuration
        return (0..<2).map { _ in RedisStore(configuration: final) }
    }

    @Test("of 50 callers in two processes one makes the entry, and all others find it") func oneMaker() async throws {
        let server = try await RedisServer()
        let stores = stores(server)
        for round in 0..<5 {
            let key = CacheKey("\(round)")
            let counts = try await withThrowingTaskGroup(of: String.self) { group in
                for number in 0..<50 {
                    let store = stores[number % 2]
                    group.addTask {
                        switch await store.claim(key) {
                        case .granted(let token):
                            // Others have the time to ask.
                            _ = await eventually { (stores[0].claimants + stores[1].claimants) > 20 }
                            try await store.store(
                                Data([1]), metadata: Data(), extended: Data(), for: key, expiration: .never)
                            withExtendedLifetime(token) {}
                            return "granted"
                        case .stored: return await store.entry(for: key) == nil ? "lost" : "stored"
                        case .alone: return "alone"
                        }
                    }
                }
                return try await group.reduce(into: [:]) { $0[$1, default: 0] += 1 }
            }
            #expect(counts == ["granted": 1, "stored": 49], "round \(round)")
        }
        #expect(stores[0].claimants + stores[1].claimants == 0)
    }

    @Test("claims that end without an entry go from one to the next, one at a time") func oneAtATime() async throws {
        let server = try await RedisServer()
        let stores = stores(server)
        let holders = Holders()
        await withTaskGroup(of: Void.self) { group in
            for number in 0..<20 {
                group.addTask {
                    guard case .granted(let token) = await stores[number % 2].claim(key) else { return }
                    await holders.enter()
                    _ = await stores[0].entry(for: key)
                    await holders.leave()
                    withExtendedLifetime(token) {}
                }
            }
        }
        #expect(await holders.most == 1)
        #expect(await holders.all == 20)
    }

    private actor Holders {
        private var now = 0
        private(set) var most = 0
        private(set) var all = 0

        func enter() {
            (now, all) = (now + 1, all + 1)
            most = max(most, now)
        }

        func leave() { now -= 1 }
    }

    @Test("an entry that is there is not claimed") func stored() async throws {
        let server = try await RedisServer()
        let stores = stores(server)
        try await put(stores[0])
        guard case .stored = await stores[1].claim(key) else { throw RedisServer.NotStarted() }
        #expect(stores[1].statistics.claimsStored == 1)
        await stores[0].remove(key)
        guard case .granted = await stores[1].claim(key) else { throw RedisServer.NotStarted() }
        #expect(stores[1].statistics.claimsGranted == 1)
        #expect(try await eventually { try server.count("halcyon:lease:*") == 0 })
    }

    @Test("the claim of a process that died goes to one that waits") func death() async throws {
        let server = try await RedisServer()
        let store = stores(server) { $0.leaseDuration = .milliseconds(300) }[0]
        // As a process that is killed leaves it.
        try server.send("SET", "halcyon:lease:0:\(key.fileName)", "dead", "PX", "300")
        guard case .granted = await store.claim(key) else { throw RedisServer.NotStarted() }
    }

    @Test("nobody waits so long for a process that died that it goes on alone") func deathBeforeTheEndOfTheWait() {
        let configuration = RedisStore.Configuration()
        #expect(configuration.leaseDuration * 2 < configuration.claimWait)
    }

    @Test("a living holder keeps its claim for longer than a lease, and not for ever") func renewal() async throws {
        let server = try await RedisServer()
        let clock = ManualClock()
        var configuration = server.configuration
        // Longer than any machine takes for this test, since the server counts in its own time.
        (configuration.leaseDuration, configuration.maximumClaim) = (.seconds(900), .seconds(8_640_000))
        let store = RedisStore(configuration: configuration, timeSource: clock.timeSource)
        let claim = await store.claim(key)
        guard case .granted = claim else { throw RedisServer.NotStarted() }
        let lease: RedisCommand.Argument = "halcyon:lease:0:\(key.fileName)"
        for _ in 0..<5 {
            try server.send("PEXPIRE", lease, "500000")
            let isRenewed = try await eventually {
                // The holder may not wait yet.
                clock.advance(by: .seconds(300))
                guard case .integer(let left) = try server.send("PTTL", lease) else { return false }
                return left > 600_000
            }
            #expect(isRenewed)
        }
        // Each renewal ends the expiration that was set before it, until there are no more.
        let isGone = try await eventually {
            clock.advance(by: .seconds(864_000))
            guard case .integer(let left) = try server.send("PTTL", lease), left > 20 else {
                return try server.send("EXISTS", lease) == .integer(0)
            }
            try server.send("PEXPIRE", lease, "20")
            return false
        }
        #expect(isGone)
        withExtendedLifetime(claim) {}
    }

    @Test("the end of an earlier claim does not end the one of the next holder") func laterHolder() async throws {
        let server = try await RedisServer()
        let store = stores(server)[0]
        var claim: CacheClaim? = await store.claim(key)
        guard case .granted = claim else { throw RedisServer.NotStarted() }
        let lease: RedisCommand.Argument = "halcyon:lease:0:\(key.fileName)"
        try server.send("SET", lease, "other")
        claim = nil
        for _ in 0..<20 { _ = await store.entry(for: key) }
        #expect(try server.send("GET", lease) == .bytes(Data("other".utf8)))
        withExtendedLifetime(claim) {}
    }

    @Test("a wait ends after its time") func patience() async throws {
        let server = try await RedisServer()
        let clock = ManualClock()
        var configuration = server.configuration
        configuration.leaseDuration = .seconds(3600)
        let (holder, store) = (
            RedisStore(configuration: configuration),
            RedisStore(configuration: configuration, timeSource: clock.timeSource)
        )
        let claim = await holder.claim(key)
        let waiting = Task { await store.claim(key) }
        #expect(await eventually { store.claimants == 1 })
        #expect(
            await eventually {
                clock.advance(by: .seconds(6))
                return store.statistics.claimsAlone == 1
            })
        guard case .alone = await waiting.value else { throw RedisServer.NotStarted() }
        withExtendedLifetime(claim) {}
    }

    @Test("a cancelled wait ends at once, and a cancelled claim is nobody's") func cancellation() async throws {
        let server = try await RedisServer()
        let stores = stores(server)
        var claim: CacheClaim? = await stores[0].claim(key)
        let waiting = Task { await stores[1].claim(key) }
        #expect(await eventually { stores[1].claimants == 1 })
        waiting.cancel()
        guard case .alone = await waiting.value else { throw RedisServer.NotStarted() }
        #expect(stores[1].claimants == 0)
        claim = nil
        #expect(try await eventually { try server.count("halcyon:lease:*") == 0 })
        for number in 0..<50 {
            let task = Task { await stores[0].claim(CacheKey("\(number)")) }
            if number % 2 == 0 { await Task.yield() }
            task.cancel()
            _ = await task.value
        }
        #expect(try await eventually { try server.count("halcyon:lease:*") == 0 })
        withExtendedLifetime(claim) {}
    }

    @Test("those who wait go on alone when the server goes, or its subscriptions") func gone() async throws {
        for kills in [true, false] {
            let server = try await RedisServer()
            let stores = stores(server)
            let claim = await stores[0].claim(key)
            let waiting = (0..<10).map { _ in Task { await stores[1].claim(key) } }
            #expect(await eventually { stores[1].claimants == 10 })
            #expect(try await eventually { try server.send("PUBSUB", "NUMPAT") == .integer(0) })
            #expect(try await eventually { try server.send("PUBSUB", "CHANNELS") != .list([]) })
            if kills { server.kill() } else { try server.send("CLIENT", "KILL", "TYPE", "pubsub") }
            for task in waiting {
                guard case .alone = await task.value else { throw RedisServer.NotStarted() }
            }
            withExtendedLifetime(claim) {}
        }
    }

    @Test("those who wait go on alone when the server is suspended") func suspended() async throws {
        let server = try await RedisServer()
        let stores = stores(server)
        let claim = await stores[0].claim(key)
        let waiting = Task { await stores[1].claim(key) }
        #expect(await eventually { stores[1].claimants == 1 })
        for _ in 0..<3 { _ = stores[1].client.failed(.timedOut(command: "GET")) }
        guard case .alone = await waiting.value else { throw RedisServer.NotStarted() }
        withExtendedLifetime(claim) {}
    }
}

extension RedisStore {
    /// The number of calls that wait for claims of others.
    var claimants: Int { client.waiters.count }
}
