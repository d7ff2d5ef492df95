import Foundation
import TestSupport
import Testing

/// Each failure has its code, its line on standard error and its exit status.
@Suite(.timeLimit(.minutes(5))) struct LoadErrorTests {
    /// Loads one source and expects it to fail.
    private func expectFailure(
        _ source: String, _ code: String, _ options: String..., tool: Tool? = nil,
        at place: SourceLocation = #_sourceLocation
    ) async throws {
        let tool = try tool ?? Tool()
        let result = try await tool.run(
            ["load", "--json", "--cache", tool.path("cache"), "--retries", "0"] + options + [source])
        #expect(result.status == 1, sourceLocation: place)
        let line = try result.load()
        #expect(line.source == source && !line.ok, sourceLocation: place)
        #expect(line.error?.code == code, "\(result.errors)", sourceLocation: place)
        #expect(line.error?.message.isEmpty == false, sourceLocation: place)
        #expect(line.origin == nil && line.size == nil && line.output == nil, sourceLocation: place)
        try #require(result.errorLines.count == 1, "\(result.errors)", sourceLocation: place)
        #expect(result.errorLines[0].hasPrefix("halcyon: \(source): "), sourceLocation: place)
        #expect(result.errorLines[0].hasSuffix(" (\(code))"), sourceLocation: place)
    }

    @Test(arguments: [
        ("ftp://127.0.0.1/a.png", "invalidRequest"), ("http://", "invalidRequest"), ("", "invalidRequest"),
        ("gopher+x://a", "invalidRequest"), ("data:image/png", "badSource"), ("data:;base64,%%%", "badSource"),
        ("data:,hello", "notAnImage"), ("/nowhere/at/all.png", "badSource"), ("/", "badSource"),
        ("file:///nowhere/at/all.png", "badSource"), ("/dev/null", "badSource"),
        // Longer than a name may be, so that no name server is asked, which may be slow or absent.
        ("http://\(String(repeating: "a", count: 70)).invalid/a.png", "connection"),
    ])
    func sourcesThatCannotBeRead(source: String, code: String) async throws {
        try await expectFailure(source, code)
    }

    @Test(arguments: [
        ("bad/zero-bytes.jpg", "notAnImage"), ("bad/page.html", "notAnImage"), ("bad/text.txt", "notAnImage"),
        ("bad/movie.mp4", "notAnImage"), ("bad/heic-header.heic", "damagedImage"),
        ("bad/truncated.jpg", "damagedImage"), ("bad/truncated.png", "damagedImage"),
        ("bad/truncated.gif", "damagedImage"), ("bad/truncated.webp", "damagedImage"),
        ("bad/bomb-60000x60000.png", "limitExceeded"),
        ("bad/bomb-jpeg-65000x65000.jpg", "limitExceeded"),
    ])
    func filesThatAreNoImage(file: String, code: String) async throws {
        try await expectFailure(fixture(file), code)
    }

    @Test(arguments: [
        ("bad/page.html", "notAnImage"), ("bad/heic-header.heic", "damagedImage"),
        ("bad/truncated.jpg", "damagedImage"), ("bad/bomb-60000x60000.png", "limitExceeded"),
    ])
    func invalidImageFromServerIsNotStored(file: String, code: String) async throws {
        let tool = try Tool()
        let server = try await fixtureServer(file, headers: ["Content-Type": "image/jpeg"])
        try await expectFailure(server.url("/\(file)").absoluteString, code, tool: tool)
        let info = try await tool.cache("info", "--json").objects(CacheInfoLine.self)
        #expect(info.map(\.entries) == [0])
        await server.stop()
    }

    @Test func aRefusedPort() async throws {
        try await expectFailure("http://127.0.0.1:\(try RawServer.refusedPort())/a.png", "connection")
    }

    @Test func aBodyThatEndsBeforeItsLength() async throws {
        let body = try TestFiles.data("png/rgb8.png")
        let server = try RawServer { connection in
            connection.readRequest()
            try connection.send("HTTP/1.1 200 OK\r\nContent-Length: \(body.count)\r\n\r\n")
            try connection.send(body.prefix(700))
        }
        try await expectFailure(server.url("/a.png").absoluteString, "connection")
    }

    @Test func aServerThatHangsUp() async throws {
        let server = try RawServer { connection in
            connection.readRequest()
            connection.reset()
        }
        try await expectFailure(server.url("/a.png").absoluteString, "connection")
    }

    @Test func aServerThatHoldsItsAnswer() async throws {
        let server = try RawServer { connection in
            connection.readRequest()
            connection.waitForClose()
        }
        try await expectFailure(server.url("/a.png").absoluteString, "timeout", "--timeout", "0.1s")
    }

    @Test(arguments: [400, 401, 404, 410, 500, 503])
    func statusesThatAreNoSuccess(status: Int) async throws {
        let server = try await LoopbackServer()
        let image = try TestFiles.data("png/rgb8.png")
        server.route("/a.png") { _ in .init(status: status, body: image) }
        try await expectFailure(server.url("/a.png").absoluteString, "httpStatus")
        await server.stop()
    }

    @Test func redirectsThatNeverEnd() async throws {
        let server = try await LoopbackServer()
        server.route("/a") { _ in .init(status: 302, headers: ["Location": "/b"]) }
        server.route("/b") { _ in .init(status: 302, headers: ["Location": "/a"]) }
        try await expectFailure(server.url("/a").absoluteString, "redirect")
        await server.stop()
    }

    @Test func aRedirectOutOfTheWeb() async throws {
        let server = try await LoopbackServer()
        server.route("/a") { _ in .init(status: 302, headers: ["Location": "file:///etc/passwd"]) }
        try await expectFailure(server.url("/a").absoluteString, "redirect")
        await server.stop()
    }

    @Test(arguments: [
        "crop=10x8@100,100", "crop=10x8@-10,0", "round=-1", "round=nan", "round=inf", "resize=70000x10",
        "resize=10x70000:fill",
    ])
    func processorsThatHaveNoResult(option: String) async throws {
        try await expectFailure(fixture("png/rgb8.png"), "processing", "--process", option)
    }

    @Test func cacheOnlyPolicyReportsMissingEntry() async throws {
        try await expectFailure("http://127.0.0.1/a.png", "notInCache", "--policy", "only-cache")
    }

    @Test func anErrorIsOneLineWhateverTheSourceIsCalled() async throws {
        let tool = try Tool()
        let result = try await tool.load("a\nb\r\nc")
        #expect(result.status == 1)
        #expect(try result.load().source == "a\nb\r\nc")
        #expect(result.errorLines.count == 1)
        #expect(!result.errors.contains("\r"))
    }

    @Test(arguments: [
        [], ["--nothing"], ["a.png", "--nothing"], ["a.png", "--resize", "20"], ["a.png", "--resize", "0x5"],
        ["a.png", "--resize", "-1x5"], ["a.png", "--resize", "axb"], ["a.png", "--resize", "5x5x5"],
        ["a.png", "--resize", "20x10:cover"], ["a.png", "--resize", "20x10:fit:fit"],
        ["a.png", "--resize", "99999999999999999999x1"], ["a.png", "--process", "blur"],
        ["a.png", "--process", "crop"], ["a.png", "--process", "crop=0x1"], ["a.png", "--process", "crop=1x1@1"],
        ["a.png", "--process", "crop=1x1@1,2,3"], ["a.png", "--process", "crop=1x1@1,2@3"],
        ["a.png", "--process", "flip"], ["a.png", "--process", "flip=diagonal"], ["a.png", "--process", "round=x"],
        ["a.png", "--format", "ico"], ["a.png", "--format", "svg"], ["a.png", "--format", "text"],
        ["a.png", "--quality", "101"], ["a.png", "--quality=-1"], ["a.png", "--quality", "0.85"],
        ["a.png", "--quality", "nan"], ["a.png", "--max-bytes", "0"],
        ["a.png", "--max-pixels", "0"],
        ["a.png", "--max-bytes", "10X"], ["a.png", "--max-bytes", "9999999999999G"], ["a.png", "--ttl", "soon"],
        ["a.png", "--ttl", "nan"], ["a.png", "--policy", "always"], ["a.png", "--header", "NoColon"],
        ["a.png", "--header", ": empty"], ["a.png", "--header", "A: b\r\nC: d"], ["a.png", "--timeout", "0"],
        ["a.png", "--timeout=-1"], ["a.png", "--retries=-1"], ["a.png", "--retries", "101"],
        ["a.png", "--concurrency", "0"], ["a.png", "--passes", "0"], ["a.png", "-o", ""],
        ["a.png", "b.png", "-o", "-"],
        ["-", "-"], ["-"],
    ])
    func wrongUsageIs64(arguments: [String]) async throws {
        let tool = try Tool()
        let result = try await tool.run(["load", "--json"] + arguments)
        #expect(result.status == 64)
        #expect(result.output.isEmpty)
        #expect(!result.errors.isEmpty)
    }

    @Test func severalSourcesDoNotFitAFile() async throws {
        let tool = try Tool()
        try Data().write(to: tool.folder.appending(path: "a.png"))
        let sources = [fixture("png/1x1.png"), fixture("png/rgb8.png")]
        #expect(try await tool.run(["load"] + sources + ["-o", tool.path("a.png")]).status == 64)
    }
}
