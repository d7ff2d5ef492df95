import Foundation
import Testing
import UnixSignals

@testable import HalcyonServer

/// Requests that have been answered before, on connections with others: from memory, and from the disk where it has no room.
@Suite(.timeLimit(.minutes(5)))
struct WarmRequestTests {
    /// Runs a server with a source, at whose path for each width an answer has been made.
    private func run(
        _ widths: [Int], memory: Int,
        _ body: @escaping @Sendable (ServerFixture, [String], [HTTPAnswer]) async throws -> Void
    ) async throws {
        try await ServerFixture.run {
            $0.cache.memoryBytes = memory
        } _: { server async throws in
            let source = try server.serve("jpeg/baseline-420.jpg", headers: ["Cache-Control": "max-age=600"])
            let paths = widths.map { "/fit-\($0)x\($0),png/\(source)" }
            var answers: [HTTPAnswer] = []
            for path in paths {
                answers.append(try await server.get(path))
                // The disk is written behind the answer.
                let kept = server.application.keptAnswers
                while memory == 0, server.application.keptAnswers == kept { _ = try await server.get(path) }
            }
            try await body(server, paths, answers)
        }
    }

    private static let memories = [0, 64 << 20]

    /// Returns the answers to requests that are sent together.
    private func exchange(_ text: String, _ server: ServerFixture, endsInput: Bool = false) async throws -> [HTTPAnswer]
    {
        let port = server.port
        return try await blocking {
            let connection = try LoopbackConnection(port: port)
            try connection.send(text)
            if endsInput { connection.endSending() }
            return try connection.answersUntilClose()
        }
    }

    private func head(_ path: String, _ fields: [String: String] = [:], method: String = "GET") -> String {
        LoopbackConnection.head(path, fields, method: method)
    }

