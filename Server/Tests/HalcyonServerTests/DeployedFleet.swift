import Foundation
import RedisServing
import NIOConcurrencyHelpers
import Testing

@testable import HalcyonServer

/// The fleet that Server/deploy describes, on the loopback: servers with one Redis, and nginx with the files as they are there, but for its
/// places and ports.
final class DeployedFleet: Sendable {
    static var deploy: URL { ServerFixture.root.appending(path: "Server/deploy") }

    /// The port of nginx.
    let port: Int
    let folder: URL
    private let environment: [String: String]
    private let redis: RedisServer
    private let servers: NIOLockedValueBox<[(program: ServerProgram, port: Int, reports: Int)]>
    private let nginx: Process

    init(servers count: Int, _ environment: [String: String] = [:]) async throws {
        let folder = FileManager.default.temporaryDirectory.appending(path: "fleet-\(UUID().uuidString.prefix(8))")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        redis = try await RedisServer(configuration: Self.deploy.appending(path: "redis.conf").path)
        let gallery = ServerFixture.root.appending(path: "demo/gallery").path
        self.environment = [
            "HALCYON_SOURCE_FOLDER": gallery, "HALCYON_CACHE_REDIS": "unix://\(redis.socket)",
            "HALCYON_ANSWER_FORMATS": "jxl,avif,webp", "HALCYON_URL_GRAMMARS": "imgproxy,plain,thumbor",
        ].merging(environment) { $1 }
        var started: [(program: ServerProgram, port: Int, reports: Int)] = []
        for number in 0..<count {
            started.append(try await Self.start(number, port: 0, self.environment, folder))
        }
        port = try Self.freePort()
        nginx = try Self.nginx(folder, port: port, servers: started.map(\.port))
        servers = NIOLockedValueBox(started)
        self.folder = folder
        let port = port
        guard await eventually({ try? await Self.get("/ready", port: port).status == 404 }) else {
            let errors = try? String(contentsOf: folder.appending(path: "errors"), encoding: .utf8)
            throw LoopbackConnection.Failure(description: "nginx does not answer: \(errors ?? "")")
        }
    }

    deinit {
        if nginx.isRunning {
            nginx.terminate()
            nginx.waitUntilExit()
        }
        servers.withLockedValue { for server in $0 { server.program.kill() } }
        try? FileManager.default.removeItem(at: folder)
    }

    private static func start(
        _ number: Int, port: Int, _ environment: [String: String], _ folder: URL
    ) async throws -> (program: ServerProgram, port: Int, reports: Int) {
        let own = [
            "HALCYON_HTTP_PORT": "\(port)", "HALCYON_CACHE_FOLDER": folder.appending(path: "cache-\(number)").path,
        ]
        return try await blocking {
            let program = try ServerProgram(environment.merging(own) { $1 })
            let ports = try program.ports()
            return (program, ports.pictures, ports.reports)
        }
    }

