import Foundation
import HalcyonNetwork
import Testing

@Suite(.enabled(if: TestCertificate.isAvailable), .timeLimit(.minutes(5)))
struct TLSTests {
    @Test func aCertificateThatNobodyTrustsIsATLSError() async throws {
        let server = try await TLSServer()
        defer { server.stop() }
        let error = await #expect(throws: DownloadError.self) {
            try await CurlTransport().send(.patient(server.url))
        }
        #expect(error?.code == "tls")
        #expect(error?.description.contains("certificate") == true)
    }

    @Test func aTrustedOneServes() async throws {
        let server = try await TLSServer()
        defer { server.stop() }
        var configuration = CurlTransport.Configuration()
        configuration.certificateFile = server.certificate.file
        let response = try await CurlTransport(configuration).send(.patient(server.url))
        #expect(response.head.status == 200)
        #expect(try await !response.body.collected().isEmpty)
        let metrics = try #require(response.body.metrics)
        #expect(metrics.tls >= metrics.connect && metrics.connect > .zero)
    }
}
