import Foundation
import Halcyon
import HalcyonNetwork
import HalcyonTesting
import TestSupport
import Testing

/// The ways in which a request names its user, and the parts of it that are kept.
@Suite(.timeLimit(.minutes(5)))
struct UserTests {
    private static let control: HTTPHeaders = ["Cache-Control": "private, max-age=60"]

    /// Two requests of which each is to get an answer of its own.
    private func expectApart(
        _ fixture: PipelineFixture, _ first: (inout ImageRequest) -> Void, _ second: (inout ImageRequest) -> Void,
        _ between: () -> Void = {}
    ) async throws {
        let url = try fixture.serve("png/rgb8.png", headers: Self.control)
        try await expectOwnAnswer(fixture, url, requests: 1, first)
        between()
        try await expectOwnAnswer(fixture, url, requests: 2, second)
    }

    /// From the server once, then from memory, then from disk.
    private func expectOwnAnswer(
        _ fixture: PipelineFixture, _ url: URL, requests: Int, _ change: (inout ImageRequest) -> Void
    ) async throws {
        var request = ImageRequest(url)
        request.cachePolicy.waitsForStore = true
        change(&request)
        for origin in [ImageOrigin.network, .memory, .disk] {
            #expect(try await fixture.pipeline.response(for: request).origin == origin)
            #expect(fixture.transport.requestCount == requests)
            if origin == .memory { fixture.pipeline.cache.clearMemory() }
        }
    }

    @Test(arguments: ["X-Api-Key", "Cookie", "X-Amz-Security-Token", "X-User-Id", "X-Account", "Authorization"])
    func fieldsByTheirNames(name: String) async throws {
        try await expectApart(
            PipelineFixture(), { $0.network.headers = HTTPHeaders([.init(name: name, value: "alice")]) },
            { $0.network.headers = HTTPHeaders([.init(name: name.lowercased(), value: "bob")]) })
    }

    @Test func fieldsThatTheProgramNames() async throws {
        let transport = ScriptedTransport()
        let fixture = PipelineFixture(transport: transport) {
            var download = ImageDownloader.Configuration(transport: transport)
            download.credentialFields = CredentialFields(adding: ["X-Team"])
            $0.downloader = ImageDownloader(download)
        }
        try await expectApart(
            fixture, { $0.network.headers = ["X-Team": "red"] }, { $0.network.headers = ["x-team": "blue"] })
        #expect(!CredentialFields(without: ["Authorization"]).contains("authorization"))
        #expect(!CredentialFields.standard.contains("X-Team") && !CredentialFields.standard.contains("User-Agent"))
    }

