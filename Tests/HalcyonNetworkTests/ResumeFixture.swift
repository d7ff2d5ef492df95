import Foundation
import Halcyon
import HalcyonCache
import HalcyonNetwork
import HalcyonSystem
import TestSupport

/// A server that answers its requests with one script after the other, the last of them again and again, and downloaders that
/// keep partial bodies in one folder.
final class ResumeFixture: Sendable {
    typealias Script = @Sendable (RawServerConnection, _ head: String) throws -> Void
    /// Made when it is sent: what the `Data` of a global points at looks lost to LeakSanitizer, and tests have globals of
    /// scripts.
    typealias Body = @Sendable () -> Data

    /// Three megabytes in which no two parts are alike.
    static var body: Data { Data(bytes) }

    static func body(seed: UInt64, count: Int = 3_000_000) -> Data { Data(bytes(seed: seed, count: count)) }

    private static let bytes = bytes(seed: 1, count: 3_000_000)

    private static func bytes(seed: UInt64, count: Int) -> [UInt8] {
        var state = seed
        return (0..<count).map { _ in
            state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
            return UInt8(truncatingIfNeeded: state >> 33)
        }
    }

    let folder = TemporaryFolder()
    let server: RawServer

    init(_ scripts: Script...) throws {
        let count = Lock(0)
        server = try RawServer { connection in
            while let head = connection.readRequest() {
                let number = count.withLock { count in
                    count += 1
                    return count
                }
                guard let script = number <= scripts.count ? scripts[number - 1] : scripts.last else { return }
                try script(connection, head)
            }
        }
    }

    deinit { server.stop() }

    var url: URL { server.url("/a") }

    func store(
        limits: PartialBodyLimits = PartialBodyLimits(), files: any FileSystem = PosixFileSystem(),
        clock: TimeSource = .system
    ) -> PartialBodyFiles {
        PartialBodyFiles(folder: folder.url, limits: limits, fileSystem: files, clock: clock)
    }

    func downloader(
        _ store: (any PartialBodyStore)?, retry: RetryPolicy = .never,
        configure: (inout ImageDownloader.Configuration) -> Void = { _ in }
    ) -> ImageDownloader {
        var configuration = ImageDownloader.Configuration(
            transport: PatientTransport(), headers: ["User-Agent": "test"])
        configuration.retry = retry
        configuration.timeouts = .patient
        configuration.partialBodies = store
        configuration.sleep = { _ in try Task.checkCancellation() }
        configure(&configuration)
        return ImageDownloader(configuration)
    }

    var fileNames: [String] {
        ((try? FileManager.default.contentsOfDirectory(atPath: folder.url.path)) ?? []).sorted()
    }

    /// A field of the n-th request, from 1 on.
    func field(_ name: String, of number: Int) -> String? {
        let requests = server.requests
        guard requests.indices.contains(number - 1) else { return nil }
        let line = requests[number - 1].split(separator: "\r\n").first { $0.hasPrefix("\(name): ") }
        return line.map { String($0.dropFirst(name.count + 2)) }
    }

    // MARK: Scripts

    static let tag = "ETag: \"one\"\r\n"

    /// The whole body is promised, and its beginning sent.
    static func broken(at count: Int, _ fields: String = tag, body: @autoclosure @escaping Body = body) -> Script {
        { connection, _ in
            let body = body()
            try connection.send(
                "HTTP/1.1 200 OK\r\nContent-Length: \(body.count)\r\nContent-Type: image/png\r\n\(fields)\r\n")
            try connection.send(Data(body.prefix(count)))
            connection.close()
        }
    }

    /// The response of a proper server.
    static func proper(_ fields: String = tag, body: @autoclosure @escaping Body = body) -> Script {
        { connection, head in
            guard let first = start(head) else { return try connection.answer(body(), fields: fields) }
            try part(first, of: body(), fields)(connection, head)
        }
    }

    /// The rest of a body, with another `Content-Range` if given.
    static func part(
        _ first: Int, of body: @autoclosure @escaping Body = body, _ fields: String = tag, range: String? = nil
    ) -> Script {
        { connection, _ in
            let body = body()
            let range = range ?? "Content-Range: bytes \(first)-\(body.count - 1)/\(body.count)\r\n"
            try connection.answer(
                Data(body.dropFirst(first)), status: "206 Partial Content", fields: fields + range)
        }
    }

    /// The rest of the body is promised, and broken off.
    static func brokenPart(_ first: Int, to end: Int, of body: @autoclosure @escaping Body = body) -> Script {
        { connection, _ in
            let body = body()
            try connection.send(
                "HTTP/1.1 206 Partial Content\r\nContent-Length: \(body.count - first)\r\n"
                    + "Content-Range: bytes \(first)-\(body.count - 1)/\(body.count)\r\n\(tag)\r\n")
            try connection.send(Data(body[first..<end]))
            connection.close()
        }
    }

    static func status(_ status: String) -> Script {
        { connection, _ in try connection.answer(Data(), status: status) }
    }

    /// Returns the start of the range that a request asks for.
    static func start(_ head: String) -> Int? {
        guard let line = head.split(separator: "\r\n").first(where: { $0.hasPrefix("Range: bytes=") }) else {
            return nil
        }
        return Int(line.dropFirst("Range: bytes=".count).dropLast())
    }
}
