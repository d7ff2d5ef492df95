import Foundation
import HalcyonNetwork
import HalcyonSystem
import HalcyonTesting
import TestSupport
import Testing

@Suite(.timeLimit(.minutes(5)))
struct DownloadHooksTests {
    private let transport = ScriptedTransport()
    private let url = URL(web: "http://one.test/a")
    private let body = Data("picture".utf8)

    private func downloader(_ change: (inout ImageDownloader.Configuration) -> Void) -> ImageDownloader {
        var configuration = ImageDownloader.Configuration(transport: transport)
        configuration.retry = .never
        change(&configuration)
        return ImageDownloader(configuration)
    }

    private func reason(_ body: () async throws -> Void) async -> DownloadError.Reason? {
        do {
            try await body()
            return nil
        } catch {
            return (error as? DownloadError)?.reason
        }
    }

    @Test func aModifiedRequestIsWhatIsSentAndShared() async throws {
        transport.answer(URL(web: "http://one.test/b"), with: .data(body))
        let downloader = downloader {
            $0.hooks.request = { request in
                await Task.yield()
                var request = request
                request.url = URL(web: "http://one.test/b")
                request.headers["X-Key"] = "1"
                return request
            }
        }
        let result = try await downloader.download(url)
        #expect(result.url == URL(web: "http://one.test/b"))
        #expect(transport.requests.map { $0.headers["X-Key"] } == ["1"])
    }

    @Test func aRequestIsSeenAsItIsSentAndSentAsItIsLeft() async throws {
        transport.answer(url, with: .data(body))
        let seen = Lock<HTTPHeaders?>(nil)
        let downloader = downloader {
            $0.headers = ["User-Agent": "mine", "Accept": "image/png", "X-Shop": "7"]
            $0.hooks.request = { original in
                seen.withLock { $0 = original.headers }
                var request = original
                request.headers.remove("X-Shop")
                request.headers.remove("Accept-Encoding")
                request.headers.set("User-Agent", "other")
                return request
            }
        }
        _ = try await downloader.download(DownloadRequest(url: url, headers: ["Accept": "image/webp"]))
        let fields = try #require(seen.withLock { $0 })
        #expect(fields["User-Agent"] == "mine" && fields["X-Shop"] == "7" && fields["Accept"] == "image/webp")
        #expect(fields.contains("Accept-Encoding"))
        #expect(fields.fields.count == 4)
        let sent = try #require(transport.requests.first).headers
        #expect(sent["Accept"] == "image/webp" && sent["User-Agent"] == "other")
        #expect(sent.fields.count == 2)
    }

    /// The hooks of one request run after the downloader's, and both together have the last word.
    @Test func bothHooksChangeWhatIsSent() async throws {
        transport.answer(url, with: .data(body))
        let downloader = downloader {
            $0.headers = ["X-Shop": "7", "X-Other": "8"]
            $0.hooks.request = { original in
                var request = original
                request.headers.remove("X-Shop")
                return request
            }
        }
        var hooks = DownloadHooks()
        hooks.request = { original in
            var request = original
            #expect(!request.headers.contains("X-Shop") && request.headers.contains("X-Other"))
            request.headers.remove("X-Other")
            return request
        }
        var request = DownloadRequest(url: url)
        request.hooks = RequestHooks(id: "plain", hooks)
        _ = try await downloader.download(request)
        #expect(transport.requests.first?.headers.fields.map(\.name) == ["Accept-Encoding"])
    }

    @Test func codingsAreThoseThatCanBeUnpacked() async throws {
        transport.answer(url, with: .data(body), .data(body, status: 206), .data(body, status: 206), .data(body))
        let plain = downloader { _ in }
        _ = try await plain.download(url)
        _ = try await plain.download(DownloadRequest(url: url, headers: ["Range": "bytes=0-6"]))
        let parts = downloader {
            $0.hooks.request = { original in
                var request = original
                request.headers.set("Range", "bytes=0-6")
                return request
            }
        }
        _ = try await parts.download(url)
        let none = downloader {
            $0.hooks.request = { original in
                var request = original
                request.headers.set("Accept-Encoding", "identity")
                return request
            }
        }
        _ = try await none.download(url)
        let sent = transport.requests.map { $0.headers["Accept-Encoding"] }
        #expect(sent.first.flatMap { $0 }?.contains("gzip") == true)
        #expect(sent.dropFirst() == ["identity", "identity", "identity"])
    }

    @Test func aRefusedRequestIsNotSent() async {
        struct Nope: Error, CustomStringConvertible { let description = "not today" }
        let silent = downloader { $0.hooks.request = { _ in nil } }
        let loud = downloader { $0.hooks.request = { _ in throw Nope() } }
        #expect(await reason { _ = try await silent.download(url) } == .refused("the request hook"))
        #expect(await reason { _ = try await loud.download(url) } == .refused("the request hook: not today"))
        #expect(transport.requestCount == 0)
        let cancelled = downloader { $0.hooks.request = { _ in throw CancellationError() } }
        await #expect(throws: CancellationError.self) { try await cancelled.download(url) }
    }

