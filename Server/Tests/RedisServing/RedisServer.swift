import Foundation
import Glibc
import NIOConcurrencyHelpers

@testable import RedisStore

/// A Redis of a test's own, in a temporary folder, at a socket there. It ends with its last reference.
public final class RedisServer: Sendable {
    public struct NotStarted: Error {}

    public let folder: URL
    private let file: String?
    private let arguments: [String]
    private let process: NIOLockedValueBox<Process?> = NIOLockedValueBox(nil)

    /// Starts a server.
    ///
    /// - Parameters:
    ///   - configuration: a file of settings; none by default.
    ///   - arguments: those of `redis-server` beyond the socket and the folder.
    public init(configuration: String? = nil, _ arguments: String...) async throws {
        (file, self.arguments) = (configuration, arguments)
        folder = FileManager.default.temporaryDirectory.appending(path: "redis-\(UUID().uuidString.prefix(8))")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        try await start()
    }

    deinit {
        kill()
        try? FileManager.default.removeItem(at: folder)
    }

    public var socket: String { folder.appending(path: "s").path }

    /// A configuration for this server whose times are long enough for a machine that does much else.
    public var configuration: RedisStore.Configuration {
        RedisStore.Configuration(
            address: .unixSocket(socket), lookupTimeout: .seconds(20), connectTimeout: .seconds(20),
            writeTimeout: .seconds(20))
    }

    /// The same with the times that are the default.
    public var quickConfiguration: RedisStore.Configuration { RedisStore.Configuration(address: .unixSocket(socket)) }

    /// Starts the server, again after `kill`, and waits until it answers.
    public func start() async throws {
        let process = Process()
        process.executableURL = URL(filePath: "/usr/bin/redis-server")
        process.arguments =
            (file.map { [$0] } ?? []) + [
                "--port", "0", "--unixsocket", socket, "--dir", folder.path, "--save", "", "--enable-debug-command",
                "yes",
            ] + arguments
        process.standardOutput = FileHandle.nullDevice
        try process.run()
        self.process.withLockedValue { $0 = process }
        guard await eventually({ [self] in try? isUp() }) else { throw NotStarted() }
    }

    private func isUp() throws -> Bool {
        switch try send("PING") {
        case .status, .error(code: "NOAUTH"): true
        default: false
        }
    }

    /// Ends the server as a crash does.
    public func kill() {
        let process = self.process.withLockedValue { process in
            defer { process = nil }
            return process
        }
        guard let process else { return }
        Glibc.kill(process.processIdentifier, SIGKILL)
        process.waitUntilExit()
    }

    public func pause() { signal(SIGSTOP) }
    public func resume() { signal(SIGCONT) }

    private func signal(_ number: Int32) {
        process.withLockedValue { process in
            if let process { _ = Glibc.kill(process.processIdentifier, number) }
        }
    }

    /// Sends a command as another client.
    @discardableResult
    func send(_ name: String, _ arguments: RedisCommand.Argument...) throws -> RedisReply {
        let deadline = ContinuousClock.now + .seconds(10)
        let descriptor = try RedisSocket.connect(to: .unixSocket(socket), by: deadline)
        defer { close(descriptor) }
        let command = try RedisCommand(name, arguments)
        var rest = command.bytes[...]
        guard var reader = ReplyReader(maximumBytes: 1 << 28, allowsLists: true) else { throw NotStarted() }
        let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: 65_536, alignment: 1)
        defer { buffer.deallocate() }
        while ContinuousClock.now < deadline {
            if !rest.isEmpty,
                case .moved(let count) = RedisSocket.send(descriptor, [UnsafeRawBufferPointer(rebasing: rest)])
            {
                rest = rest.dropFirst(count)
            }
            var waiting = pollfd(fd: descriptor, events: Int16(rest.isEmpty ? POLLIN : POLLOUT), revents: 0)
            poll(&waiting, 1, 1000)
            guard rest.isEmpty else { continue }
            switch RedisSocket.receive(descriptor, into: buffer) {
            case .moved(let count): try reader.feed(UnsafeRawBufferPointer(rebasing: buffer[..<count]))
            case .wouldBlock: continue
            case .ended: throw NotStarted()
            }
            if let reply = try reader.next() { return reply }
        }
        throw NotStarted()
    }

    /// The value of a setting.
    public func setting(_ name: String) throws -> String? {
        guard case .list(let pair) = try send("CONFIG", "GET", .init(name)) else { return nil }
        return pair.last?.text
    }

    /// The number of keys that match a pattern.
    public func count(_ pattern: String) throws -> Int? {
        let reply = try send("EVAL", "return #redis.call('KEYS', ARGV[1])", "0", .init(pattern))
        return if case .integer(let count) = reply { count } else { nil }
    }
}

/// Waits until a condition holds.
///
/// - Returns: false if it does not within 100 seconds.
public func eventually(_ condition: () async throws -> Bool?) async rethrows -> Bool {
    // Beyond the longest pause of a store that found its server too slow.
    let deadline = ContinuousClock.now + .seconds(100)
    while ContinuousClock.now < deadline {
        if try await condition() == true { return true }
        try? await Task.sleep(for: .milliseconds(2))
    }
    return false
}