    /// Starts nginx with the files of Server/deploy, in which each place and port is replaced once.
    private static func nginx(_ folder: URL, port: Int, servers: [Int]) throws -> Process {
        func text(_ name: String) throws -> String {
            try String(contentsOf: deploy.appending(path: "nginx/\(name)"), encoding: .utf8)
        }
        var main = try text("nginx.conf")
        let changes = [
            ("user www-data;", "daemon off;"), ("pid /run/", "pid \(folder.path)/"), ("listen 80 ", "listen \(port) "),
            ("/var/log/nginx/", "\(folder.path)/"), ("/var/cache/nginx/", "\(folder.path)/"),
        ]
        for (old, new) in changes {
            try #require(main.contains(old), "nginx.conf has no \(old)")
            main = main.replacing(old, with: new)
        }
        var upstream = try text("upstream.conf")
        let lines = upstream.split(separator: "\n").filter { $0.contains("server 127.0.0.1:") }
        let first = try #require(lines.first)
        let template = first.replacing("127.0.0.1:8080", with: "127.0.0.1:PORT")
        for line in lines.dropFirst() { upstream = upstream.replacing("\(line)\n", with: "") }
        let own = servers.map { template.replacing("PORT", with: "\($0)") }.joined(separator: "\n")
        upstream = upstream.replacing(first, with: own)
        try main.write(to: folder.appending(path: "nginx.conf"), atomically: true, encoding: .utf8)
        try upstream.write(to: folder.appending(path: "upstream.conf"), atomically: true, encoding: .utf8)
        try text("proxy.conf").write(to: folder.appending(path: "proxy.conf"), atomically: true, encoding: .utf8)
        let process = Process()
        process.executableURL = URL(filePath: "/usr/sbin/nginx")
        process.arguments = [
            "-c", folder.appending(path: "nginx.conf").path, "-p", folder.path, "-e",
            folder.appending(path: "errors").path,
        ]
        (process.standardOutput, process.standardError) = (FileHandle.nullDevice, FileHandle.nullDevice)
        try process.run()
        return process
    }

    private static func freePort() throws -> Int {
        let descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        defer { close(descriptor) }
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_addr.s_addr = inet_addr("127.0.0.1")
        var size = socklen_t(MemoryLayout<sockaddr_in>.size)
        let port = withUnsafeMutablePointer(to: &address) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                bind(descriptor, $0, size) == 0 && getsockname(descriptor, $0, &size) == 0
            }
        }
        guard port else { throw LoopbackConnection.Failure(description: "no port") }
        return Int(in_port_t(bigEndian: address.sin_port))
    }

    // MARK: - Servers

    /// The ports of the servers.
    var serverPorts: [Int] { servers.withLockedValue { $0.map(\.port) } }
    var reportPorts: [Int] { servers.withLockedValue { $0.map(\.reports) } }

    func program(_ number: Int) -> ServerProgram { servers.withLockedValue { $0[number].program } }

    /// Starts a server that has ended, at its port, and returns once nginx asks it again: nginx leaves one alone for a second
    /// that did not answer.
    func restart(_ number: Int) async throws {
        let port = serverPorts[number]
        let server = try await Self.start(number, port: port, environment, folder)
        servers.withLockedValue { $0[number] = server }
        for width in 100..<2000 {
            let path = "/_/rs:fit:\(width):3/plain/local:///kingfisher.jpg"
            _ = try await get(path)
            if try await log(path, count: 1).last?["upstream"] == "127.0.0.1:\(port)" { return }
        }
        throw LoopbackConnection.Failure(description: "nginx does not ask server \(number)")
    }

    // MARK: - Requests

    static func get(
        _ path: String, _ fields: [String: String] = [:], method: String = "GET", port: Int
    ) async throws -> HTTPAnswer {
        try await blocking {
            let connection = try LoopbackConnection(port: port)
            try connection.send(LoopbackConnection.head(path, fields, method: method))
            return try connection.answer(to: method)
        }
    }

    /// Asks nginx.
    func get(_ path: String, _ fields: [String: String] = [:], method: String = "GET") async throws -> HTTPAnswer {
        try await Self.get(path, fields, method: method, port: port)
    }

    /// The lines of nginx's log about a path, once there are so many.
    func log(_ path: String, count: Int) async throws -> [[String: String]] {
        let file = folder.appending(path: "pictures.log")
        let found = NIOLockedValueBox<[[String: String]]>([])
        _ = await eventually {
            let lines = (try? String(contentsOf: file, encoding: .utf8))?.split(separator: "\n") ?? []
            let objects = lines.compactMap {
                try? JSONSerialization.jsonObject(with: Data($0.utf8)) as? [String: Any]
            }
            let texts = objects.map { $0.mapValues { "\($0)" } }.filter { $0["path"] == path }
            found.withLockedValue { $0 = texts }
            return texts.count >= count
        }
        return found.withLockedValue { $0 }
    }
}
