import Foundation
import HalcyonSystem
import TestSupport

/// OpenSSL's own test server; it answers every path with a page.
final class TLSServer: Sendable {
    let certificate: TestCertificate
    let port: Int
    private let process: Lock<Process>

    var url: URL { URL(web: "https://127.0.0.1:\(port)/a") }

    init() throws {
        certificate = try TestCertificate()
        let server = certificate.process(
            TestCertificate.openssl, "s_server -accept 127.0.0.1:0 -cert cert.pem -key key.pem -www")
        let output = Pipe()
        server.standardOutput = output
        try server.run()
        var text = ""
        var found: Int?
        while found == nil {
            let data = output.fileHandleForReading.availableData
            if data.isEmpty { break }
            text += String(decoding: data, as: UTF8.self)
            found = text.split(separator: "\n").first { $0.hasPrefix("ACCEPT ") }.flatMap { line in
                line.split(separator: ":").last.flatMap { Int($0) }
            }
        }
        guard let found else { throw CancellationError() }
        port = found
        process = Lock(server)
    }

    func stop() {
        process.withLock { $0.terminate() }
        certificate.remove()
    }
}
