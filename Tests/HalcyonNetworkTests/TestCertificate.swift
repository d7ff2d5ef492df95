import Foundation
import HalcyonSystem

/// A certificate for localhost that nobody has signed, in a folder of its own.
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
        let maker = process(
            Self.openssl,
            "req -x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -keyout key.pem -out cert.pem -days 2 -subj /CN=localhost"
                + " -addext subjectAltName=DNS:localhost,IP:127.0.0.1")
        try await Self.run(maker)
    }

    /// The key behind a password, in a file beside it.
    func lockedKey(password: String) async throws -> String {
        try await Self.run(process(Self.openssl, "ec -in key.pem -aes256 -passout pass:\(password) -out locked.pem"))
        return folder.appending(path: "locked.pem").path
    }

    /// The wait is on a thread of its own: it would block one of the few that all tests run on.
    private static func run(_ maker: sending Process) async throws {
        let running = Lock(maker)
        let status = try await withCheckedThrowingContinuation { continuation in
            WorkerThread.start(name: "tls-certificate") {
                continuation.resume(
                    with: Result {
                        try running.withLock { maker in
                            try maker.run()
                            maker.waitUntilExit()
                            return maker.terminationStatus
                        }
                    })
            }
        }
        guard status == 0 else { throw CancellationError() }
    }

    /// A program that is to run in the folder, and say nothing.
    func process(_ program: String, _ arguments: String) -> Process {
        let process = Process()
        process.executableURL = URL(filePath: program)
        process.arguments = arguments.split(separator: " ").map(String.init)
        process.currentDirectoryURL = folder
        process.standardOutput = FileHandle.nullDevice
        process.standardError = FileHandle.nullDevice
        return process
    }

    func remove() {
        try? FileManager.default.removeItem(at: folder)
    }
}
