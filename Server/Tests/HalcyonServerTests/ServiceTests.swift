import Foundation
import Halcyon
import HalcyonTesting
import Logging
import NIOConcurrencyHelpers
import Testing

@testable import HalcyonServer

/// Caches, folders and reports of a running server.
@Suite struct ServiceTests {
    @Test func answersComeFromMemoryAndFromTheDisk() async throws {
        try await ServerFixture.run { server async throws in
            let source = try server.serve("jpeg/baseline-420.jpg")
            let first = try await server.get("/fit-24x24/\(source)")
            let second = try await server.get("/fit-24x24/\(source)")
            #expect(first.body == second.body)
            // Another size needs the source's bytes, and not its server.
            #expect(try await server.get("/fit-12x12/\(source)").status == 200)
            #expect(server.transport.requestCount == 1)
        }
    }

    @Test func aSourceThatChangesIsAskedForAgain() async throws {
        let clock = ManualClock()
        try await ServerFixture.run(clock: clock) { server async throws in
            let fresh: HTTPHeaders = ["Cache-Control": "max-age=60", "ETag": "\"1\""]
            try server.answer(
                "http://images.test/a", with: .data(try ServerFixture.fixture("jpeg/baseline-420.jpg"), headers: fresh),
                .data(try ServerFixture.fixture("jpeg/orientation-6.jpg"), headers: ["Cache-Control": "max-age=60"]))
            let path = "/fill-20x20/http://images.test/a"
            let first = try await server.get(path)
            #expect(first["Cache-Control"] == "public, max-age=60")
            clock.advance(by: .seconds(30))
            #expect(try await server.get(path)["Cache-Control"] == "public, max-age=30")
            #expect(server.transport.requestCount == 1)
            clock.advance(by: .seconds(31))
            let later = try await server.get(path)
            #expect(server.transport.requestCount == 2)
            #expect(later.body != first.body)
            #expect(try later.image().size == PixelSize(20, 20))
        }
    }

    @Test func whatMayNotBeStoredIsAskedForEachTime() async throws {
        try await ServerFixture.run { server async throws in
            let bytes = try ServerFixture.fixture("jpeg/baseline-420.jpg")
            let answer = ScriptedTransport.Answer.data(bytes, headers: ["Cache-Control": "no-store"])
            try server.answer("http://images.test/a", with: answer, answer)
            for _ in 0..<2 {
                let answer = try await server.get("/fit-24x24/http://images.test/a")
                #expect(answer.status == 200)
                #expect(answer["Cache-Control"] == "no-store")
            }
            #expect(server.transport.requestCount == 2)
        }
    }

    /// Requests that differ in nothing that counts are one: a client that makes up queries or writes `Accept` anew fills no memory.
    @Test func warmAnswersAreKeptOnce() async throws {
        var configuration = ServerConfiguration()
        configuration.cache.memoryBytes = 1 << 20
        let warm = WarmAnswers(configuration, time: .system)
        func key(_ target: String, _ accept: String?) -> WarmAnswers.Key? {
            warm.key(target, accept.map { [.accept: $0] } ?? [:])
        }
        #expect(key("/a", "image/webp,*/*") == key("/a", "image/webp, image/x;q=0.1, image/*;q=0.8"))
        #expect(key("/a", nil) == key("/a", "*/*"))
        #expect(key("/a", "image/webp") != key("/a", "image/png"))
        #expect(key("/a", "*/*") != key("/a", "image/png"))
        try await ServerFixture.run { server async throws in
            let source = try server.serve("jpeg/baseline-420.jpg")
            try server.serve("png/rgb8.png", as: "a.jpg?b")
            let first = try await server.get("/_/w:9/plain/\(source)?a")
            #expect(try await server.get("/_/w:9/plain/\(source)?b").body == first.body)
            // Halcyon's own grammar reads the query.
            let own = try await server.get("/fit-9x/\(source)")
            #expect(own["Content-Type"] == "image/jpeg")
            #expect(try await server.get("/fit-9x/\(source)?b")["Content-Type"] == "image/png")
            #expect(try await server.get("/fit-9x/\(source)").body == own.body)
            let warm = server.application.warm
            #expect(warm.count == 3)
            for query in ["c", "d", "e"] { _ = try await server.get("/_/w:9/plain/\(source)?\(query)") }
            #expect(warm.count == 3)
        }
    }

