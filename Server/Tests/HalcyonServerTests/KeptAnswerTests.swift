import Foundation
import Halcyon
import HalcyonNetwork
import HalcyonTesting
import Testing

@testable import HalcyonServer

/// Answers that only the disk has.
@Suite(.timeLimit(.minutes(2)))
struct KeptAnswerTests {
    /// Asks until the disk has answered, since it is written behind the first answers.
    private func keptAnswer(_ server: ServerFixture, _ path: String) async throws -> HTTPAnswer {
        while true {
            let answer = try await server.get(path)
            let report = try await String(decoding: server.report("/metrics").body, as: UTF8.self)
            if !report.contains("halcyon_server_kept_answers_total 0\n") { return answer }
        }
    }

    @Test func theyAreThoseThatWereMade() async throws {
        try await ServerFixture.run({ $0.cache.memoryBytes = 0 }) { server in
            let source = try server.serve("jpeg/baseline-420.jpg", headers: ["Cache-Control": "max-age=600"])
            let path = "/fit-24x24,png/\(source)"
            let first = try await server.get(path)
            let kept = try await keptAnswer(server, path)
            #expect(kept.status == 200)
            #expect(kept.body == first.body)
            for field in ["ETag", "Content-Type", "Content-Disposition", "Cache-Control"] {
                #expect(kept[field] == first[field])
            }
            let etag = try #require(kept["ETag"])
            #expect(try await server.get(path, ["If-None-Match": etag]).status == 304)
            #expect(server.application.answers.statistics.count == 0)
            #expect(server.transport.requestCount == 1)
        }
    }

    @Test func theyEndWithTheFreshnessOfTheirSource() async throws {
        let clock = ManualClock()
        try await ServerFixture.run(clock: clock, { $0.cache.memoryBytes = 0 }) { server in
            let fresh: HTTPHeaders = ["Cache-Control": "max-age=60"]
            try server.answer(
                "http://images.test/a", with: .data(try ServerFixture.fixture("jpeg/baseline-420.jpg"), headers: fresh),
                .data(try ServerFixture.fixture("jpeg/orientation-6.jpg"), headers: fresh))
            let path = "/fill-20x20,png/http://images.test/a"
            let kept = try await keptAnswer(server, path)
            clock.advance(by: .seconds(61))
            let later = try await server.get(path)
            #expect(later.body != kept.body)
            #expect(server.transport.requestCount == 2)
        }
    }

    /// Each read has the whole file in memory: of many requests at once, one reads it, and the others have its facts.
    @Test func manyRequestsReadASourceOnce() async throws {
        let clock = ManualClock()
        try await ServerFixture.run(clock: clock) {
            ($0.cache.memoryBytes, $0.queue.transfers) = (0, 1)
        } _: { server async throws in
            let source = try server.serve("jpeg/baseline-420.jpg", headers: ["Cache-Control": "max-age=6000"])
            #expect(try await server.get("/info/_/\(source)").status == 200)
            let disk = try #require(server.application.pipeline.cache.disk)
            // The source is written behind the answer.
            await disk.flush()
            // The facts are forgotten, and the file is still fresh.
            clock.advance(by: .seconds(301))
            let before = disk.statistics.hits
            try await withThrowingTaskGroup(of: Int.self) { group in
                for _ in 0..<40 { group.addTask { try await server.get("/info/_/\(source)").status } }
                for try await status in group { #expect(status == 200) }
            }
            #expect(disk.statistics.hits == before + 1)
            #expect(server.transport.requestCount == 1)
        }
    }

    @Test func anExpiredURLGetsNone() async throws {
        let clock = ManualClock()
        try await ServerFixture.run(clock: clock, { $0.cache.memoryBytes = 0 }) { server in
            let source = try server.serve("jpeg/baseline-420.jpg", headers: ["Cache-Control": "max-age=600"])
            let end = Int(clock.timeSource.now.timeIntervalSince1970) + 60
            let path = "/_/rs:fit:24:24/exp:\(end)/plain/\(source)@png"
            #expect(try await keptAnswer(server, path).status == 200)
            clock.advance(by: .seconds(61))
            #expect(try await server.get(path).status == 404)
        }
    }
}
