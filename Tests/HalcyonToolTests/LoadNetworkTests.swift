import Foundation
import HalcyonSystem
import TestSupport
import Testing

/// Caches between runs, and the requests that `load` sends.
@Suite(.timeLimit(.minutes(5))) struct LoadNetworkTests {
    @Test func aSecondRunComesFromDisk() async throws {
        let tool = try Tool()
        let server = try await fixtureServer("png/rgb8.png")
        let url = server.url("/png/rgb8.png").absoluteString
        #expect(try await tool.load(url).load().origin == "network")
        #expect(try await tool.load(url).load().origin == "disk")
        #expect(server.requests.count == 1)
        await server.stop()
    }

    @Test func reloadAsksTheServerAgainAndStoresTheAnswer() async throws {
        let tool = try Tool()
        let server = try await fixtureServer("png/rgb8.png")
        let url = server.url("/png/rgb8.png").absoluteString
        #expect(try await tool.load(url).load().format == "png")
        let other = try TestFiles.data("webp/lossy.webp")
        server.route("/png/rgb8.png") { _ in .init(body: other) }
        let reloaded = try await tool.load(url, "--policy", "reload").load()
        #expect(reloaded.origin == "network" && reloaded.format == "webp")
        #expect(server.requests.last?.headers["cache-control"] == "no-cache")
        let stored = try await tool.load(url).load()
        #expect(stored.origin == "disk" && stored.format == "webp")
        await server.stop()
    }

    @Test func onlyCacheNeverAsksTheServer() async throws {
        let tool = try Tool()
        let server = try await fixtureServer("png/rgb8.png", headers: ["Cache-Control": "max-age=0"])
        let url = server.url("/png/rgb8.png").absoluteString
        let empty = try await tool.load(url, "--policy", "only-cache")
        #expect(empty.status == 1)
        #expect(try empty.load().error?.code == "notInCache")
        #expect(server.requests.isEmpty)
        #expect(try await tool.load(url).load().origin == "network")
        // Past its freshness, and still good enough.
        #expect(try await tool.load(url, "--policy", "only-cache").load().origin == "disk")
        #expect(server.requests.count == 1)
        await server.stop()
    }

    @Test func noStoreLeavesNothingBehind() async throws {
        let tool = try Tool()
        let server = try await fixtureServer("png/rgb8.png")
        let url = server.url("/png/rgb8.png").absoluteString
        for _ in 1...2 {
            #expect(try await tool.load(url, "--policy", "no-store").load().origin == "network")
        }
        let info = try await tool.cache("info", "--json").objects(CacheInfoLine.self)
        #expect(info.map(\.entries) == [0])
        await server.stop()
    }

    @Test func anExpiredEntryIsRevalidated() async throws {
        let tool = try Tool()
        let server = try await LoopbackServer()
        let body = try TestFiles.data("png/rgb8.png")
        server.route("/a.png") { request in
            let headers = ["Cache-Control": "max-age=0", "ETag": "\"one\""]
            return request.headers["if-none-match"] == "\"one\""
                ? .init(status: 304, headers: headers) : .init(headers: headers, body: body)
        }
        let url = server.url("/a.png").absoluteString
        #expect(try await tool.load(url).load().origin == "network")
        #expect(try await tool.load(url).load().origin == "revalidated")
        await server.stop()
        // Nobody there: better the old one than none.
        #expect(try await tool.load(url, "--retries", "0").load().origin == "stale")
    }

    @Test func anEntryIsKeptForItsTime() async throws {
        let tool = try Tool()
        let server = try await fixtureServer("png/rgb8.png", "png/1x1.png")
        let kept = server.url("/png/rgb8.png").absoluteString
        #expect(try await tool.load(kept, "--ttl", "2h").load().ok)
        let shown = try #require(try await tool.cache("show", kept, "--json").objects(CacheShowLine.self).first)
        let keptUntil = try Date(try #require(shown.keptUntil), strategy: .iso8601)
        let seconds = keptUntil.timeIntervalSince(try Date(shown.stored, strategy: .iso8601))
        #expect((7190...7210).contains(seconds))
        let gone = server.url("/png/1x1.png").absoluteString
        for _ in 1...2 { #expect(try await tool.load(gone, "--ttl", "0").load().origin == "network") }
        await server.stop()
    }

    @Test func headersArriveAtTheServer() async throws {
        let tool = try Tool()
        let server = try await fixtureServer("png/rgb8.png")
        let result = try await tool.load(
            server.url("/png/rgb8.png").absoluteString, "--header", "X-One: a, b: c", "--header", "Accept:image/png")
        #expect(result.status == 0)
        #expect(server.requests.first?.headers["x-one"] == "a, b: c")
        #expect(server.requests.first?.headers["accept"] == "image/png")
        await server.stop()
    }

    @Test func timeoutEndsATransferThatStandsStill() async throws {
        let tool = try Tool()
        let server = try RawServer { connection in
            connection.readRequest()
            connection.waitForClose()
        }
        let result = try await tool.load(server.url("/a.png").absoluteString, "--timeout", "0.1", "--retries", "0")
        #expect(result.status == 1)
        #expect(try result.load().error?.code == "timeout")
    }

    @Test(arguments: [0, 1, 3])
    func retriesAreCounted(retries: Int) async throws {
        let tool = try Tool()
        let server = try await LoopbackServer()
        server.route("/busy") { _ in .init(status: 503, headers: ["Retry-After": "0"]) }
        let result = try await tool.load(server.url("/busy").absoluteString, "--retries", "\(retries)")
        #expect(try result.load().error?.code == "httpStatus")
        #expect(server.requests.count == retries + 1)
        await server.stop()
    }

    @Test func aRetryMaySucceed() async throws {
        let tool = try Tool()
        let server = try await LoopbackServer()
        let (attempts, body) = (Counter(), try TestFiles.data("png/rgb8.png"))
        server.route("/a.png") { _ in
            attempts.increment()
            return attempts.value == 1 ? .init(status: 503, headers: ["Retry-After": "0"]) : .init(body: body)
        }
        #expect(try await tool.load(server.url("/a.png").absoluteString, "--retries", "1").status == 0)
        #expect(attempts.value == 2)
        await server.stop()
    }

    @Test(arguments: [1, 4])
    func concurrencyIsHowManyRunAtATime(limit: Int) async throws {
        let tool = try Tool()
        let server = try await LoopbackServer()
        let body = try TestFiles.data("png/1x1.png")
        let state = Lock((running: 0, most: 0))
        let full = RawServerGate()
        server.route("/image") { _ in
            let running = state.withLock { state in
                state.running += 1
                state.most = max(state.most, state.running)
                return state.running
            }
            // Nobody is answered before as many are there as may be.
            if running == limit { full.open() }
            await full.opened()
            state.withLock { $0.running -= 1 }
            return .init(body: body)
        }
        let sources = (1...8).map { server.url("/image?\($0)").absoluteString }.joined(separator: "\n")
        let result = try await tool.load("-", "--concurrency", "\(limit)", input: sources)
        #expect(result.status == 0)
        #expect(state.withLock { $0.most } == limit)
        await server.stop()
    }
}
