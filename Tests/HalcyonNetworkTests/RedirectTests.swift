import Foundation
import HalcyonNetwork
import HalcyonTesting
import TestSupport
import Testing

@Suite(.timeLimit(.minutes(5)))
struct RedirectTests {
    private let fixture = DownloaderFixture()
    private let body = Data("picture".utf8)

    @Test(arguments: [301, 302, 303, 307, 308])
    func everyKindIsFollowed(_ status: Int) async throws {
        fixture.transport.answer(fixture.url("/a"), with: .redirect(status, to: "/b"))
        fixture.transport.answer(fixture.url("/b"), with: .data(body))
        let result = try await fixture.downloader.download(fixture.url("/a"))
        #expect(result.data == body)
        #expect(result.url == fixture.url("/b"))
        #expect(result.redirectCount == 1)
        #expect(fixture.transport.requests.map(\.method) == ["GET", "GET"])
    }

    static let locations: [(String, String)] = [
        ("b.jpg", "http://one.test/x/b.jpg"), ("../b.jpg", "http://one.test/b.jpg"),
        ("?q=1", "http://one.test/x/a?q=1"),
        ("//two.test/b", "http://two.test/b"), ("https://one.test/b", "https://one.test/b"),
        (" /b ", "http://one.test/b"), ("HTTP://TWO.test/b", "HTTP://TWO.test/b"),
    ]

    @Test(arguments: locations)
    func relativeLocationsAreResolved(_ location: String, _ target: String) async throws {
        fixture.transport.answer(fixture.url("/x/a"), with: .redirect(to: location))
        let url = try #require(URL(string: target))
        fixture.transport.answer(url, with: .data(body))
        #expect(try await fixture.downloader.download(fixture.url("/x/a")).url.absoluteString == target)
    }