    /// Also behind a redirect, and where what is kept is read again: the setting is not in it.
    @Test(arguments: [false, true])
    func anAnswerThatVariesWithAFieldThatTheProgramNamesIsForOne(isRedirected: Bool) async throws {
        let transport = ScriptedTransport()
        let fixture = PipelineFixture(transport: transport) {
            var download = ImageDownloader.Configuration(transport: transport)
            download.credentialFields = CredentialFields(adding: ["X-Team"])
            $0.downloader = ImageDownloader(download)
        }
        let target = try fixture.serve(
            "png/rgb8.png", headers: ["Cache-Control": "public, max-age=60", "Vary": "X-Team"])
        let url = isRedirected ? PipelineFixture.url("moved") : target
        if isRedirected { transport.answer(url, with: .redirect(302, to: target.absoluteString)) }
        var origins: [ImageOrigin] = []
        for team in ["red", "red", "blue"] {
            var request = ImageRequest(url, processors: [.flip(.horizontal)])
            request.network.headers = ["X-Team": team]
            request.cachePolicy.waitsForStore = true
            request.cachePolicy.freshness = .ignore
            fixture.pipeline.cache.clearMemory()
            origins.append(try await fixture.pipeline.response(for: request).origin)
            #expect(
                fixture.pipeline.cache.image(inMemoryFor: ImageRequest(url, processors: [.flip(.horizontal)])) == nil)
        }
        #expect(origins == [.network, .disk, .network])
    }

    @Test func digests() async throws {
        let transport = ScriptedTransport()
        let fixture = PipelineFixture(transport: transport) {
            $0.downloader = ImageDownloader(.init(transport: DigestingTransport(base: transport)))
        }
        try await expectApart(
            fixture, { $0.network.credential = .digest(user: "a", password: "1") },
            { $0.network.credential = .digest(user: "a", password: "2") })
    }

    @Test func usersInURLs() async throws {
        let fixture = PipelineFixture()
        try await expectApart(
            fixture, { $0 = Self.asked($0, by: "alice:pass%77ord") }, { $0 = Self.asked($0, by: "bob:x") })
        #expect(
            fixture.transport.requests.map { $0.headers["Authorization"] }
                == ["Basic YWxpY2U6cGFzc3dvcmQ=", "Basic Ym9iOng="])
        #expect(fixture.transport.requests.allSatisfy { $0.url.user == nil && $0.url.password == nil })
        // By the URL itself the cache finds the same.
        let url = URL(web: "http://alice:password@images.test/png/rgb8.png")
        #expect(await fixture.pipeline.cache.storedOriginal(for: url) != nil)
        #expect(await fixture.pipeline.cache.storedOriginal(for: url.absoluteString) != nil)
        #expect(await fixture.pipeline.cache.storedOriginal(for: PipelineFixture.url("png/rgb8.png")) == nil)
    }

    /// An at sign in another part of the URL names no user.
    @Test(
        arguments: [
            ("http://images.test/photo@2x.png", nil), ("http://images.test?a@b", nil), ("http://images.test#a@b", nil),
            ("http://images.test\\a@b", nil), ("a@b", nil), ("http:a@b", nil), ("a:b://c@d/e@f", "a:b://d/e@f"),
            ("http://a@b@images.test/", "http://images.test/"), ("://@", "://"), ("http://é:ü@ö/@", "http://ö/@"),
        ])
    func aUserStandsBeforeTheHost(text: String, plain: String?) {
        let cache = ImageCache(disk: nil)
        #expect(cache.key(for: text).source == plain ?? text)
        #expect((cache.key(for: text) == cache.key(for: plain ?? text)) == (plain == nil))
    }

    private static func asked(_ request: ImageRequest, by user: String) -> ImageRequest {
        var request = request
        request.source = .remote(URL(web: "http://\(user)@images.test/png/rgb8.png"))
        return request
    }

    @Test func fieldsOfTheDownloader() async throws {
        let fixture = PipelineFixture()
        let downloader = fixture.pipeline.configuration.downloader
        downloader.setDefaultHeader("Authorization", "Bearer alice")
        try await expectApart(fixture, { _ in }, { _ in }) {
            downloader.setDefaultHeader("Authorization", "Bearer bob")
        }
        let request = ImageRequest(PipelineFixture.url("png/rgb8.png"))
        #expect(fixture.pipeline.cache.image(inMemoryFor: request) == nil)
        #expect(fixture.pipeline.cache.image(inMemoryFor: fixture.pipeline.key(for: request)) != nil)
        // Without a user again: no such request has been made yet.
        downloader.setDefaultHeader("Authorization", nil)
        #expect(try await fixture.pipeline.response(for: request).origin == .network)
    }

    @Test func aNameStaysWhenTheTokenIsAnother() async throws {
        let fixture = PipelineFixture()
        let url = try fixture.serve("png/rgb8.png", headers: Self.control)
        for (token, origin) in [("one", ImageOrigin.network), ("two", .memory)] {
            var request = ImageRequest(url)
            (request.network.credential, request.network.user) = (.bearer(token), "alice")
            #expect(try await fixture.pipeline.response(for: request).origin == origin)
        }
        var other = ImageRequest(url)
        (other.network.credential, other.network.user) = (.bearer("two"), "bob")
        #expect(try await fixture.pipeline.response(for: other).origin == .network)
    }

    /// A response to a credential that is added below the keys belongs to a user whom the caches do not know.
    @Test(arguments: [true, false])
    func aHooksCredentialIsKeptByNoCacheUnlessItIsNamed(isNamed: Bool) async throws {
        let fixture = PipelineFixture()
        let url = try fixture.serve("png/rgb8.png", headers: Self.control)
        var request = ImageRequest(url)
        var hooks = DownloadHooks()
        hooks.request = { request in
            var request = request
            request.headers.set("Authorization", "Bearer alice")
            return request
        }
        request.network.hooks = RequestHooks(id: "alice", hooks)
        if isNamed { request.network.user = "alice" }
        request.cachePolicy.waitsForStore = true
        let first = try await fixture.pipeline.response(for: request)
        #expect(first.cacheRule == (isNamed ? .stored : .notStored(.unknownUser)))
        #expect(try await fixture.pipeline.response(for: request).origin == (isNamed ? .memory : .network))
        #expect(await fixture.diskEntries() == (isNamed ? 1 : 0))
    }

    @Test func aRefreshersUsersAreKeptApart() async throws {
        let transport = ScriptedTransport()
        let refresher = CredentialRefresher(origin: PipelineFixture.url(""), credential: .bearer("a"), user: "alice") {
            _ in .bearer("b")
        }
        let fixture = PipelineFixture(transport: transport) {
            var download = ImageDownloader.Configuration(transport: transport)
            download.interceptors = [refresher]
            $0.downloader = ImageDownloader(download)
        }
        try await expectApart(fixture, { _ in }, { _ in }) { refresher.show(.bearer("c"), of: "bob") }
        refresher.show(.bearer("d"), of: "alice")
        let request = ImageRequest(PipelineFixture.url("png/rgb8.png"))
        #expect(try await fixture.pipeline.response(for: request).origin != .network)
        refresher.credential = .bearer("e")
        #expect(try await fixture.pipeline.response(for: request).origin == .network)
    }

    @Test func cookiesOfTheTransportAreItsOwn() async throws {
        let transport = ScriptedTransport()
        let folder = TemporaryFolder()
        let url = URL(web: "http://images.test/a")
        transport.answer(url, with: .data(try TestFiles.data("png/rgb8.png"), headers: Self.control))
        for _ in 0..<2 {
            let pipeline = ImagePipeline(
                configuration: .init(
                    cache: ImageCache(disk: DiskCache(folder: folder.url)),
                    downloader: ImageDownloader(.init(transport: CookieTransport(base: transport)))))
            for origin in [ImageOrigin.network, .disk] {
                #expect(try await pipeline.response(for: ImageRequest(url)).origin == origin)
                await pipeline.cache.disk?.flush()
                pipeline.cache.clearMemory()
            }
        }
    }

    @Test func certificatesAreUsers() {
        var configuration = CurlTransport.Configuration()
        let url = URL(web: "https://images.test/a")
        #expect(!CurlTransport(configuration).identifiesUsers)
        configuration.clientCertificates = ["Images.test": ClientCertificate(file: "/alice.pem")]
        let transport = CurlTransport(configuration)
        #expect(transport.identifiesUsers && transport.user(for: url)?.contains("alice.pem") == true)
        #expect(transport.user(for: URL(web: "https://other.test/a")) == nil)
    }

    /// The certificate that is presented is the one that tells users apart, however the address is written.
    @Test(arguments: ["::1", "[::1]"])
    func theCertificateOfAnAddressIsAUser(key: String) {
        var configuration = CurlTransport.Configuration()
        configuration.clientCertificates = [key: ClientCertificate(file: "/alice.pem")]
        let transport = CurlTransport(configuration)
        #expect(transport.user(for: URL(web: "https://[::1]:8443/a"))?.contains("alice.pem") == true)
        #expect(transport.user(for: URL(web: "https://[::2]/a")) == nil)
    }

    @Test func anAnswerThatBecomesPrivateLeavesEverybodysPlace() async throws {
        let clock = ManualClock()
        let fixture = PipelineFixture(clock: clock.timeSource)
        let (url, data) = (PipelineFixture.url("a"), try TestFiles.data("png/rgb8.png"))
        let tag = "\"1\""
        fixture.transport.answer(
            url, with: .data(data, headers: ["Cache-Control": "public, max-age=60", "ETag": tag]),
            .status(304, headers: ["Cache-Control": "private, max-age=60", "ETag": tag]), .data(data))
        func load(_ user: String) async throws -> ImageOrigin {
            fixture.pipeline.cache.clearMemory()
            var request = ImageRequest(url)
            request.network.credential = .bearer(user)
            request.cachePolicy.waitsForStore = true
            return try await fixture.pipeline.response(for: request).origin
        }
        #expect(try await load("alice") == .network)
        #expect(try await load("bob") == .disk)
        clock.advance(by: .seconds(61))
        #expect(try await load("bob") == .revalidated)
        #expect(try await load("bob") == .disk)
        #expect(try await load("alice") == .network)
    }

    @Test func aRemovalIsOfTheUserAndOfEverybody() async throws {
        let fixture = PipelineFixture()
        let url = try fixture.serve("png/rgb8.png", headers: Self.control)
        var (alice, bob) = (ImageRequest(url), ImageRequest(url))
        (alice.network.credential, bob.network.credential) = (.bearer("alice"), .bearer("bob"))
        for request in [alice, bob] { _ = try await fixture.pipeline.image(for: request) }
        #expect(await fixture.diskEntries() == 2)
        let cache = fixture.pipeline.cache
        await cache.remove(alice)
        #expect(await cache.cachedLevel(for: alice) == nil)
        #expect(await cache.storedOriginal(for: alice) == nil)
        #expect(await cache.cachedLevel(for: bob) == .memory)
        #expect(await cache.cachedLevel(for: url) == nil)
    }

    /// Neither in a file nor in its name.
    @Test(arguments: [true, false])
    func noSecretIsOnDisk(usesHashedFileName: Bool) async throws {
        let folder = TemporaryFolder()
        let fixture = PipelineFixture(folder: folder.url) {
            var configuration = DiskCache.Configuration()
            configuration.usesHashedFileName = usesHashedFileName
            $0.cache = ImageCache(disk: DiskCache(folder: folder.url, configuration: configuration))
        }
        let vary = "Authorization, Cookie, X-Api-Key"
        let data = try TestFiles.data("png/rgb8.png")
        fixture.transport.answer(
            URL(web: "http://images.test/a"), with: .data(data, headers: ["Cache-Control": "max-age=60", "Vary": vary]))
        var requests = ["http://s3cretuser:s3cretword@images.test/a", "http://images.test/a"].map {
            ImageRequest(URL(web: $0), processors: [.flip(.horizontal)])
        }
        requests[1].network.headers = ["Authorization": "Bearer s3cret", "Cookie": "s3cret", "X-Api-Key": "s3cret"]
        requests.append(ImageRequest(URL(web: "http://images.test/a")))
        requests[2].cacheKey = "http://s3cret:s3cret@images.test/b"
        for var request in requests {
            request.cachePolicy.waitsForStore = true
            for origin in [ImageOrigin.network, .disk] {
                #expect(try await fixture.pipeline.response(for: request).origin == origin)
                fixture.pipeline.cache.clearMemory()
            }
            _ = try await fixture.pipeline.encodedImage(for: request, as: .png)
        }
        let secrets = ["s3cret", "Basic ", "czNjcmV0"].map { Data($0.utf8) }
        let names = try FileManager.default.subpathsOfDirectory(atPath: folder.url.path)
        #expect(names.count > 8)
        for name in names {
            #expect(!name.contains("s3cret"))
            guard let bytes = FileManager.default.contents(atPath: folder.url.appending(path: name).path) else {
                continue
            }
            for secret in secrets { #expect(bytes.range(of: secret) == nil, "\(name)") }
        }
        let key = folder.url.appending(path: "CREDENTIAL.KEY").path
        let permissions = try FileManager.default.attributesOfItem(atPath: key)[.posixPermissions] as? Int
        #expect(permissions == 0o600)
    }

    @Test func noDescriptionTellsAUser() {
        for text in [
            "http://s3cret:s3cret@images.test/a", "http://s3cret:a/s3cret@images.test/a", "s3cret:s3cret@images.test/a",
            "ht tp://s3cret:s3cret@images.test/a?s3cret", "http://a@s3cret:s3cret@images.test/a#s3cret",
            "odd://s3cret:s3cret@images.test/a",
        ] {
            let source = ImageSource(string: text)
            #expect(!source.description.contains("s3cret"), "\(text): \(source.description)")
            #expect(!ImageCache(disk: nil).key(for: ImageRequest(source)).source.contains("s3cret:"), "\(text)")
        }
    }

    /// The text `public` within quotes is not the directive, also for those to whom an encoded answer is passed on.
    @Test(
        arguments: [
            ("public, max-age=5", "max-age=5"), ("s-maxage=9, max-age=5", "max-age=5"),
            ("\"x, public\", max-age=5", "private, max-age=5"), ("x=\"a, public\", max-age=5", "private, max-age=5"),
            ("x=\"private\", public, max-age=5", "max-age=5"), ("max-age=5, x=\"a, public, b", "private, max-age=5"),
            ("public, private=\"a, b\", max-age=5", "private, max-age=5"), ("max-age=\"5\", PUBLIC", "max-age=5"),
        ])
    func anEncodedAnswerIsForOneUserUnlessItSaysOtherwise(control: String, expected: String) async throws {
        let fixture = PipelineFixture(clock: ManualClock().timeSource)
        let url = try fixture.serve("png/rgb8.png", headers: ["Cache-Control": control])
        var request = ImageRequest(url)
        request.network.headers = ["X-Api-Key": "alice"]
        let answer = try await fixture.pipeline.encodedImage(for: request, as: .png)
        #expect(answer.freshness.cacheControl == expected)
        for (field, isSame) in [
            ("*", true), (" * ", true), (answer.etag, true), ("W/\(answer.etag)", true),
            ("\"a,b\", \(answer.etag)", true),
            ("\"x, *, y\"", false), ("\"a\" \(answer.etag)", false), ("\"x", false), ("", false), ("a, *", false),
        ] { #expect(answer.matches(ifNoneMatch: field) == isSame, "\(field)") }
    }
}

private struct CookieTransport: Transport {
    let base: ScriptedTransport
    var sendsCookies: Bool { true }
    func send(_ request: TransportRequest) async throws -> TransportResponse { try await base.send(request) }
}

private struct DigestingTransport: Transport {
    let base: ScriptedTransport
    var answersDigest: Bool { true }
    func send(_ request: TransportRequest) async throws -> TransportResponse {
        var request = request
        request.digest = nil
        return try await base.send(request)
    }
}
