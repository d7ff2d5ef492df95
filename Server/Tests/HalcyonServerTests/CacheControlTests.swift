import Foundation
import Halcyon
import HalcyonTesting
import Testing

@testable import HalcyonServer

/// The rules for proxies and browsers on keeping answers.
@Suite struct CacheControlTests {
    private static let ways = ["/fit-8x8", "/original", "/info/_"]

    @Test(arguments: [
        ("private, max-age=90", "private, max-age=90"), ("no-cache", "public, no-cache, max-age=3600"),
        ("no-store", "no-store"), ("max-age=90, must-revalidate", "public, max-age=90, must-revalidate"),
        ("public", "public, max-age=3600"),
    ])
    func allAnswersPassTheRuleOn(rule: String, passed: String) async throws {
        try await ServerFixture.run(clock: ManualClock()) { server async throws in
            let source = try server.serve("jpeg/baseline-420.jpg", headers: ["Cache-Control": rule])
            for way in Self.ways {
                #expect(try await server.get("\(way)/\(source)")["Cache-Control"] == passed, "\(way)")
            }
        }
    }

    @Test func theTimeSinceTheSourceAnsweredIsTakenOff() async throws {
        let clock = ManualClock()
        try await ServerFixture.run(clock: clock) { server async throws in
            let source = try server.serve("jpeg/baseline-420.jpg", headers: ["Cache-Control": "max-age=90"])
            for way in Self.ways { _ = try await server.get("\(way)/\(source)") }
            clock.advance(by: .seconds(40))
            for way in Self.ways {
                let answer = try await server.get("\(way)/\(source)")
                #expect(answer["Cache-Control"] == "public, max-age=50", "\(way)")
            }
            #expect(server.transport.requestCount == 1)
        }
    }

    /// A watermark is a source as the picture below is: its rule counts, and its present bytes are those that are seen.
    @Test func aWatermarkHasItsPart() async throws {
        let clock = ManualClock()
        try await ServerFixture.run(clock: clock) {
            $0.url.grammars = [.thumbor]
        } _: { server async throws in
            let source = try server.serve("jpeg/baseline-420.jpg", headers: ["Cache-Control": "max-age=1000"])
            func mark(_ value: UInt8) throws -> ScriptedTransport.Answer {
                let pixels = [UInt8](repeating: value, count: 64).enumerated().map { $0.0 % 4 == 3 ? 255 : $0.1 }
                let data = try Image(width: 4, height: 4, pixels: pixels).data(as: .png)
                return .data(data, headers: ["Cache-Control": "private, max-age=30"])
            }
            try server.answer("http://images.test/mark", with: mark(0), mark(255))
            let path = "/unsafe/filters:watermark(http%3A%2F%2Fimages.test%2Fmark,0,0,0):format(png)/\(source)"
            let first = try await server.get(path)
            #expect(first["Cache-Control"] == "private, max-age=30")
            #expect(try first.image().color(x: 1, y: 1) == .black)
            clock.advance(by: .seconds(31))
            let later = try await server.get(path)
            #expect(later["Cache-Control"] == "private, max-age=30")
            #expect(try later.image().color(x: 1, y: 1) == .white)
        }
    }

    @Test func noAnswerIsKeptForLongerThanItsURLIsValid() async throws {
        let clock = ManualClock()
        let now = Int(clock.timeSource.now.timeIntervalSince1970)
        try await ServerFixture.run(clock: clock) {
            $0.answer.fallback =
                ServerFixture.root.appending(path: "Tests/Fixtures/png/adam7-rgba.png").path(percentEncoded: false)
        } _: { server async throws in
            let source = try server.serve("jpeg/baseline-420.jpg")
            for path in ["fit-8x8", "original", "info/_"].map({ "/\($0),expires-\(now + 30)/\(source)" }) {
                #expect(try await server.get(path)["Cache-Control"] == "public, max-age=30", "\(path)")
            }
            clock.advance(by: .seconds(20))
            let warm = try await server.get("/fit-8x8,expires-\(now + 30)/\(source)")
            #expect(warm["Cache-Control"] == "public, max-age=10")
            let none = try await server.get("/fit-8x8,expires-\(now + 25)/http://images.test/none")
            #expect(none["Cache-Control"] == "public, max-age=5")
            let later = try await server.get("/fit-8x8,expires-\(now + 100_000)/\(source)")
            #expect(later["Cache-Control"] == "public, max-age=3600")
        }
    }

    @Test func fieldsThatArePassedOnAreNamed() async throws {
        try await ServerFixture.run {
            $0.source.passHeaders = ["X-Team", "Cookie"]
            $0.answer.fallback =
                ServerFixture.root.appending(path: "Tests/Fixtures/png/adam7-rgba.png").path(percentEncoded: false)
        } _: { server async throws in
            let source = try server.serve("jpeg/baseline-420.jpg")
            for fields in [[:], ["X-Team": "blue"]] {
                #expect(try await server.get("/fit-8x8/\(source)", fields)["Vary"] == "Accept, X-Team, Cookie")
                #expect(try await server.get("/fit-8x8,png/\(source)", fields)["Vary"] == "X-Team, Cookie")
                #expect(try await server.get("/original/\(source)", fields)["Vary"] == "X-Team, Cookie")
                #expect(try await server.get("/info/_/\(source)", fields)["Vary"] == "X-Team, Cookie")
                let none = try await server.get("/fit-8x8/http://images.test/none", fields)
                #expect(none["Vary"] == "Accept, X-Team, Cookie")
                #expect(none["Cache-Control"] == "\(fields.isEmpty ? "public" : "private"), max-age=60")
            }
        }
    }
}