    @Test(arguments: memories)
    func answersComeInTheOrderOfTheirRequests(memory: Int) async throws {
        try await run([20, 21], memory: memory) { server, paths, first in
            let new = paths[0].replacing("fit-20x20", with: "fit-9x9")
            let text =
                head(paths[0]) + head(paths[1]) + head(new) + head(paths[1]) + head("/nothing") + head(paths[0])
                + head(paths[1], ["Connection": "close"])
            let answers = try await exchange(text, server)
            #expect(answers.map(\.status) == [200, 200, 200, 200, 404, 200, 200])
            let expected = [first[0], first[1], nil, first[1], nil, first[0], first[1]]
            for (answer, expected) in zip(answers, expected) {
                if let expected { #expect(answer.body == expected.body) }
            }
            #expect(try answers[2].image().size.width == 9)
        }
    }

    /// An answer is the same whoever gives it: the connection's task, or its event loop.
    @Test(arguments: memories)
    func fieldsAreThoseOfTheFirstAnswer(memory: Int) async throws {
        try await run([20], memory: memory) { server, paths, first in
            func fields(_ answer: HTTPAnswer) -> [String: String] {
                var fields = Dictionary(
                    answer.fields.map { ($0.name.lowercased(), $0.value) }, uniquingKeysWith: { "\($0) \($1)" })
                #expect(fields.removeValue(forKey: "date") != nil && fields.removeValue(forKey: "x-request-id") != nil)
                // The seconds that are left.
                #expect(fields.removeValue(forKey: "cache-control")?.hasPrefix("public, max-age=") == true)
                return fields
            }
            let expected = fields(first[0])
            for others in [[:], ["Connection": "close"]] {
                let again = try await server.get(paths[0], others)
                #expect(fields(again) == expected && again.body == first[0].body)
                let head = try await server.get(paths[0], others, method: "HEAD")
                #expect(fields(head) == expected && head.body.isEmpty)
                let tag = try #require(first[0]["ETag"])
                let known = try await server.get(paths[0], others.merging(["If-None-Match": tag]) { $1 })
                #expect(known.status == 304 && known.body.isEmpty && known["ETag"] == tag)
                #expect(known["Content-Type"] == nil)
            }
            let named = try await server.get(paths[0], ["X-Request-Id": "the-client"])
            #expect(named["X-Request-Id"] == "the-client")
        }
    }

    @Test(arguments: memories)
    func aBodyIsNoPartOfARequest(memory: Int) async throws {
        try await run([20], memory: memory) { server, paths, first in
            let text = head(paths[0], ["Content-Length": "18"]) + "GET / HTTP/1.1\r\n\r\n"
            let answers = try await exchange(text + head(paths[0], ["Connection": "close"]), server)
            #expect(answers.map(\.status) == [200, 200] && answers.allSatisfy { $0.body == first[0].body })
        }
    }

    @Test(arguments: memories)
    func theAnswerComesBeforeTheBody(memory: Int) async throws {
        try await run([20], memory: memory) { server, paths, first in
            let fields = [
                ["Content-Length": "5"], ["Transfer-Encoding": "chunked"],
                ["Content-Length": "5", "Expect": "100-continue"], ["Content-Length": "0"],
            ]
            for fields in fields {
                let answer = try await server.get(paths[0], fields)
                #expect(answer.status == 200 && answer.body == first[0].body)
            }
        }
    }

    @Test(arguments: memories)
    func aRequestThatCannotBeReadEndsTheConnectionBehindAnAnswer(memory: Int) async throws {
        try await run([20], memory: memory) { server, paths, first in
            let answers = try await exchange(head(paths[0]) + "no request\r\n\r\n" + head(paths[0]), server)
            #expect(answers.map(\.status) == [200, 400] && answers.first?.body == first[0].body)
        }
    }

    @Test(arguments: memories)
    func aClientThatSendsNoMoreGetsItsAnswers(memory: Int) async throws {
        try await run([20], memory: memory) { server, paths, first in
            let answers = try await exchange(head(paths[0]) + head(paths[0]), server, endsInput: true)
            #expect(answers.map(\.status) == [200, 200] && answers.allSatisfy { $0.body == first[0].body })
        }
    }

    /// A client that takes no answer before all requests are sent gets them all, whoever gives those that did not fit at once.
    @Test(arguments: memories)
    func manyRequestsAtOnceAreAnsweredInTheirOrder(memory: Int) async throws {
        try await run([30, 31], memory: memory) { server, paths, first in
            let text = String(repeating: head(paths[0]) + head(paths[1]), count: 1000)
            let answers = try await exchange(text + head(paths[0], ["Connection": "close"]), server)
            #expect(answers.count == 2001)
            #expect(answers.indices.allSatisfy { answers[$0].body == first[$0 % 2].body })
        }
    }

    @Test func theyAreCounted() async throws {
        try await run([20], memory: 64 << 20) { server, paths, first in
            for _ in 0..<3 { _ = try await server.get(paths[0]) }
            let text = String(decoding: try await server.report("/metrics").body, as: UTF8.self)
            #expect(text.contains("halcyon_server_requests_total{status=\"200\"} 4\n"))
            #expect(text.contains("halcyon_server_response_bytes_total \(4 * first[0].body.count)\n"))
            #expect(text.contains("halcyon_server_request_duration_seconds_count 4\n"))
            #expect(text.contains("halcyon_server_requests_running 0\n"))
        }
    }
}

/// Answers that no socket holds: a request is under way until its client has taken them.
@Suite(.timeLimit(.minutes(5)))
struct LongWarmRequestTests {
    private static let side = 1700

    /// Runs a server that has answered a request before.
    private func run(
        memory: Int = 64 << 20, signals: [UnixSignal] = [], idleTimeout: Duration = .seconds(60),
        writeTimeout: Duration = .seconds(60),
        _ body: @escaping @Sendable (ServerFixture, String, Data) async throws -> Void
    ) async throws {
        try await ServerFixture.run(signals: signals) {
            $0.cache.memoryBytes = memory
            ($0.http.idleTimeout, $0.http.writeTimeout) = (idleTimeout, writeTimeout)
        } _: { server async throws in
            let source = "http://images.test/noise.bmp"
            let noise = LargePicture.noise(width: Self.side, height: Self.side)
            try server.answer(source, with: .data(noise, headers: ["Cache-Control": "max-age=600"]))
            let path = "/fit-\(Self.side)x\(Self.side),png/\(source)"
            let bytes = try await server.get(path).body
            let kept = server.application.keptAnswers
            while memory == 0, server.application.keptAnswers == kept { _ = try await server.get(path) }
            // More than the kernel holds for one connection.
            #expect(bytes.count > 8 << 20)
            try await body(server, path, bytes)
        }
    }

