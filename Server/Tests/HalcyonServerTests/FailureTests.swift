import Foundation
import Halcyon
import HalcyonNetwork
import HalcyonTesting
import Testing

@testable import HalcyonServer

/// The statuses of failures, with their bodies.
@Suite struct FailureTests {
    private func expect(
        _ server: ServerFixture, _ path: String, _ status: Int, _ code: String,
        sourceLocation: SourceLocation = #_sourceLocation
    ) async throws {
        let answer = try await server.get(path)
        #expect(answer.status == status, "\(path)", sourceLocation: sourceLocation)
        #expect(answer.code == code, "\(path)", sourceLocation: sourceLocation)
        #expect(answer["Content-Type"] == "application/json", sourceLocation: sourceLocation)
        #expect(answer["Cache-Control"] == "no-store", sourceLocation: sourceLocation)
        #expect(answer["X-Request-Id"] != nil, sourceLocation: sourceLocation)
    }

    @Test func failuresOfSources() async throws {
        try await ServerFixture.run { server async throws in
            try server.answer("http://images.test/gone", with: .status(410))
            try server.answer("http://images.test/broken", with: .status(500))
            try server.answer("http://images.test/secret", with: .status(403))
            try server.answer("http://images.test/page", with: .data(Data("<html>no picture</html>".utf8)))
            let slow = DownloadError(.timeout(.total), url: URL(filePath: "/"))
            try server.answer("http://images.test/slow", with: .failure(slow))
            try await expect(server, "/_/http://images.test/none", 404, "sourceNotFound")
            try await expect(server, "/_/http://images.test/gone", 404, "sourceNotFound")
            try await expect(server, "/_/http://images.test/secret", 502, "httpStatus")
            try await expect(server, "/_/http://images.test/page", 422, "notAnImage")
            try await expect(server, "/info/_/http://images.test/page", 422, "notAnImage")
        }
    }

    @Test func strangersReachNoAddressOfTheServersOwnNetwork() async throws {
        try await ServerFixture.run(usesNetwork: true) { server async throws in
            for host in ["127.0.0.1", "localhost", "169.254.169.254", "10.0.0.1", "[::1]", "0.0.0.0"] {
                let answer = try await server.get("/_/http://\(host)/a.jpg")
                #expect(answer.status == 403, "\(host)")
            }
            #expect(try await server.get("/_/http://images.test:8080/a.jpg").status == 403)
        }
    }

    @Test func onlySourcesThatAreAllowed() async throws {
        try await ServerFixture.run {
            $0.source.allow = ["http://images.test/"]
        } _: { server async throws in
            try server.serve("jpeg/baseline-420.jpg")
            try server.answer(
                "http://images.test/away.jpg", with: .redirect(to: "http://elsewhere.test/a.jpg"))
            #expect(try await server.get("/_/http://images.test/a.jpg").status == 200)
            try await expect(server, "/_/http://elsewhere.test/a.jpg", 403, "source")
            try await expect(server, "/_/http://images.test/away.jpg", 403, "source")
            try await expect(server, "/_/local:///etc/passwd", 403, "source")
            try await expect(server, "/_/file:///etc/passwd", 403, "source")
            #expect(server.transport.requests.allSatisfy { $0.url.host() == "images.test" })
        }
    }

    @Test func signatures() async throws {
        try await ServerFixture.run {
            $0.signature.keys = ["736563726574"]
            $0.signature.salts = ["68656C6C6F"]
        } _: { server async throws in
            let source = try server.serve("jpeg/baseline-420.jpg")
            try await expect(server, "/_/rs:fit:24:24/plain/\(source)", 403, "signature")
            try await expect(server, "/fit-24x24/\(source)", 403, "signature")
            let grammar = try #require(server.application.grammars.first)
            let signed = grammar.signed("/rs:fit:24:24/plain/\(source)")
            #expect(try await server.get(signed).status == 200)
            #expect(server.transport.requestCount == 1)
        }
    }

    @Test func aKeyForOneGrammarClosesTheOthers() async throws {
        try await ServerFixture.run {
            $0.url.grammars = [.imgproxy, .plain, .thumbor]
            $0.signature.keys = ["736563726574"]
            $0.signature.salts = ["68656C6C6F"]
        } _: { server async throws in
            let source = try server.serve("jpeg/baseline-420.jpg")
            for path in ["/unsafe/24x24/\(source)", "/fit-24x24/\(source)", "/unsafe/w:24/plain/\(source)"] {
                #expect(try await server.get(path).status == 403, "\(path)")
            }
            #expect(server.transport.requestCount == 0)
        }
    }

    @Test func jobsThatAreNotPossible() async throws {
        try await ServerFixture.run { server async throws in
            let source = try server.serve("jpeg/baseline-420.jpg")
            try await expect(server, "/_/rs:fit:24:24/unknown:1/plain/\(source)", 422, "unsupported")
            try await expect(server, "/_/rs:fit:9000:9000/el:1/plain/\(source)", 422, "unsupported")
            try await expect(server, "/_/rs:fit:24:24/plain/\(source)@ico", 422, "unsupported")
            try await expect(server, "/_/exp:1000/plain/\(source)", 404, "expired")
            let message = try await server.get("/_/rs:fit:24:24/plain/\(source)@ico")
            #expect(String(decoding: message.body, as: UTF8.self).contains("format:ico"))
        }
    }

    @Test func sourcesAboveTheLimits() async throws {
        try await ServerFixture.run {
            $0.source.maximumPixels = 48 * 32 - 1
            $0.source.maximumBytes = 100_000
        } _: { server async throws in
            let source = try server.serve("jpeg/baseline-420.jpg")
            try server.answer("http://images.test/long", with: .data(Data(count: 100_001)))
            try await expect(server, "/fit-24x24/\(source)", 422, "limitExceeded")
            try await expect(server, "/_/http://images.test/long", 422, "tooLarge")
        }
    }