    @Test(arguments: ["request", "redirect", "response", "wantsBody", "data", "interceptor", "transport", "body"])
    func anErrorOfOnesOwnStaysItself(place: String) async throws {
        struct Nope: Error, Equatable, CustomStringConvertible {
            let place: String
            var description: String { "not at the \(place)" }
        }
        let own = Nope(place: place)
        switch place {
        case "redirect": transport.answer(url, with: .redirect(to: "http://elsewhere.test/"))
        case "transport": transport.answer(url, with: .failure(own))
        case "body": transport.answer(url, with: .init(steps: [.chunk(body), .fail(own)]))
        default: transport.answer(url, with: .data(body))
        }
        let downloader = downloader {
            switch place {
            case "request": $0.hooks.request = { _ in throw own }
            case "redirect": $0.hooks.redirect = { _, _ in throw own }
            case "response": $0.hooks.response = { _ in throw own }
            case "wantsBody": $0.hooks.wantsBody = { _ in throw own }
            case "data": $0.hooks.data = { _, _ in throw own }
            case "interceptor": $0.interceptors = [TestInterceptor { _, _ in throw own }]
            default: break
            }
        }
        let error = await #expect(throws: DownloadError.self) { try await downloader.download(url) }
        #expect(error?.underlying as? Nope == own)
        let isOfTransport = ["transport", "body"].contains(place)
        #expect(error?.code == (isOfTransport ? "connection" : "refused"))
        #expect(error?.description.contains("not at the \(place)") == true)
    }

    @Test func aModifiedAnswerIsWhatCounts() async throws {
        transport.answer(url, with: .data(body, status: 404), .data(body), .data(body))
        let downloader = downloader {
            $0.hooks.response = { head in
                var head = head
                head.status = head.status == 404 ? 200 : 500
                return head
            }
        }
        #expect(try await downloader.download(url).data == body)
        #expect(await reason { _ = try await downloader.download(url) } == .httpStatus(500))
        let refusing = self.downloader { $0.hooks.response = { _ in nil } }
        #expect(await reason { _ = try await refusing.download(url) } == .refused("the response hook"))
    }

    @Test func aBodyMayBeRefusedByItsHead() async throws {
        transport.answer(url, with: .data(body, headers: ["X-Large": "yes"]), .data(body))
        let downloader = downloader { $0.hooks.wantsBody = { $0.headers["X-Large"] == nil } }
        #expect(await reason { _ = try await downloader.download(url) } == .refused("the body hook"))
        #expect(try await downloader.download(url).data == body)
    }

    @Test func otherBytesMayBeMadeOfABody() async throws {
        transport.answer(url, with: .data(Data(body.reversed())))
        let downloader = downloader { $0.hooks.data = { data, _ in Data(data.reversed()) } }
        #expect(try await downloader.download(url).data == body)
        let refusing = self.downloader { $0.hooks.data = { _, _ in nil } }
        transport.answer(url, with: .data(body))
        #expect(await reason { _ = try await refusing.download(url) } == .refused("the data hook"))
    }

    @Test func eachChunkIsSeen() async throws {
        transport.answer(
            url,
            with: .init(headers: ["Content-Length": "7"], steps: [.chunk(body.prefix(3)), .chunk(body.dropFirst(3))]))
        let seen = Lock<[(Data, DownloadProgress)]>([])
        let downloader = downloader {
            $0.hooks.chunk = { data, progress in seen.withLock { $0.append((data, progress)) } }
        }
        _ = try await downloader.download(url)
        let all = seen.withLock { $0 }
        #expect(all.map(\.0) == [Data("pic".utf8), Data("ture".utf8)])
        #expect(all.map(\.1.received) == [3, 7])
        #expect(all.map(\.1.expected) == [7, 7])
    }

    @Test func aRedirectMayBeChangedOrStopped() async throws {
        let target = URL(web: "http://two.test/c")
        transport.answer(url, with: .redirect(302, to: "http://two.test/b"), .redirect(302, to: "http://two.test/b"))
        transport.answer(target, with: .data(body))
        let changing = downloader {
            $0.hooks.redirect = { head, next in
                #expect(head.status == 302)
                return RedirectTarget(url: target, headers: next.headers)
            }
        }
        #expect(try await changing.download(url).url == target)
        let stopping = downloader { $0.hooks.redirect = { _, _ in nil } }
        #expect(await reason { _ = try await stopping.download(url) } == .httpStatus(302))
        #expect(transport.requests.map(\.url) == [url, target, url])
    }

    @Test(
        arguments: [
            ("image/png", true), ("image/png; charset=x", true), ("IMAGE/PNG", true), ("text/html", false),
            ("image", false), (nil, false),
        ] as [(String?, Bool)])
    func onlyAcceptedTypesPass(type: String?, isAccepted: Bool) async throws {
        var headers = HTTPHeaders()
        headers["Content-Type"] = type
        transport.answer(url, with: .data(body, headers: headers))
        let downloader = downloader { $0.accepted.types = ["image/*"] }
        let reason = await reason { _ = try await downloader.download(url) }
        #expect(reason == (isAccepted ? nil : .contentType(type)))
    }

    @Test func onlyAcceptedStatusesPass() async throws {
        transport.answer(url, with: .data(body, status: 203), .data(body, status: 410))
        let downloader = downloader { $0.accepted.statuses = [200, 410] }
        #expect(await reason { _ = try await downloader.download(url) } == .httpStatus(203))
        #expect(try await downloader.download(url).status == 410)
    }
}