    /// Requests in different languages, and from clients that differ in nothing that counts, are answered from the same bytes, which
    /// keep to the bound of memory.
    @Test func theBytesOfAnAnswerAreInMemoryOnce() async throws {
        try await ServerFixture.run {
            $0.cache.memoryBytes = 64 << 10
        } _: { server async throws in
            let source = try server.serve("jpeg/baseline-420.jpg")
            let paths = [
                "/fit-24x24,png/\(source)", "/_/rs:fit:24:24/plain/\(source)@png", "/_,png,fit-24x24/\(source)",
            ]
            for path in paths + paths { #expect(try await server.get(path).status == 200, "\(path)") }
            #expect(server.application.warm.count == 3)
            #expect(server.application.answers.statistics.count == 1)
            for side in 1...40 { _ = try await server.get("/force-\(side)x\(side),png,enlarge/\(source)") }
            let kept = server.application.answers.statistics
            #expect(kept.count > 1 && kept.cost > 0 && kept.cost <= 64 << 10)
        }
    }

    private static let drawing = Data("<svg xmlns='http://www.w3.org/2000/svg' width='4' height='2'/>".utf8)

    /// The fields of an original are those of its bytes, also if the source has others at each look.
    @Test(arguments: ["no-store", "max-age=0"])
    func anOriginalHasTheFieldsOfItsBytes(rule: String) async throws {
        try await ServerFixture.run { server async throws in
            let picture = try ServerFixture.fixture("gif/still.gif")
            try server.answer(
                "http://images.test/a", with: .data(picture, headers: ["Cache-Control": rule]),
                .data(Self.drawing, headers: ["Cache-Control": rule]))
            for _ in 0..<2 {
                let answer = try await server.get("/original/http://images.test/a")
                #expect(answer.status == 200)
                let isVector = answer.body == Self.drawing
                #expect(isVector || answer.body == picture)
                #expect(answer["Content-Type"] == (isVector ? "image/svg+xml" : "image/gif"))
                #expect((answer["Content-Security-Policy"] != nil) == isVector)
                #expect(answer["Content-Disposition"] == "inline; filename=\"a.\(isVector ? "svg" : "gif")\"")
            }
        }
    }

    /// The facts stay in memory, and the bytes are gone when the work begins.
    @Test func bytesThatAreGoneAreFetchedAgain() async throws {
        try await ServerFixture.run { server async throws in
            let source = try server.serve("jpeg/baseline-420.jpg", headers: ["Cache-Control": "max-age=600"])
            #expect(try await server.get("/fit-24x24,png/\(source)").status == 200)
            await server.application.pipeline.cache.disk?.removeAll()
            let other = try await server.get("/fit-12x12,png/\(source)")
            #expect(try other.image().size == PixelSize(12, 8))
            #expect(server.transport.requestCount == 2)
            // They are kept again.
            #expect(try await server.get("/fit-16x16,png/\(source)").status == 200)
            #expect(server.transport.requestCount == 2)
        }
    }

    @Test func factsOfFormerBytesAreNotThoseOfAnOriginal() async throws {
        try await ServerFixture.run { server async throws in
            let fresh: HTTPHeaders = ["Cache-Control": "max-age=600"]
            try server.answer(
                "http://images.test/a", with: .data(try ServerFixture.fixture("gif/still.gif"), headers: fresh),
                .data(Self.drawing, headers: fresh))
            #expect(try await server.get("/original/http://images.test/a")["Content-Type"] == "image/gif")
            // The facts stay in memory, and the bytes are gone.
            await server.application.pipeline.cache.disk?.removeAll()
            let answer = try await server.get("/original/http://images.test/a")
            #expect(answer.body == Self.drawing)
            #expect(answer["Content-Disposition"] == "inline; filename=\"a.svg\"")
            #expect(answer["Content-Security-Policy"] != nil)
        }
    }

    @Test func withoutADiskEverythingIsMadeFromOneTransfer() async throws {
        try await ServerFixture.run {
            $0.cache.folder = nil
        } _: { server async throws in
            let source = try server.serve("jpeg/baseline-420.jpg")
            #expect(try await server.get("/fit-24x24/\(source)").status == 200)
            #expect(server.transport.requestCount == 1)
        }
    }

    @Test func filesOfAFolder() async throws {
        let root = FileManager.default.temporaryDirectory.appending(path: "halcyon-sources-\(UUID().uuidString)")
        let inner = root.appending(path: "in/sub")
        try FileManager.default.createDirectory(at: inner, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: root) }
        let bytes = try ServerFixture.fixture("jpeg/baseline-420.jpg")
        try bytes.write(to: inner.appending(path: "a b.jpg"))
        try bytes.write(to: root.appending(path: "outside.jpg"))
        let (outside, inside) = (root.appending(path: "outside.jpg"), inner.appending(path: "a b.jpg"))
        try FileManager.default.createSymbolicLink(at: inner.appending(path: "out.jpg"), withDestinationURL: outside)
        try FileManager.default.createSymbolicLink(at: inner.appending(path: "in.jpg"), withDestinationURL: inside)
        mkfifo(inner.appending(path: "pipe").path(percentEncoded: false), 0o600)
        let folder = root.appending(path: "in").path(percentEncoded: false)
        try await ServerFixture.run {
            $0.source.folder = folder
            $0.answer.sendsLastModified = true
        } _: { server async throws in
            let answer = try await server.get("/fit-24x24/local:///sub/a%20b.jpg")
            #expect(answer.status == 200)
            let date = try #require(answer["Last-Modified"])
            #expect(
                try await server.get("/fit-24x24/local:///sub/a%20b.jpg", ["If-Modified-Since": date]).status == 304)
            #expect(try await server.get("/fit-24x24/local:///sub/in.jpg").status == 200)
            for path in ["sub/none.jpg", "sub/out.jpg", "sub/pipe", "sub", "", "sub/a%00b"] {
                #expect([403, 404].contains(try await server.get("/_/local:///\(path)").status), "\(path)")
            }
            for path in ["../outside.jpg", "%2e%2e/outside.jpg", "sub/../../outside.jpg", "..%2foutside.jpg"] {
                #expect([403, 404].contains(try await server.get("/_/local:///\(path)").status), "\(path)")
            }
            try ServerFixture.fixture("png/adam7-rgba.png").write(to: inside)
            let changed = try await server.get("/fit-24x24/local:///sub/a%20b.jpg")
            #expect(changed["Content-Type"] == "image/png")
        }
    }

    @Test func fieldsThatArePassedOn() async throws {
        try await ServerFixture.run {
            $0.source.passHeaders = ["X-Team"]
        } _: { server async throws in
            let source = try server.serve("jpeg/baseline-420.jpg")
            _ = try await server.get("/_/\(source)", ["X-Team": "blue", "X-Other": "red"])
            let sent = try #require(server.transport.requests.first)
            #expect(sent.headers["X-Team"] == "blue")
            #expect(sent.headers["X-Other"] == nil)
        }
    }

    /// The source's server answers by a field, and does not say so.
    @Test(arguments: ["X-Team", "Accept-Language", "Authorization", "Cookie"])
    func answersToFieldsThatArePassedOn(name: String) async throws {
        let pictures = ["jpeg/baseline-420.jpg", "jpeg/gray.jpg", "png/adam7-rgba.png"]
        let bytes = try pictures.map { try ServerFixture.fixture($0) }
        let transport = ScriptedTransport { request in
            let index = ["blue", "red"].firstIndex(of: request.headers[name]) ?? 2
            return .data(bytes[index], headers: ["Cache-Control": "max-age=600"])
        }
        try await ServerFixture.run(transport: transport) {
            $0.source.passHeaders = [name]
        } _: { server async throws in
            for _ in 0..<2 {
                for (index, value) in ["blue", "red", nil].enumerated() {
                    let fields = value.map { [name: $0] } ?? [:]
                    let answer = try await server.get("/original/http://images.test/a", fields)
                    #expect(answer.body == bytes[index])
                    #expect(answer["Cache-Control"]?.contains("private") == (value != nil))
                    let small = try await server.get("/fit-24x24,png/http://images.test/a", fields)
                    let facts = try await server.get("/info/_/http://images.test/a", fields)
                    #expect(small.status == 200 && facts.status == 200)
                }
            }
        }
    }

    @Test func fieldsThatArePassedOnStayWithTheirHost() async throws {
        try await ServerFixture.run {
            $0.source.passHeaders = ["X-Team", "Authorization", "Accept-Language"]
        } _: { server async throws in
            try server.serve("jpeg/baseline-420.jpg")
            try server.answer("http://images.test/near", with: .redirect(to: "http://images.test/a.jpg"))
            try server.answer("http://images.test/far", with: .redirect(to: "http://elsewhere.test/a.jpg"))
            try server.answer(
                "http://elsewhere.test/a.jpg", with: .data(try ServerFixture.fixture("jpeg/baseline-420.jpg")))
            let fields = ["X-Team": "blue", "Authorization": "Bearer 1", "Accept-Language": "de"]
            #expect(try await server.get("/_/http://images.test/near", fields).status == 200)
            #expect(try await server.get("/_/http://images.test/far", fields).status == 200)
            let sent = server.transport.requests.map { request in fields.keys.filter { request.headers[$0] != nil } }
            #expect(sent.map(\.count) == [3, 3, 3, 0])
        }
    }

    @Test(arguments: ["Host", "range", "Connection", "If-None-Match", "no field", "Accept-Encoding"])
    func fieldsThatAreNotPassedOn(name: String) {
        var configuration = ServerConfiguration()
        configuration.source.passHeaders = [name]
        configuration.cache.folder = nil
        #expect(throws: ServerConfigurationError.self) { try ServerApplication(configuration) }
    }

    @Test func reports() async throws {
        try await ServerFixture.run { server async throws in
            let source = try server.serve("jpeg/baseline-420.jpg")
            _ = try await server.get("/_/\(source)")
            _ = try await server.get("/_/http://images.test/none")
            #expect(try await server.get("/health").body == Data("ok\n".utf8))
            #expect(try await server.report("/ready").status == 200)
            #expect(try await server.report("/other").status == 404)
            let answer = try await server.report("/metrics")
            #expect(answer["Content-Type"]?.hasPrefix("text/plain; version=0.0.4") == true)
            let text = String(decoding: answer.body, as: UTF8.self)
            for line in [
                "halcyon_server_requests_total{status=\"200\"} 1", "halcyon_server_requests_total{status=\"404\"} 1",
                "halcyon_server_requests_running 0", "halcyon_server_request_duration_seconds_count 2",
                "halcyon_server_host_queue_refusals_total 0",
                "halcyon_server_work_queue_waiting 0", "halcyon_server_transfer_queue_refusals_total 0",
            ] {
                #expect(text.contains("\n\(line)\n"), "\(line)")
            }
            // The same text has the metrics of the pipeline.
            #expect(text.contains("# TYPE halcyon_transfers_total counter"))
            #expect(try await server.get("/metrics").status != 200)
        }
    }

    @Test func aLineOfTheLogForEachRequest() async throws {
        let lines = NIOLockedValueBox<[[String: String]]>([])
        let logger = Logger(label: "test") { _ in
            JSONLogHandler(label: "test") { line in
                guard let fields = try? JSONSerialization.jsonObject(with: line) as? [String: Any] else { return }
                lines.withLockedValue { $0.append(fields.mapValues { "\($0)" }) }
            }
        }
        try await ServerFixture.run(logger: logger) { server async throws in
            let source = try server.serve("jpeg/baseline-420.jpg", as: "a.jpg?token=secret")
            _ = try await server.get("/fit-24x24/\(source)", ["X-Request-Id": "r-1"])
            let line = try #require(lines.withLockedValue { $0.first { $0["request_id"] == "r-1" } })
            #expect(line["status"] == "200")
            #expect(line["source"] == "http://images.test/a.jpg")
            #expect(!lines.withLockedValue { "\($0)" }.contains("secret"))
        }
    }

    @Test func filesAreDecodedInWorkersByDefault() async throws {
        try await ServerFixture.run {
            $0.isolatesDecodes = ServerConfiguration().isolatesDecodes
        } _: { server async throws in
            #expect(server.application.pipeline.configuration.isolation != .inProcess)
        }
    }
}