    /// The end of their bodies never comes.
    @Test func transfersOfPicturesAboveTheLimitsEndWithTheirFirstBytes() async throws {
        try await ServerFixture.run {
            $0.source.maximumPixels = 48 * 32 - 1
        } _: { server async throws in
            let bytes = try ServerFixture.fixture("jpeg/baseline-420.jpg").dropLast()
            let bodies: [[ScriptedTransport.Answer.Step]] = [[.chunk(Data(bytes))], bytes.map { .chunk(Data([$0])) }]
            for (name, body) in zip(["whole", "dripping"], bodies) {
                let steps = body + [.wait(ScriptedTransportGate())]
                try server.answer("http://images.test/\(name)", with: .init(steps: steps))
                for path in ["/fit-24x24/", "/original/", "/info/_/"] {
                    try await expect(server, "\(path)http://images.test/\(name)", 422, "limitExceeded")
                }
            }
            #expect(server.transport.cancelled.count == 6)
            #expect(server.application.transfers.statistics.working == 0)
        }
    }

    @Test func bombsOfTheLibrarysFixtures() async throws {
        try await ServerFixture.run { server async throws in
            for name in ["60000x60000.png", "65535x65535.gif", "billion-laughs.svg", "2147483647x1.bmp"] {
                let source = try server.serve("bombs/\(name)", as: name)
                let answer = try await server.get("/fit-24x24/\(source)")
                #expect(answer.status == 422, "\(name): \(answer.code ?? "")")
            }
        }
    }

    @Test func pathsThatAreNone() async throws {
        try await ServerFixture.run { server async throws in
            for path in ["/", "/favicon.ico", "//", "/info/", "/a/b", "/..%2f", "/%"] {
                let answer = try await server.get(path)
                #expect([403, 404, 422].contains(answer.status), "\(path): \(answer.status)")
                #expect(answer.code != nil)
            }
        }
    }

    @Test func headsThatAreTooLong() async throws {
        try await ServerFixture.run { server async throws in
            let long = String(repeating: "a", count: 9000)
            #expect([400, 414].contains(try await server.get("/\(long)").status))
            #expect(try await server.get("/_/http://images.test/a", ["X-Long": long]).status == 400)
            let many = Dictionary(uniqueKeysWithValues: (0..<200).map { ("X-\($0)", "1") })
            #expect(try await server.get("/_/http://images.test/a", many).status == 400)
            #expect(try await server.get("/health").status == 200)
        }
    }

    /// Each frame is within the limits, and all of them are many times the memory of a machine.
    @Test func anAnimationThatIsTooMuchAsAWhole() async throws {
        try await ServerFixture.run { server async throws in
            try server.answer("http://images.test/a.gif", with: .data(Self.blinking(frames: 100)))
            let path = "rs:force:6000:6000:1"
            try await expect(server, "/_/\(path)/plain/http://images.test/a.gif@webp", 422, "unsupported")
            try await expect(server, "/_/\(path)/plain/http://images.test/a.gif@gif", 422, "unsupported")
            let small = try await server.get("/_/rs:force:8:8:1/plain/http://images.test/a.gif@gif")
            #expect(try small.image().animation?.frameCount == 100)
        }
        try await ServerFixture.run {
            ($0.answer.maximumAnimationPixels, $0.answer.maximumPixels) = (6399, 64)
        } _: { server async throws in
            try server.answer("http://images.test/a.gif", with: .data(Self.blinking(frames: 100)))
            try await expect(server, "/_/rs:force:8:8:1/plain/http://images.test/a.gif@gif", 422, "unsupported")
            #expect(try await server.get("/_/rs:force:8:8:1/plain/http://images.test/a.gif@jpg").status == 200)
        }
    }

    /// A GIF of 1 x 1 pixel, black and white in turn.
    private static func blinking(frames: Int) -> Data {
        var data = Data("GIF89a".utf8)
        data += [1, 0, 1, 0, 0x80, 0, 0, 0, 0, 0, 0xff, 0xff, 0xff]
        for frame in 0..<frames {
            data += [0x21, 0xf9, 4, 0, 5, 0, 0, 0, 0x2c, 0, 0, 0, 0, 1, 0, 1, 0, 0, 2, 2]
            data += [frame % 2 == 0 ? 0x44 : 0x4c, 1, 0]
        }
        return data + [0x3b]
    }

    @Test func aPictureThatStandsIn() async throws {
        let path = ServerFixture.root.appending(path: "Tests/Fixtures/png/adam7-rgba.png").path(percentEncoded: false)
        try await ServerFixture.run {
            $0.answer.fallback = path
            $0.answer.fallbackTTL = 7
        } _: { server async throws in
            let answer = try await server.get("/fit-24x24/http://images.test/none.jpg", ["Accept": "image/webp"])
            #expect(answer.status == 200)
            #expect(answer["Content-Type"] == "image/webp")
            #expect(answer["Cache-Control"] == "public, max-age=7")
            #expect(try answer.image().size == PixelSize(24, 16))
            // A URL that makes no sense is still an error.
            #expect(try await server.get("/trim-5/http://images.test/none.jpg").status == 200)
            #expect(try await server.get("/fit-AxB/http://images.test/none.jpg").status != 200)
        }
        try await ServerFixture.run {
            $0.answer.fallback = path
            $0.answer.fallbackStatus = 0
        } _: { server async throws in
            #expect(try await server.get("/fit-24x24/http://images.test/none.jpg").status == 404)
        }
    }
}
