import Foundation

/// A certificate for localhost that nobody has signed, in a folder of its own.
struct TestCertificate: Sendable {
    static let isAvailable = FileManager.default.isExecutableFile(atPath: openssl)
    static let openssl = "/usr/bin/openssl"

    let folder: URL

    /// `cert.pem` and `key.pem` beside it.
    var file: String { folder.appending(path: "cert.pem").path }

    init() throws {
        folder = FileManager.default.temporaryDirectory.appending(path: "halcyon-tls-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        let maker = process(
            Self.openssl,
            "req -x509 -newkey rsa:2048 -nodes -keyout key.pem -out cert.pem -days 2 -subj /CN=localhost"
                + " -addext subjectAltName=DNS:localhost,IP:127.0.0.1")
        try maker.run()
        maker.waitUntilExit()
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
