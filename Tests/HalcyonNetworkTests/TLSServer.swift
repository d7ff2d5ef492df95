import Foundation
import HalcyonSystem
import TestSupport

/// OpenSSL's own test server; it answers every path with a page, or the paths it is given with those answers.
final class TLSServer: Sendable {
    let certificate: TestCertificate
    let port: Int
    private let program: TestProgram

    var url: URL { URL(web: "https://127.0.0.1:\(port)/a") }

    func url(host: String, path: String = "a") -> URL { URL(web: "https://\(host):\(port)/\(path)") }

    /// - Parameters:
    ///   - options: further ones of the program.
    ///   - answers: whole answers, head and all, by path; nil answers with a page.
    init(options: String = "", answering answers: [String: String]? = nil) async throws {
        certificate = try await TestCertificate()
        for (path, text) in answers ?? [:] {
            try Data(text.utf8).write(to: certificate.folder.appending(path: path))
        }
        program = try certificate.program(
            TestCertificate.openssl,
            "s_server -accept 127.0.0.1:0 -cert cert.pem -key key.pem \(answers == nil ? "-www" : "-HTTP") \(options)",
            hasOutput: true)
        guard let reader = program.output else { throw CancellationError() }
        // On a thread of its own, as the read blocks.
        let found = await withCheckedContinuation { continuation in
            WorkerThread.start(name: "tls-output") { continuation.resume(returning: Self.port(in: reader)) }
        }
        guard let found else { throw CancellationError() }
        port = found
    }

    /// Reads as far as the line that names the port.
    private static func port(in output: FileHandle) -> Int? {
        var text = ""
        while true {
            let data = output.availableData
            if data.isEmpty { return nil }
            text += String(decoding: data, as: UTF8.self)
            let line = text.split(separator: "\n").dropLast(text.hasSuffix("\n") ? 0 : 1).first {
                $0.hasPrefix("ACCEPT ")
            }
            if let port = line?.split(separator: ":").last { return Int(port) }
        }
    }

    func stop() {
        program.stop()
        certificate.remove()
    }
}
