import Foundation
import TestSupport
import Testing

/// The reports of `load`, and their order.
@Suite(.timeLimit(.minutes(5))) struct LoadReportTests {
    @Test func eachLineIsAnObjectWithTheSameKeys() async throws {
        let tool = try Tool()
        let result = try await tool.load(fixture("png/rgb8.png"), tool.path("missing.png"))
        let keys: Set = [
            "source", "pass", "ok", "origin", "format", "width", "height", "frames", "bytes", "milliseconds", "output",
            "error",
        ]
        #expect(try result.keys() == [keys, keys])
        #expect(result.text.hasSuffix("\n"))
        let failed = try #require(
            try JSONSerialization.jsonObject(with: Data(result.lines[1].utf8)) as? [String: Any])
        #expect(Set(try #require(failed["error"] as? [String: Any]).keys) == ["code", "message"])
    }

    @Test func aFileIsReportedWithItsFacts() async throws {
        let tool = try Tool()
        let result = try await tool.load(fixture("gif/animated.gif"))
        let line = try result.load()
        #expect(result.status == 0)
        #expect(result.errors.isEmpty)
        #expect(line.source == fixture("gif/animated.gif"))
        #expect(line.pass == 1)
        #expect(line.ok)
        #expect(line.origin == "file")
        #expect(line.format == "gif")
        #expect(line.width == 48 && line.height == 32)
        #expect(line.frames == 4)
        #expect(line.bytes == (try TestFiles.data("gif/animated.gif").count))
        #expect(line.milliseconds >= 0)
        #expect(line.output == nil && line.error == nil)
    }

    @Test func everyKindOfSourceIsLoaded() async throws {
        let tool = try Tool()
        let server = try await fixtureServer("webp/lossy.webp")
        let png = try TestFiles.data("png/1x1.png").base64EncodedString()
        let url = server.url("/webp/lossy.webp").absoluteString
        let fileURL = TestFiles.url("png/rgb8.png").absoluteString
        let result = try await tool.load(
            fixture("jpeg/gray.jpg"), fileURL, "data:image/png;base64,\(png)", url)
        #expect(result.status == 0, "\(result.errors)")
        #expect(try result.loads().map(\.origin) == ["file", "file", "data", "network"])
        #expect(try result.loads().map(\.format) == ["jpeg", "png", "png", "webp"])
        await server.stop()
    }

    @Test func aRelativePathIsAFile() async throws {
        let tool = try Tool()
        // A colon alone makes no URL.
        let name = "a:b%20c d.png"
        try TestFiles.data("png/1x1.png").write(to: tool.folder.appending(path: name))
        #expect(try await tool.load(tool.path(name)).load().origin == "file")
    }

    @Test func aListIsReadFromStandardInput() async throws {
        let tool = try Tool()
        let list = """
            # a comment
            \(fixture("png/gray1.png"))

              \(fixture("png/gray2.png"))  
            #\(fixture("png/gray4.png"))
            """
        let result = try await tool.load(fixture("png/1x1.png"), "-", fixture("png/rgb8.png"), input: list)
        #expect(result.status == 0, "\(result.errors)")
        #expect(
            try result.loads().map(\.source)
                == ["png/1x1.png", "png/gray1.png", "png/gray2.png", "png/rgb8.png"].map(fixture))
    }

    @Test func reportsKeepTheOrderOfTheList() async throws {
        let tool = try Tool()
        let server = try await fixtureServer("png/rgb8.png")
        let later = RawServerGate()
        let body = try TestFiles.data("png/1x1.png")
        // The first of the list is answered after the second was requested.
        server.route("/slow") { _ in
            await later.opened()
            return .init(body: body)
        }
        server.route("/fast") { _ in
            later.open()
            return .init(body: body)
        }
        let sources = ["/slow", "/fast", "/missing", "/png/rgb8.png"].map { server.url($0).absoluteString }
        let result = try await tool.load(sources[0], sources[1], sources[2], sources[3], "--passes", "2")
        #expect(try result.loads().map(\.source) == sources + sources)
        #expect(try result.loads().map(\.pass) == [1, 1, 1, 1, 2, 2, 2, 2])
        await server.stop()
    }

    @Test func aSourceThatIsGivenTwiceIsAskedForOnce() async throws {
        let tool = try Tool()
        let server = try await fixtureServer("png/rgb8.png")
        let url = server.url("/png/rgb8.png").absoluteString
        let result = try await tool.load(url, url, url)
        #expect(try result.loads().map(\.ok) == [true, true, true])
        #expect(server.requests.count == 1)
        await server.stop()
    }

    @Test func aSecondPassComesFromMemory() async throws {
        let tool = try Tool()
        let server = try await fixtureServer("png/rgb8.png")
        let url = server.url("/png/rgb8.png").absoluteString
        let result = try await tool.load(url, fixture("png/1x1.png"), "--passes", "3")
        #expect(try result.loads().map(\.origin) == ["network", "file", "memory", "memory", "memory", "memory"])
        #expect(try result.loads().map(\.pass) == [1, 1, 2, 2, 3, 3])
        #expect(server.requests.count == 1)
        await server.stop()
    }

    @Test func aFailureAmongOthersStopsNothing() async throws {
        let tool = try Tool()
        let result = try await tool.load(
            fixture("png/1x1.png"), fixture("bad/text.txt"), fixture("png/rgb8.png"), fixture("bad/truncated.jpg"))
        #expect(result.status == 1)
        #expect(try result.loads().map(\.ok) == [true, false, true, false])
        #expect(result.errorLines.count == 2)
    }

    @Test func peopleGetALineForEachImage() async throws {
        let tool = try Tool()
        let result = try await tool.run(["load", fixture("png/rgb8.png"), tool.path("missing.png")])
        #expect(result.status == 1)
        #expect(result.lines.count == 1)
        #expect(result.lines[0].hasPrefix(fixture("png/rgb8.png")))
        for word in ["png", "48x32", "1416 bytes", "file", " ms"] { #expect(result.lines[0].contains(word)) }
    }

    @Test func quietSaysNothingButErrors() async throws {
        let tool = try Tool()
        let result = try await tool.run(["load", "--quiet", fixture("png/rgb8.png"), tool.path("missing.png")])
        #expect(result.status == 1)
        #expect(result.output.isEmpty)
        #expect(result.errorLines.count == 1)
    }

    @Test func withoutAFolderTheCacheIsTheUsers() async throws {
        let tool = try Tool()
        let server = try await fixtureServer("png/rgb8.png")
        let url = server.url("/png/rgb8.png").absoluteString
        #expect(try await tool.run(["load", url]).status == 0)
        #expect(try tool.files(in: "xdg") == ["halcyon"])
        #expect(try await tool.run(["load", "--json", url]).load().origin == "disk")
        await server.stop()
    }
}
