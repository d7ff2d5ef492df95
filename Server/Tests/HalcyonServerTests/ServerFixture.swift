import Foundation
import Halcyon
import HalcyonCodecs
import HalcyonNetwork
import HalcyonTesting
import Logging
import ServiceLifecycle
import Tracing
import UnixSignals

@testable import HalcyonServer

/// A running server whose sources are scripted.
struct ServerFixture: Sendable {
    let port: Int
    let reports: Int
    let transport: ScriptedTransport
    let application: ServerApplication

    /// Runs a server while `body` runs.
    ///
    /// - Parameters:
    ///   - usesNetwork: whether the library's own network is used, with the default policy of addresses.
    ///   - signals: signals that stop it.
    ///   - transport: the scripted network, which several servers may share.
    ///   - tracer: the backend of spans.
    static func run(
        clock: ManualClock? = nil, logger: Logger? = nil, signals: [UnixSignal] = [],
        usesNetwork: Bool = false, transport: ScriptedTransport = ScriptedTransport(), tracer: (any Tracer)? = nil,
        _ configure: (inout ServerConfiguration) -> Void = { _ in },
        _ body: @escaping @Sendable (ServerFixture) async throws -> Void
    ) async throws {
        let folder = FileManager.default.temporaryDirectory.appending(path: "halcyon-server-\(UUID().uuidString)")
        defer { try? FileManager.default.removeItem(at: folder) }
        var configuration = ServerConfiguration()
        (configuration.http.port, configuration.metrics.port) = (0, 0)
        configuration.cache.folder = folder.path(percentEncoded: false)
        configuration.isolatesDecodes = false
        // A scripted network has no addresses to look at.
        configuration.source.allowsPrivateAddresses = !usesNetwork
        configure(&configuration)
        let application = try ServerApplication(
            configuration, logger: logger ?? Logger(label: "test") { _ in SwiftLogNoOpLogHandler() },
            transport: usesNetwork ? nil : transport, time: clock?.timeSource ?? .system, tracer: tracer)
        let (ports, continuation) = AsyncStream<ServerApplication.Port>.makeStream()
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask {
                try await application.run(signals: signals) { continuation.yield($0) }
                continuation.finish()
            }
            var (pictures, reports) = (0, 0)
            for await port in ports {
                switch port {
                case .pictures(let number): pictures = number
                case .reports(let number): reports = number
                }
                if pictures > 0, reports > 0 { break }
            }
            try await body(
                ServerFixture(port: pictures, reports: reports, transport: transport, application: application))
            group.cancelAll()
            while let result = await group.nextResult() {
                if case .failure(let error) = result, !(error is CancellationError) { throw error }
            }
        }
    }

    /// Asks for a path, with a connection of its own.
    func get(_ path: String, _ fields: [String: String] = [:], method: String = "GET") async throws -> HTTPAnswer {
        let port = port
        return try await Self.get(path, fields, method: method, port: port)
    }

    /// Asks the port of reports.
    func report(_ path: String) async throws -> HTTPAnswer {
        try await Self.get(path, [:], method: "GET", port: reports)
    }

    private static func get(
        _ path: String, _ fields: [String: String], method: String, port: Int
    ) async throws -> HTTPAnswer {
        try await blocking {
            let connection = try LoopbackConnection(port: port)
            try connection.send(LoopbackConnection.head(path, fields, method: method))
            return try connection.answer(to: method)
        }
    }

    /// Scripts a source with a file of the library's fixtures.
    @discardableResult
    func serve(
        _ file: String, as name: String = "a.jpg", headers: HTTPHeaders = [:], gate: ScriptedTransportGate? = nil
    ) throws -> String {
        let address = "http://images.test/\(name)"
        var answer = ScriptedTransport.Answer.data(try Self.fixture(file), headers: headers)
        answer.headGate = gate
        transport.answer(try Self.url(address), with: answer)
        return address
    }

    /// Scripts the answer of a source.
    func answer(_ address: String, with answer: ScriptedTransport.Answer...) throws {
        let url = try Self.url(address)
        // One call has all answers, of which the last is repeated.
        switch answer.count {
        case 1: transport.answer(url, with: answer[0])
        case 2: transport.answer(url, with: answer[0], answer[1])
        default: throw LoopbackConnection.Failure(description: "one or two answers")
        }
    }

    private static func url(_ text: String) throws -> URL {
        guard let url = URL(string: text) else { throw LoopbackConnection.Failure(description: "no URL: \(text)") }
        return url
    }

    static func fixture(_ name: String) throws -> Data {
        try Data(contentsOf: root.appending(path: "Tests/Fixtures/\(name)"))
    }

    /// The repository's folder.
    static var root: URL {
        URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()
            .deletingLastPathComponent()
    }
}

extension HTTPAnswer {
    /// The picture in the body, decoded by the library.
    func image() throws -> Image { try Image(data: body) }

    /// The word in the body of a failure.
    var code: String? {
        (try? JSONSerialization.jsonObject(with: body) as? [String: Any])?["code"] as? String
    }
}
