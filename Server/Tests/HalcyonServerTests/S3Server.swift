import Foundation

@testable import HalcyonServer

/// A store of a test's own that speaks the protocol of S3 and checks signatures (moto), with the objects of `s3_server.py`. It ends
/// with its last reference.
final class S3Server: Sendable {
    private struct Report: Decodable {
        struct Session: Decodable {
            let AccessKeyId, SecretAccessKey, SessionToken: String
        }

        let port: Int
        let accessKey, secretKey, former: String
        let keys: [String]
        let session: Session
    }

    private let process: Process
    private let input = Pipe()
    private let report: Report

    /// Starts a server, whose Python is installed by `scripts/test-server`.
    init() throws {
        let folder = ServerFixture.root.appending(path: "Server")
        process = Process()
        process.executableURL = folder.appending(path: ".build/peers/bin/python")
        let pictures = ["baseline-420.jpg", "cmyk.jpg"].map {
            ServerFixture.root.appending(path: "Tests/Fixtures/jpeg/\($0)").path
        }
        process.arguments = [folder.appending(path: "Tests/Peers/s3_server.py").path] + pictures
        let output = Pipe()
        (process.standardInput, process.standardOutput) = (input, output)
        process.standardError = FileHandle.nullDevice
        try process.run()
        var line = Data()
        while line.last != UInt8(ascii: "\n") {
            let more = output.fileHandleForReading.availableData
            if more.isEmpty { throw LoopbackConnection.Failure(description: "scripts/test-server installs moto") }
            line += more
        }
        report = try JSONDecoder().decode(Report.self, from: line)
    }

    deinit {
        // It has SIGTERM ignored, as the servers in this process have.
        kill(process.processIdentifier, SIGKILL)
    }

    var port: Int { report.port }
    /// The keys of the objects in the bucket `photos`.
    var keys: [String] { report.keys }
    /// The first of the two versions of `versioned.jpg`.
    var former: String { report.former }

    var settings: ServerConfiguration.S3 {
        var settings = ServerConfiguration.S3()
        settings.isEnabled = true
        settings.endpoint = "http://127.0.0.1:\(port)"
        settings.region = "eu-west-1"
        (settings.accessKey, settings.secretKey) = (report.accessKey, report.secretKey)
        return settings
    }

    /// The settings with a temporary key.
    var temporarySettings: ServerConfiguration.S3 {
        var settings = settings
        (settings.accessKey, settings.secretKey) = (report.session.AccessKeyId, report.session.SecretAccessKey)
        settings.sessionToken = report.session.SessionToken
        return settings
    }
}
