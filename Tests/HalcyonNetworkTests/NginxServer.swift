import Foundation
import HalcyonNetwork
import HalcyonSystem
import TestSupport

/// nginx with HTTP/2 over TLS, where it is installed.
final class NginxServer: Sendable {
    static let program = ProcessInfo.processInfo.environment["HALCYON_NGINX"] ?? "/usr/sbin/nginx"
    static let isAvailable = TestCertificate.isAvailable && FileManager.default.isExecutableFile(atPath: program)

    let certificate: TestCertificate
    let port: Int
    private let process: Lock<Process>

    /// Serves `files` by name; returns once it answers.
    init(_ files: [String: Data]) async throws {
        certificate = try await TestCertificate()
        port = try RawServer.freePort()
        for (name, data) in files { try data.write(to: certificate.folder.appending(path: name)) }
        let folder = certificate.folder.path
        let temporary = ["client_body", "proxy", "fastcgi", "uwsgi", "scgi"].map { "\($0)_temp_path \(folder)/\($0);" }
        let text = """
            daemon off; master_process off; pid \(folder)/pid; error_log \(folder)/errors;
            events { worker_connections 512; }
            http {
                access_log off; \(temporary.joined(separator: " "))
                server {
                    listen 127.0.0.1:\(port) ssl http2; root \(folder);
                    ssl_certificate \(folder)/cert.pem; ssl_certificate_key \(folder)/key.pem;
                }
            }
            """
        try Data(text.utf8).write(to: certificate.folder.appending(path: "conf"))
        let server = certificate.process(Self.program, "-c \(folder)/conf -p \(folder) -e \(folder)/errors")
        try server.run()
        process = Lock(server)
        let transport = self.transport()
        while server.isRunning {
            if (try? await transport.send(.patient(url("conf"))))?.head.status == 200 { return }
        }
        throw CancellationError()
    }

    func url(_ name: String) -> URL { URL(web: "https://127.0.0.1:\(port)/\(name)") }

    func transport() -> CurlTransport {
        var configuration = CurlTransport.Configuration()
        configuration.certificateFile = certificate.file
        return CurlTransport(configuration)
    }

    func stop() {
        process.withLock { $0.terminate() }
        certificate.remove()
    }
}
