import Foundation
import Glibc
import HalcyonCache
import HalcyonTesting
@testable import RedisServing
import Synchronization
import Testing

@testable import RedisStore

@Suite("The first commands of a connection") struct GreetingTests {
    private func answer(_ greeting: inout Greeting, run: String, number: Int) throws {
        _ = try greeting.commands()
        try greeting.answered(.number, .integer(number))
        let text = "# Server\r\nredis_version:7.0.15\r\nrun_id:\(run)\r\ntcp_port:0\r\n"
        try greeting.answered(.run, .bytes(Data(text.utf8)))
    }

    private func text(_ command: RedisCommand) -> String { String(decoding: command.bytes, as: UTF8.self) }

    @Test("a connection that has ended with unanswered writes is ended at the server, of the same run only")
    func fences() throws {
        var greeting = Greeting(RedisStore.Configuration(), isForWrites: true)
        try answer(&greeting, run: "a", number: 7)
        #expect(try greeting.fences().isEmpty)
        greeting.closed(isUnanswered: false)
        try answer(&greeting, run: "a", number: 8)
        #expect(try greeting.fences().isEmpty)
        greeting.closed(isUnanswered: true)
        try answer(&greeting, run: "a", number: 9)
        let commands = try greeting.fences().map { text($0) }
        #expect(commands == ["*4\r\n$6\r\nCLIENT\r\n$4\r\nKILL\r\n$2\r\nID\r\n$1\r\n8\r\n"])
        greeting.closed(isUnanswered: true)
        try answer(&greeting, run: "a", number: 10)
        #expect(try greeting.fences().count == 2)
        try greeting.answered(.fence, .integer(1))
        #expect(try greeting.fences().isEmpty)
        greeting.closed(isUnanswered: true)
        try answer(&greeting, run: "b", number: 10)
        #expect(try greeting.fences().isEmpty)
    }

    @Test("a server that does not tell its run gets no fence, and that is no error") func noRun() throws {
        var greeting = Greeting(RedisStore.Configuration(), isForWrites: true)
        for _ in 0..<2 {
            _ = try greeting.commands()
            try greeting.answered(.number, .error(code: "NOPERM"))
            try greeting.answered(.run, .error(code: "NOPERM"))
            #expect(try greeting.fences().isEmpty)
            greeting.closed(isUnanswered: true)
        }
    }

    @Test("the password and the database come first, and must be accepted") func login() throws {
        var greeting = Greeting(
            RedisStore.Configuration(username: "me", password: "secret", database: 2), isForWrites: false)
        let commands = try greeting.commands().map { text($0.1) }
        #expect(commands.first == "*3\r\n$4\r\nAUTH\r\n$2\r\nme\r\n$6\r\nsecret\r\n")
        #expect(commands.last == "*2\r\n$6\r\nSELECT\r\n$1\r\n2\r\n")
        #expect(throws: RedisStoreError.refused(command: "AUTH", code: "WRONGPASS")) {
            try greeting.answered(.password, .error(code: "WRONGPASS"))
        }
        #expect(throws: RedisStoreError.malformed(command: "SELECT")) {
            try greeting.answered(.database, .bytes(Data()))
        }
        #expect(throws: Never.self) { try greeting.answered(.password, .status("OK")) }
    }

    @Test("a write that is on its way when its connection ends is not executed behind the removal")
    func overtaken() async throws {
        let key = CacheKey("key")
        let isHeld = Atomic(false)
        let isReleased = Atomic(false)
        let isSent = Atomic(false)
        let server = try await RedisServer()
        let proxy = try ScriptedServer(
            ScriptedServer.proxy(to: server.socket) { packet, send in
                guard packet.contains("held value") else { return send() }
                isHeld.store(true, ordering: .relaxed)
                while !isReleased.load(ordering: .relaxed) { usleep(1000) }
                send()
                isSent.store(true, ordering: .relaxed)
            })
        let clock = ManualClock()
        var configuration = proxy.configuration
        (configuration.connectTimeout, configuration.lookupTimeout) = (.seconds(20), .seconds(20))
        configuration.writeTimeout = .seconds(20)
        let store = RedisStore(configuration: configuration, timeSource: clock.timeSource)
        let write = Task {
            try await store.store(
                Data("held value".utf8), metadata: Data(), extended: Data(), for: key, expiration: .never)
        }
        #expect(await eventually { isHeld.load(ordering: .relaxed) })
        for _ in 0..<CircuitBreaker.failuresInARow { _ = store.client.failed(.timedOut(command: "GET")) }
        await #expect(throws: RedisStoreError.suspended) { try await write.value }
        #expect(await store.entry(for: key) == nil)
        let isRemoved = await eventually {
            clock.advance(by: .seconds(31))
            return !store.client.books.isRemoved(key.fileName)
        }
        #expect(isRemoved)
        isReleased.store(true, ordering: .relaxed)
        #expect(await eventually { isSent.load(ordering: .relaxed) })
        for _ in 0..<20 { #expect(try server.send("EXISTS", "halcyon:v1:0:\(key.fileName)") == .integer(0)) }
        #expect(await store.entry(for: key) == nil)
    }
}