    /// Asks for a path and takes the first bytes of the answer.
    private func begin(_ path: String, _ server: ServerFixture) async throws -> (LoopbackConnection, Data) {
        let port = server.port
        return try await blocking {
            let connection = try LoopbackConnection(port: port, receiveBuffer: 4096)
            try connection.send(LoopbackConnection.head(path))
            return (connection, try connection.receive())
        }
    }

    /// Whether the rest of an answer comes whole.
    private func isWhole(_ connection: LoopbackConnection, _ first: Data, _ body: Data) async throws -> Bool {
        let answer = try await blocking { try connection.answer(after: first) }
        return answer.status == 200 && answer.body == body
    }

    @Test(arguments: [0, 64 << 20])
    func aClientThatSendsNoMoreGetsAllOfThem(memory: Int) async throws {
        try await run(memory: memory) { server, path, body in
            let port = server.port
            for count in 1...2 {
                let answers = try await blocking {
                    let connection = try LoopbackConnection(port: port, receiveBuffer: 4096)
                    try connection.send(String(repeating: LoopbackConnection.head(path), count: count))
                    connection.endSending()
                    return try connection.answersUntilClose()
                }
                #expect(answers.count == count && answers.allSatisfy { $0.status == 200 && $0.body == body })
            }
        }
    }

    @Test func aConnectionIsNotIdleBeforeItsAnswerIsTaken() async throws {
        try await run(idleTimeout: .seconds(1)) { server, path, body in
            let (connection, first) = try await begin(path, server)
            // Connections that are idle since then are closed, one after the other.
            for _ in 0..<2 { try await blocking { try LoopbackConnection(port: server.port).waitForClose() } }
            #expect(try await isWhole(connection, first, body))
            try await blocking { try connection.waitForClose() }
        }
    }

    @Test func theServerStopsAfterTheAnswersThatItSends() async throws {
        try await run(signals: [.sigwinch]) { server, path, body in
            let (connection, first) = try await begin(path, server)
            // A connection that is idle is closed as soon as the server stops.
            let idle = try await blocking {
                let idle = try LoopbackConnection(port: server.port)
                try idle.send(LoopbackConnection.head("/health"))
                #expect(try idle.answer().status == 200)
                return idle
            }
            kill(getpid(), SIGWINCH)
            try await blocking { try idle.waitForClose() }
            #expect(try await isWhole(connection, first, body))
            try await blocking { try connection.waitForClose() }
        }
    }

    @Test func aClientThatTakesNoneIsLeft() async throws {
        try await run(writeTimeout: .seconds(2)) { server, path, _ in
            let (connection, _) = try await begin(path, server)
            try await blocking { try connection.waitForClose() }
            #expect(try await server.get("/health").status == 200)
        }
    }

    /// A connection has its next request behind a long answer, whoever answers that.
    @Test func requestsWaitBehindALongAnswer() async throws {
        try await run { server, path, body in
            let new = path.replacing("fit-\(Self.side)x\(Self.side)", with: "fit-9x9")
            let port = server.port
            let answers = try await blocking {
                let connection = try LoopbackConnection(port: port, receiveBuffer: 4096)
                for path in [path, new, new, path] { try connection.send(LoopbackConnection.head(path)) }
                try connection.send(LoopbackConnection.head("/nothing", ["Connection": "close"]))
                return try connection.answersUntilClose()
            }
            #expect(answers.map(\.status) == [200, 200, 200, 200, 404])
            #expect(answers.first?.body == body && answers.dropFirst(3).first?.body == body)
            #expect(try answers.dropFirst().first?.image().size.width == 9)
        }
    }
}
