import Foundation
import HalcyonNetwork
import HalcyonSystem
import HalcyonTesting
import TestSupport
import Testing

@Suite(.timeLimit(.minutes(5)))
struct CredentialRefresherTests {
    private static let origin = URL(web: "http://one.test")
    private static let body = Data("picture".utf8)

    /// A server that accepts requests with the token that is valid now.
    private final class Account: Sendable {
        let good = Lock("new")
        let refreshes = Lock<[Credential?]>([])
        let gate = ScriptedTransportGate()
        let started = ScriptedTransportGate()
        /// The result of a refresh, instead of the good token.
        let answer = Lock<Result<String, any Error>?>(nil)

        func refresh(_ refused: Credential?) async throws -> Credential {
            refreshes.withLock { $0.append(refused) }
            started.open()
            try await gate.wait()
            return .bearer(try answer.withLock { $0 }?.get() ?? good.withLock { $0 })
        }
    }

    private let account = Account()
    private let transport: ScriptedTransport
    private let refresher: CredentialRefresher
    private let downloader: ImageDownloader

    init() {
        let account = account
        transport = ScriptedTransport { request in
            let isIn = request.headers["Authorization"] == "Bearer " + account.good.withLock { $0 }
            return isIn ? .data(Self.body) : .status(401)
        }
        refresher = CredentialRefresher(origin: Self.origin, credential: .bearer("old")) {
            try await account.refresh($0)
        }
        var configuration = ImageDownloader.Configuration(transport: transport)
        configuration.retry = .never
        (configuration.transfersPerHost, configuration.transfers) = (100, 100)
        configuration.interceptors = [refresher]
        downloader = ImageDownloader(configuration)
    }

    private func url(_ path: String, host: String = "one.test") -> URL { URL(web: "http://\(host)/\(path)") }

    private func ends(_ count: Int, _ url: @escaping @Sendable (Int) -> URL) -> [Task<Data, any Error>] {
        (0..<count).map { index in Task { [downloader] in try await downloader.download(url(index)).data } }
    }

    /// Makes some requests with the old credential, all of which are refused: a request made once a refresh runs would wait for
    /// it.
    private func refuse(_ count: Int) async throws -> [Task<Data, any Error>] {
        let refusal = ScriptedTransportGate()
        for index in 0..<count {
            transport.answer(url("\(index)"), with: .status(401).held(by: refusal), .data(Self.body))
        }
        let tasks = ends(count) { self.url("\($0)") }
        try await transport.waitForRequests(count)
        refusal.open()
        try await account.started.wait()
        return tasks
    }

    private func reason(_ task: Task<Data, any Error>) async -> DownloadError.Reason? {
        do {
            _ = try await task.value
            return nil
        } catch {
            return (error as? DownloadError)?.reason
        }
    }

