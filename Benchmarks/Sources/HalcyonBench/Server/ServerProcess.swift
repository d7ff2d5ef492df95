import CFloors
import Foundation
import Glibc

/// A server on the loopback, in a process of its own so that its work is not counted as this one's: nginx if it is
/// installed, otherwise this program itself.
final class ServerProcess: Sendable {
    /// The base URL, which ends in a slash.
    let address: URL
    private let child: bench_child

    static func start(serving folder: URL, scratch: ScratchFolder) throws -> ServerProcess {
        if let nginx = Nginx.program { return try ServerProcess(nginx: nginx, serving: folder, scratch: scratch) }
        return try ServerProcess(serving: folder)
    }

    private init(nginx: URL, serving folder: URL, scratch: ScratchFolder) throws {
        let port = try Loopback.freePort()
        let home = try scratch.makeFolder("nginx")
        let file = home.appending(path: "nginx.conf")
        try Nginx.configuration(port: port, serving: folder, home: home).write(
            to: file, atomically: true, encoding: .utf8)
        address = try Loopback.address(port)
        let path = home.path(percentEncoded: false)
        child = try Self.run([
            nginx.path(percentEncoded: false), "-p", path, "-c", file.path(percentEncoded: false),
            "-e", path + "/error.log",
        ])
        try Loopback.waitForServer(port)
    }

    private init(serving folder: URL) throws {
        let program = try FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/exe")
        child = try Self.run([program, "--serve", folder.path(percentEncoded: false)])
        var text = [UInt8](repeating: 0, count: 16)
        // The server prints its port once it listens.
        let count = read(child.output, &text, text.count)
        let word = String(decoding: text.prefix(max(0, count)), as: UTF8.self)
        guard let port = UInt16(word.trimmingCharacters(in: .whitespacesAndNewlines)) else {
            withUnsafePointer(to: child) { bench_stop($0) }
            throw BenchmarkFailure("the server did not start")
        }
        address = try Loopback.address(port)
    }

    deinit {
        withUnsafePointer(to: child) { bench_stop($0) }
    }

    private static func run(_ arguments: [String]) throws -> bench_child {
        let strings = CStrings(arguments)
        var child = bench_child()
        guard strings.withPointers({ bench_start($0, &child) }) else {
            throw BenchmarkFailure("\(arguments[0]) could not be started")
        }
        return child
    }
}
