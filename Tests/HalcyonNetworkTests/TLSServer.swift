import Foundation
import HalcyonSystem
import TestSupport

/// OpenSSL's own test server, with a certificate that nobody has signed; it answers every path with a page.
final class TLSServer: Sendable {
    static let isAvailable = FileManager.default.isExecutableFile(atPath: program)
    private static let program = "/usr/bin/openssl"

    let folder: URL
    let port: Int
    private let process: Lock<Process>

    var certificate: String { folder.appending(path: "cert.pem").path }
    var url: URL { URL(web: "https://127.0.0.1:\(port)/a") }

    init() throws {
        folder = FileManager.default.temporaryDirectory.appending(path: "halcyon-tls-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        let request =
            "req -x509 -newkey rsa:2048 -nodes -keyout key.pem -out cert.pem -days 2 -subj /CN=localhost"
            + " -addext subjectAltName=DNS:localhost,IP:127.0.0.1"
        let maker = Self.process(request, in: folder)
        try maker.run()
        maker.waitUntilExit()
        let server = Self.process("s_server -accept 127.0.0.1:0 -cert cert.pem -key key.pem -www", in: folder)
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
        try? FileManager.default.removeItem(at: folder)
    }

    private static func process(_ arguments: String, in folder: URL) -> Process {
        let process = Process()
        process.executableURL = URL(filePath: program)
        process.arguments = arguments.split(separator: " ").map(String.init)
        process.currentDirectoryURL = folder
        process.standardOutput = FileHandle.nullDevice
        process.standardError = FileHandle.nullDevice
        return process
    }
}
