import Foundation
import Halcyon
import HalcyonTesting
import TestSupport
import Testing

@Suite(.timeLimit(.minutes(5)))
struct CredentialTests {
    private func request(_ url: URL, _ credential: Credential) -> ImageRequest {
        var request = ImageRequest(url)
        request.network.credential = credential
        return request
    }

    @Test(arguments: [
        (Credential.basic(user: "Aladdin", password: "open sesame"), "Basic QWxhZGRpbjpvcGVuIHNlc2FtZQ=="),
        (.basic(user: "test", password: "123\u{A3}"), "Basic dGVzdDoxMjPCow=="),
        (.bearer("abc.def"), "Bearer abc.def"),
    ])
    func credentialIsSentButNotDescribed(credential: Credential, field: String) async throws {
        let fixture = PipelineFixture()
        let url = try fixture.serve("png/rgb8.png")
        _ = try await fixture.pipeline.image(for: request(url, credential))
        #expect(fixture.transport.requests.map { $0.headers["Authorization"] } == [field])
        #expect(!"\(credential)".contains(field.dropFirst(7)))
        #expect(!String(reflecting: credential).contains(field.dropFirst(7)))
    }

    @Test func aRefusalIsAnErrorOfItsOwnAndNotTriedAgain() async throws {
        let fixture = PipelineFixture()
        let url = PipelineFixture.url("closed")
        fixture.transport.answer(url, with: .status(401))
        await #expect {
            try await fixture.pipeline.image(for: request(url, .bearer("old")))
        } throws: {
            ($0 as? ImagePipelineError)?.code == "unauthorized"
        }
        #expect(fixture.transport.requestCount == 1)
        // Without one it is a status as any other.
        await #expect {
            try await fixture.pipeline.image(for: url)
        } throws: {
            ($0 as? ImagePipelineError)?.code == "httpStatus"
        }
    }

    @Test func credentialIsNotSentToRedirectTarget() async throws {
        let fixture = PipelineFixture()
        let (first, second) = (PipelineFixture.url("a"), URL(web: "http://elsewhere.test/b"))
        fixture.transport.answer(first, with: .redirect(to: second.absoluteString))
        fixture.transport.answer(second, with: .data(try TestFiles.data("png/rgb8.png")))
        _ = try await fixture.pipeline.image(for: request(first, .bearer("secret")))
        #expect(fixture.transport.requests.map { $0.headers["Authorization"] } == ["Bearer secret", nil])
    }

    @Test func twoCredentialsNeverShareATransfer() async throws {
        let fixture = PipelineFixture()
        let gate = ScriptedTransportGate()
        let url = try fixture.serve("png/rgb8.png", gate: gate)
        let tasks = ["a", "b"].map { fixture.pipeline.task(for: request(url, .bearer($0))) }
        try await fixture.transport.waitForRequests(2)
        gate.open()
        for task in tasks { _ = try await task.response }
        #expect(Set(fixture.transport.requests.map { $0.headers["Authorization"] }) == ["Bearer a", "Bearer b"])
    }
}