    @Test func hundredRefusedDownloadsShareOneRefresh() async throws {
        let tasks = try await refuse(100)
        account.gate.open()
        for task in tasks { #expect(try await task.value == Self.body) }
        #expect(account.refreshes.withLock { $0 } == [.bearer("old")])
        // Exactly one more for each, with the new one.
        #expect(transport.requestCount == 200)
        for index in 0..<100 {
            let sent = transport.requests(for: url("\(index)")).map { $0.headers["Authorization"] }
            #expect(sent == ["Bearer old", "Bearer new"])
        }
        #expect(refresher.credential == .bearer("new"))
    }

    @Test func downloadsOfOneURLShareTransfersAroundRefresh() async throws {
        let (first, second) = (ScriptedTransportGate(), ScriptedTransportGate())
        transport.answer(url("a"), with: .status(401).held(by: first), .data(Self.body).held(by: second))
        let tasks = ends(100) { _ in self.url("a") }
        while downloader.subscriberCount < 100 { await Task.yield() }
        first.open()
        try await account.started.wait()
        account.gate.open()
        try await transport.waitForRequests(2)
        while downloader.subscriberCount < 100 { await Task.yield() }
        second.open()
        for task in tasks { #expect(try await task.value == Self.body) }
        #expect(account.refreshes.withLock { $0.count } == 1)
        #expect(transport.requests.map { $0.headers["Authorization"] } == ["Bearer old", "Bearer new"])
    }

    @Test func refusalOfRefreshedCredentialIsNotRetried() async throws {
        account.answer.withLock { $0 = .success("useless") }
        account.gate.open()
        let tasks = ends(1) { self.url("\($0)") }
        #expect(await reason(tasks[0]) == .unauthorized)
        #expect(transport.requests.map { $0.headers["Authorization"] } == ["Bearer old", "Bearer useless"])
        #expect(account.refreshes.withLock { $0.count } == 1)
    }

    @Test func failedRefreshFailsAllRefusedDownloads() async throws {
        struct Expired: Error, CustomStringConvertible { let description = "log in again" }
        account.answer.withLock { $0 = .failure(Expired()) }
        let tasks = try await refuse(100)
        account.gate.open()
        for task in tasks { #expect(await reason(task) == .refused("the credential's refresh: log in again")) }
        let error = await #expect(throws: DownloadError.self) { try await tasks[0].value }
        #expect(error?.underlying is Expired)
        #expect(account.refreshes.withLock { $0.count } == 1)
        #expect(transport.requestCount == 100)
        // A later request refreshes anew.
        account.answer.withLock { $0 = nil }
        #expect(try await downloader.download(url("later")).data == Self.body)
        #expect(account.refreshes.withLock { $0 } == [.bearer("old"), .bearer("old")])
    }

    /// Asked for with the old one, and answered when another's refresh has been and gone.
    @Test func lateRefusalUsesRefreshedCredential() async throws {
        let gate = ScriptedTransportGate()
        let late = url("late")
        transport.answer(late, with: .status(401).held(by: gate), .data(Self.body))
        let task = ends(1) { _ in late }[0]
        try await transport.waitForRequests(1)
        account.gate.open()
        #expect(try await downloader.download(url("a")).data == Self.body)
        gate.open()
        #expect(try await task.value == Self.body)
        #expect(transport.requests(for: late).map { $0.headers["Authorization"] } == ["Bearer old", "Bearer new"])
        #expect(account.refreshes.withLock { $0 } == [.bearer("old")])
    }

    @Test func lateRefusalReportsFailedRefresh() async throws {
        struct Expired: Error, CustomStringConvertible { let description = "log in again" }
        let gate = ScriptedTransportGate()
        let late = url("late")
        transport.answer(late, with: .status(401).held(by: gate), .data(Self.body))
        let task = ends(1) { _ in late }[0]
        try await transport.waitForRequests(1)
        account.answer.withLock { $0 = .failure(Expired()) }
        account.gate.open()
        let failure = DownloadError.Reason.refused("the credential's refresh: log in again")
        #expect(await reason(ends(1) { _ in self.url("a") }[0]) == failure)
        gate.open()
        #expect(await reason(task) == failure)
        #expect(transport.requests(for: late).count == 1)
        #expect(account.refreshes.withLock { $0.count } == 1)
    }

    @Test func aRefreshsOwnDownloadErrorGoesOn() async throws {
        let offline = DownloadError(.offline, url: url("token", host: "login.test"))
        account.answer.withLock { $0 = .failure(offline) }
        account.gate.open()
        await #expect(throws: offline) { try await downloader.download(url("a")) }
        // A refresh that gives up is not a cancellation of its waiters.
        account.answer.withLock { $0 = .failure(CancellationError()) }
        guard case .refused = await reason(ends(1) { self.url("\($0)") }[0]) else {
            Issue.record("it is no refusal")
            return
        }
    }

    @Test func cancelledDownloadDoesNotCancelRefresh() async throws {
        let tasks = try await refuse(2)
        tasks[0].cancel()
        await #expect(throws: CancellationError.self) { try await tasks[0].value }
        account.gate.open()
        #expect(try await tasks[1].value == Self.body)
        #expect(account.refreshes.withLock { $0.count } == 1)
    }

    @Test func downloadStartedDuringRefreshWaits() async throws {
        let first = ends(1) { self.url("\($0)") }
        try await account.started.wait()
        let second = ends(1) { _ in self.url("second") }
        // As long as the refresh lasts, the second URL cannot have been requested.
        #expect(transport.requests(for: url("second")).isEmpty)
        account.gate.open()
        #expect(try await first[0].value == Self.body)
        #expect(try await second[0].value == Self.body)
        #expect(transport.requests(for: url("second")).map { $0.headers["Authorization"] } == ["Bearer new"])
    }

    @Test func credentialIsSentToItsOriginOnly() async throws {
        let elsewhere = url("a", host: "two.test")
        transport.answer(elsewhere, with: .data(Self.body))
        _ = try await downloader.download(elsewhere)
        var own = DownloadRequest(url: url("own"), headers: ["Authorization": "Bearer mine"])
        await #expect(throws: DownloadError.self) { try await downloader.download(own) }
        own = DownloadRequest(url: url("own"), credential: .bearer("mine"))
        await #expect(throws: DownloadError.self) { try await downloader.download(own) }
        #expect(transport.requests.map { $0.headers["Authorization"] } == [nil, "Bearer mine", "Bearer mine"])
        #expect(account.refreshes.withLock { $0.isEmpty })
    }

    @Test func firstRefusalObtainsMissingCredential() async throws {
        refresher.credential = nil
        account.gate.open()
        #expect(try await downloader.download(url("a")).data == Self.body)
        #expect(account.refreshes.withLock { $0 } == [nil])
        #expect(transport.requests.map { $0.headers["Authorization"] } == [nil, "Bearer new"])
    }

    @Test func aCredentialThatTheProgramSetsWins() async throws {
        let tasks = ends(1) { self.url("\($0)") }
        try await account.started.wait()
        account.good.withLock { $0 = "set" }
        account.answer.withLock { $0 = .success("late") }
        refresher.credential = .bearer("set")
        #expect(try await tasks[0].value == Self.body)
        account.gate.open()
        #expect(try await downloader.download(url("b")).data == Self.body)
        #expect(refresher.credential == .bearer("set"))
    }

    @Test func aRefreshMayUseTheSameDownloader() async throws {
        let downloaders = Lock<[ImageDownloader]>([])
        let login = url("login")
        let refresher = CredentialRefresher(origin: Self.origin, credential: .bearer("old")) { _ in
            guard let downloader = downloaders.withLock({ $0.first }) else { throw CancellationError() }
            let token = try await downloader.download(login).data
            return .bearer(String(decoding: token, as: UTF8.self))
        }
        transport.answer(login, with: .data(Data("new".utf8)))
        var configuration = ImageDownloader.Configuration(transport: transport)
        configuration.interceptors = [refresher]
        let downloader = ImageDownloader(configuration)
        downloaders.withLock { $0 = [downloader] }
        #expect(try await downloader.download(url("a")).data == Self.body)
        #expect(transport.requests(for: login).map { $0.headers["Authorization"] } == [nil])
        downloaders.withLock { $0 = [] }
    }
}
