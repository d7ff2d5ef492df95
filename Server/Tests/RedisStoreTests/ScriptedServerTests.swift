import Foundation
import Glibc
import HalcyonCache
import HalcyonTesting
@testable import RedisServing
import NIOConcurrencyHelpers
import Synchronization
import Testing

@testable import RedisStore

@Suite("A server that is none") struct ScriptedServerTests {
    private let key = CacheKey("https://example.com/a.jpg")

    /// Checks that a server is given up: look-ups find nothing, writes throw, and after three failures it is suspended.
    private func expectSuspended(
        _ configuration: RedisStore.Configuration, within limit: Duration = .seconds(60),
        sourceLocation: SourceLocation = #_sourceLocation
    ) async throws {
        let store = RedisStore(configuration: configuration, timeSource: ManualClock().timeSource)
        let start = ContinuousClock.now
        for _ in 0..<3 { #expect(await store.entry(for: key) == nil, sourceLocation: sourceLocation) }
        #expect(
            await eventually {
                _ = await store.entry(for: key)
                return store.statistics.suspensions == 1
            }, sourceLocation: sourceLocation)
        #expect(store.statistics.hits == 0, sourceLocation: sourceLocation)
        guard case .alone = await store.claim(key) else { throw RedisServer.NotStarted() }
        await #expect(throws: RedisStoreError.suspended, sourceLocation: sourceLocation) {
            try await store.store(Data([1]), metadata: Data(), extended: Data(), for: key, expiration: .never)
        }
        #expect(ContinuousClock.now - start < limit, sourceLocation: sourceLocation)
    }

    @Test(
        "garbage, errors, lists and answers of other types",
        arguments: [
            "garbage\r\n", "\0\0\0\0", "$abc\r\n", "$-2\r\n", "*2147483647\r\n", "*1\r\n*1\r\n*1\r\n:1\r\n", "*-5\r\n",
            "-LOADING Redis is loading the dataset in memory\r\n", "-NOAUTH Authentication required.\r\n",
            "-MOVED 3999 127.0.0.1:6381\r\n", ":1\r\n:1\r\n", "HTTP/1.1 400 Bad Request\r\n\r\n", ":1\r\n+OK\r\n",
            "$3\r\nabcXY", "_\r\n", "%1\r\n+a\r\n+b\r\n",
        ])
    func garbage(_ answer: String) async throws {
        let server = try ScriptedServer(ScriptedServer.answering { _ in answer })
        try await expectSuspended(server.configuration)
    }

    @Test("no answer, half of one, and one that ends")
    func halves() async throws {
        let silent = try ScriptedServer(ScriptedServer.answering { _ in "" })
        try await expectSuspended(silent.configuration)
        let half = try ScriptedServer(ScriptedServer.answering { _ in "$100\r\nabc" })
        try await expectSuspended(half.configuration)
        let closing = try ScriptedServer { client in
            _ = ScriptedServer.receive(client)
            ScriptedServer.send(client, "$100\r\nabc")
        }
        try await expectSuspended(closing.configuration)
        let gone = try ScriptedServer { _ in }
        try await expectSuspended(gone.configuration)
    }

    @Test("an answer without an end takes no more memory than an entry may have")
    func endless() async throws {
        for header in ["$9999999999\r\n", "$536870912\r\n", "+", "-ERR "] {
            let server = try ScriptedServer { client in
                guard ScriptedServer.receive(client) != nil, ScriptedServer.send(client, header) else { return }
                let block = String(repeating: "x", count: 1 << 20)
                while ScriptedServer.send(client, block) {}
            }
            var configuration = server.configuration
            (configuration.lookupTimeout, configuration.connectTimeout) = (.seconds(20), .seconds(20))
            configuration.maximumEntryBytes = 1 << 20
            let store = RedisStore(configuration: configuration, timeSource: ManualClock().timeSource)
            #expect(await store.entry(for: key) == nil)
            // Not a timeout: the connection is closed as soon as the answer is too long.
            #expect(store.statistics.failures == 1)
            #expect(store.statistics.unanswered == 1)
        }
        let short = try ScriptedServer(ScriptedServer.answering { _ in "$9999999999\r\n" })
        try await expectSuspended(short.configuration)
    }

    @Test("answers that are late for one caller are not taken for those of the next") func lateAnswers() async throws {
        let value = try StoredValue.value(
            of: Data([7]), metadata: Data(), extended: Data(), for: key,
            storedAt: Date(timeIntervalSinceReferenceDate: 0),
            keptUntil: nil, limit: 10_000)
        let isAsked = Atomic(false)
        let server = try ScriptedServer { client in
            guard ScriptedServer.receive(client) != nil else { return }
            isAsked.store(true, ordering: .relaxed)
            guard ScriptedServer.receive(client) != nil else { return }
            ScriptedServer.send(client, "$5\r\nfirst\r\n$1\r\n0\r\n$\(value.count)\r\n")
            value.withUnsafeBytes { _ = Glibc.send(client, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL)) }
            ScriptedServer.send(client, "\r\n$-1\r\n")
            while ScriptedServer.receive(client) != nil {}
        }
        var configuration = server.configuration
        (configuration.lookupTimeout, configuration.connectTimeout) = (.seconds(20), .seconds(20))
        configuration.connections = 1
        let store = RedisStore(configuration: configuration, timeSource: ManualClock().timeSource)
        let first = Task { await store.entry(for: CacheKey("first")) }
        #expect(await eventually { isAsked.load(ordering: .relaxed) })
        first.cancel()
        #expect(await first.value == nil)
        #expect(await store.entry(for: key)?.data == Data([7]))
        #expect(store.statistics.failures == 0)
        #expect(store.statistics.damaged == 0)
    }

    @Test("several entries are asked for by one round trip, in their order") func several() async throws {
        let packets = NIOLockedValueBox<[String]>([])
        let server = try ScriptedServer(
            ScriptedServer.answering { packet in
                packets.withLockedValue { $0.append(packet) }
                return "$0\r\n\r\n$0\r\n\r\n$-1\r\n"
            })
        var configuration = server.configuration
        (configuration.lookupTimeout, configuration.connectTimeout) = (.seconds(20), .seconds(20))
        let store = RedisStore(configuration: configuration, timeSource: ManualClock().timeSource)
        let keys = [key, CacheKey("second")]
        #expect(await store.entries(for: keys).count == 2)
        #expect(store.statistics.misses == 2)
        let packet = try #require(packets.withLockedValue { $0.count == 1 ? $0.first : nil })
        let places = try keys.map { try #require(packet.range(of: $0.fileName)).lowerBound }
        #expect(places[0] < places[1])
    }

    @Test("a bulk answer that arrives byte by byte is read") func slowBytes() async throws {
        let value = try StoredValue.value(
            of: Data(repeating: 65, count: 100), metadata: Data(), extended: Data(), for: key,
            storedAt: Date(timeIntervalSinceReferenceDate: 0), keptUntil: nil, limit: 10_000)
        let server = try ScriptedServer { client in
            guard ScriptedServer.receive(client) != nil else { return }
            let answer = Array("$\(value.count)\r\n".utf8) + value + Array("\r\n$-1\r\n".utf8)
            for byte in answer {
                withUnsafeBytes(of: byte) { _ = Glibc.send(client, $0.baseAddress, 1, Int32(MSG_NOSIGNAL)) }
            }
            while ScriptedServer.receive(client) != nil {}
        }
        var configuration = server.configuration
        (configuration.lookupTimeout, configuration.connectTimeout) = (.seconds(20), .seconds(20))
        let store = RedisStore(configuration: configuration)
        #expect(await store.entry(for: key)?.data == Data(repeating: 65, count: 100))
    }

    @Test("a name that does not resolve, a port that nobody listens at, a path that is none") func addresses()
        async throws
    {
        let addresses: [RedisStore.Configuration.Address] = [
            .host("127.0.0.1", port: 1), .host("", port: -1), .host("name.invalid", port: 6379),
            .unixSocket("/nowhere"), .unixSocket(String(repeating: "x", count: 200)), .unixSocket(""),
        ]
        for address in addresses { try await expectSuspended(RedisStore.Configuration(address: address)) }
    }

    @Test("errors say what failed, and no arguments") func errors() async throws {
        let server = try ScriptedServer(
            ScriptedServer.answering { "-ERR unknown command, with args: \($0.prefix(20))\r\n" })
        var configuration = server.configuration
        (configuration.password, configuration.connectTimeout) = ("secret", .seconds(20))
        configuration.writeTimeout = .seconds(20)
        let store = RedisStore(configuration: configuration, timeSource: ManualClock().timeSource)
        do {
            try await store.store(Data([1]), metadata: Data(), extended: Data(), for: key, expiration: .never)
            Issue.record("it was stored")
        } catch { #expect(error as? RedisStoreError == .refused(command: "AUTH", code: "ERR")) }
        withExtendedLifetime(server) {}
    }
}
