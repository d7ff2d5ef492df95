import Foundation
import TestSupport

/// A self-signed certificate for localhost, in a folder of its own.
struct TestCertificate: Sendable {
    static let isAvailable = FileManager.default.isExecutableFile(atPath: openssl)
    static let openssl = "/usr/bin/openssl"

    let folder: URL

    /// `cert.pem` and `key.pem` beside it.
    var file: String { folder.appending(path: "cert.pem").path }

    var keyFile: String { folder.appending(path: "key.pem").path }

    init() async throws {
        folder = FileManager.default.temporaryDirectory.appending(path: "halcyon-tls-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        try await Self.run(
            program(
                Self.openssl,
                "req -x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -keyout key.pem -out cert.pem -days 2 -subj /CN=localhost"
                    + " -addext subjectAltName=DNS:localhost,IP:127.0.0.1"))
    }

    /// The key behind a password, in a file beside it.
    func lockedKey(password: String) async throws -> String {
        try await Self.run(program(Self.openssl, "ec -in key.pem -aes256 -passout pass:\(password) -out locked.pem"))
        return folder.appending(path: "locked.pem").path
    }

    private static func run(_ maker: TestProgram) async throws {
        guard await maker.ended() == 0 else { throw CancellationError() }
    }

    /// Starts a program in the folder.
    func program(_ path: String, _ arguments: String, hasOutput: Bool = false) throws -> TestProgram {
        try TestProgram(
            URL(filePath: path), arguments.split(separator: " ").map(String.init), in: folder, hasOutput: hasOutput)
    }

    func remove() {
        try? FileManager.default.removeItem(at: folder)
    }
}