    /// No URL is sent with a user, neither the requested one nor the target of the redirect.
    @Test func aUserInALocationIsSentAsACredential() async throws {
        let (first, second) = (URL(web: "http://alice:one@one.test/a"), URL(web: "http://two.test/b"))
        fixture.transport.answer(first, with: .redirect(to: "http://bob:two@two.test/b"))
        fixture.transport.answer(second, with: .data(body))
        let result = try await fixture.downloader.download(first)
        #expect(result.url == second)
        #expect(fixture.transport.requests.map(\.url.user) == [nil, nil])
        #expect(
            fixture.transport.requests.map { $0.headers["Authorization"] }
                == ["Basic YWxpY2U6b25l", "Basic Ym9iOnR3bw=="])
    }

    @Test(
        arguments: [
            ([], true), ([301], true), ([308, 301], true), ([302], false), ([303], false), ([307], false),
            ([301, 302], false), ([307, 308], false),
        ] as [([Int], Bool)])
    func whetherAllWerePermanentIsTold(_ statuses: [Int], _ expected: Bool) async throws {
        for (index, status) in statuses.enumerated() {
            fixture.transport.answer(fixture.url("/\(index)"), with: .redirect(status, to: "/\(index + 1)"))
        }
        fixture.transport.answer(fixture.url("/\(statuses.count)"), with: .data(body))
        #expect(try await fixture.downloader.download(fixture.url("/0")).redirectsArePermanent == expected)
    }

    @Test func aLocationInUTF8IsFollowed() async throws {
        let server = try RawServer { connection in
            let head = connection.readRequest() ?? ""
            if RawServerConnection.path(of: head) == "/a" {
                try connection.answer(Data(), status: "302 Found", fields: "Location: /voil\u{E0}\r\n")
            } else {
                try connection.answer(Data("picture".utf8))
            }
        }
        defer { server.stop() }
        let result = try await ImageDownloader.patient().download(server.url("/a"))
        #expect(result.url.absoluteString.hasSuffix("/voil%C3%A0"))
        #expect(result.data == body)
    }

    private func failure(_ url: URL, maximum: Int = 20) async -> DownloadError.Reason? {
        let request = DownloadRequest(url: url, maximumRedirects: maximum)
        let error = await #expect(throws: DownloadError.self) { try await fixture.downloader.download(request) }
        #expect(error?.code == "redirect")
        return error?.reason
    }

    @Test func loopsEnd() async throws {
        fixture.transport.answer(fixture.url("/self"), with: .redirect(to: "/self#again"))
        #expect(await failure(fixture.url("/self")) == .redirect(.loop))
        fixture.transport.answer(fixture.url("/a"), with: .redirect(to: "/b"))
        fixture.transport.answer(fixture.url("/b"), with: .redirect(to: "/a"))
        #expect(await failure(fixture.url("/a")) == .redirect(.loop))
        #expect(fixture.transport.requestCount == 3)
    }

    @Test(arguments: [0, 1, 20])
    func aLimitHolds(_ limit: Int) async throws {
        for index in 0...limit {
            fixture.transport.answer(fixture.url("/\(index)"), with: .redirect(to: "/\(index + 1)"))
        }
        fixture.transport.answer(fixture.url("/\(limit + 1)"), with: .data(body))
        #expect(await failure(fixture.url("/0"), maximum: limit) == .redirect(.tooMany(limit: limit)))
        _ = try await fixture.downloader.download(DownloadRequest(url: fixture.url("/0"), maximumRedirects: limit + 1))
    }

    @Test(arguments: [("ftp://h/a", "ftp"), ("file:///etc/passwd", "file"), ("data:image/gif;base64,AA", "data")])
    func onlyTheWebIsFollowed(_ location: String, scheme: String) async throws {
        fixture.transport.answer(fixture.url(), with: .redirect(to: location))
        #expect(await failure(fixture.url()) == .redirect(.schemeNotAllowed(scheme)))
    }

    @Test(arguments: ["", "   ", "http://", "http:///x"])
    func aLocationThatLeadsNowhereIsAnError(_ location: String) async throws {
        fixture.transport.answer(fixture.url(), with: .redirect(to: location))
        #expect(await failure(fixture.url()) == .redirect(.badLocation))
        fixture.transport.answer(fixture.url("/none"), with: .status(302))
        #expect(await failure(fixture.url("/none")) == .redirect(.badLocation))
    }

    // MARK: Credentials

    static let secrets: HTTPHeaders = [
        "Authorization": "Bearer x", "Cookie": "a=b", "Proxy-Authorization": "y", "X-Api-Key": "z", "X-Auth-Token": "t",
        "X-Amz-Security-Token": "s", "X-Session": "i", "Host": "one.test", "Origin": "http://one.test",
        "Referer": "http://one.test/private",
    ]
    static let origins = [
        "http://two.test/b", "http://one.test:8080/b", "https://one.test/b", "http://sub.one.test/b",
    ]

    @Test(arguments: [301, 302, 303, 307, 308], origins)
    func secretsStayAtTheirOrigin(_ status: Int, location: String) async throws {
        fixture.transport.answer(fixture.url(), with: .redirect(status, to: location))
        let url = try #require(URL(string: location))
        fixture.transport.answer(url, with: .redirect(to: "http://one.test/back"))
        fixture.transport.answer(fixture.url("/back"), with: .data(body))
        let headers = Self.secrets.merging(["Accept": "image/webp", "X-Size": "1"])
        _ = try await fixture.downloader.download(DownloadRequest(url: fixture.url(), headers: headers))
        let requests = fixture.transport.requests
        #expect(requests.count == 3)
        for field in Self.secrets.fields {
            #expect(requests[0].headers[field.name] == field.value)
            #expect(requests[1].headers[field.name] == nil)
            #expect(requests[2].headers[field.name] == nil)
        }
        #expect(requests.allSatisfy { $0.headers["Accept"] == "image/webp" && $0.headers["X-Size"] == "1" })
        #expect(requests.allSatisfy { $0.headers["User-Agent"] == "test" })
    }

    @Test(arguments: ["/b", "http://one.test/b", "http://ONE.test:80/b"])
    func withinTheOriginTheyGoAlong(_ location: String) async throws {
        fixture.transport.answer(fixture.url(), with: .redirect(to: location))
        let url = try #require(URL(string: location, relativeTo: fixture.url())?.absoluteURL)
        fixture.transport.answer(url, with: .data(body))
        _ = try await fixture.downloader.download(DownloadRequest(url: fixture.url(), headers: Self.secrets))
        #expect(fixture.transport.requests.last?.headers["Authorization"] == "Bearer x")
    }

    @Test(arguments: [301, 302, 303, 307, 308])
    func noSecretReachesAnotherPortOverSockets(_ status: Int) async throws {
        let other = try await LoopbackServer(["/b": { _ in .init(body: Data("picture".utf8)) }])
        let location = other.url("/b").absoluteString
        let first = try await LoopbackServer(["/a": { _ in .init(status: status, headers: ["Location": location]) }])
        let request = DownloadRequest(
            url: first.url("/a"), headers: ["Authorization": "x", "Cookie": "y", "X-Kept": "z"])
        let result = try await ImageDownloader.patient().download(request)
        #expect(result.data == body)
        #expect(first.requests.first?.headers["authorization"] == "x")
        let seen = try #require(other.requests.first).headers
        #expect(seen["authorization"] == nil && seen["cookie"] == nil)
        #expect(seen["x-kept"] == "z")
        await first.stop()
        await other.stop()
    }

    @Test func twentyAreFollowedByDefault() {
        #expect(DownloadRequest(url: fixture.url("/a")).maximumRedirects == 20)
    }
}
