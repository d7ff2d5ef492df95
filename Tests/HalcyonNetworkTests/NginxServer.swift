import Foundation
import HalcyonNetwork
import HalcyonSystem
import TestSupport

/// nginx with HTTP/1.1 and, over TLS, HTTP/2, where it is installed; `Fixtures/nginx/nginx.conf` defines the content.
final class NginxServer: Sendable {
    static let program = ProcessInfo.processInfo.environment["HALCYON_NGINX"] ?? "/usr/sbin/nginx"
    static let isAvailable = TestCertificate.isAvailable && FileManager.default.isExecutableFile(atPath: program)
    /// The credential of the files under `/private/`.
    static let reader = Credential.basic(user: "reader", password: "open sesame")

    let certificate: TestCertificate
    /// The port for HTTP/2, over TLS.
    let port: Int
    /// The port for HTTP/1.1, without TLS.
    let plainPort: Int
    private let program: TestProgram

    /// Serves `files` by name; returns once it answers.
    init(_ files: [String: Data]) async throws {
        certificate = try await TestCertificate()
        let (secured, plain) = (try RawServer.freePort(), try RawServer.freePort())
        defer { for socket in [secured.socket, plain.socket] { close(socket) } }
        (port, plainPort) = (secured.port, plain.port)
        let folder = certificate.folder
        let served = folder.appending(path: "files")
        try FileManager.default.createDirectory(at: served, withIntermediateDirectories: false)
        for (name, data) in files { try data.write(to: served.appending(path: name)) }
        try Data().write(to: served.appending(path: "ready"))
        try Data("reader:{PLAIN}open sesame\n".utf8).write(to: folder.appending(path: "passwords"))
        let text = String(decoding: try TestFiles.data("nginx/nginx.conf"), as: UTF8.self)
            .replacing("@FOLDER@", with: folder.path).replacing("@PLAIN@", with: "\(plainPort)")
            .replacing("@TLS@", with: "\(port)")
        try Data(text.utf8).write(to: folder.appending(path: "conf"))
        program = try certificate.program(
            Self.program, "-c \(folder.path)/conf -p \(folder.path) -e \(folder.path)/errors")
        let transport = self.transport()
        while program.isRunning {
            if (try? await transport.send(.patient(url("ready"))))?.head.status == 200 { return }
        }
        throw CancellationError()
    }

    func url(_ name: String) -> URL { URL(web: "https://127.0.0.1:\(port)/\(name)") }

    func plainURL(_ name: String) -> URL { URL(web: "http://127.0.0.1:\(plainPort)/\(name)") }

    func transport() -> CurlTransport {
        var configuration = CurlTransport.Configuration()
        configuration.certificateFile = certificate.file
        return CurlTransport(configuration)
    }

    /// A request that has ended.
    struct End: Sendable, Equatable {
        /// Seconds since 1970, to the millisecond.
        let time: Double
        let status: Int
        let version: String
        let path: String
    }

    /// The requests that have ended, in that order.
    var ends: [End] {
        let file = certificate.folder.appending(path: "ends")
        let text = (try? String(contentsOf: file, encoding: .utf8)) ?? ""
        return text.split(separator: "\n").compactMap { line in
            let words = line.split(separator: " ")
            guard words.count == 4, let time = Double(words[0]), let status = Int(words[1]) else { return nil }
            return End(time: time, status: status, version: String(words[2]), path: String(words[3]))
        }
    }

    /// Waits for so many ends of requests for a path.
    func waitForEnds(_ count: Int, of path: String) async -> [End] {
        while true {
            let found = ends.filter { $0.path == path }
            if found.count >= count || Task.isCancelled { return found }
            await Task.yield()
        }
    }

    func stop() {
        program.stop()
        certificate.remove()
    }
}
