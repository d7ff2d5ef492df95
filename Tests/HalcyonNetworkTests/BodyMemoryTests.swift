import Foundation
import Halcyon
import TestSupport
import Testing

/// The memory that large bodies take in a process that does nothing else.
@Suite(.enabled(if: !Sanitizer.isOn, "a sanitizer keeps what is freed"), .timeLimit(.minutes(5)))
struct BodyMemoryTests {
    /// `HALCYON_SOAK` has the full length.
    private static let length =
        ProcessInfo.processInfo.environment["HALCYON_SOAK"] == nil ? 100_000_000 : 200_000_000

    /// Bytes that count from 0 to 250 and begin anew.
    private static var large: Data {
        let piece = Data((0..<251_000).map { UInt8($0 % 251) })
        var large = Data(capacity: length + piece.count)
        while large.count < length { large.append(piece) }
        return large.prefix(length)
    }

    @Test func aSlowReaderTakesLittle() async throws {
        let grown = try await Self.overHTTP1("slow")
        #expect(grown <= 8 << 20)
    }

    @Test func aDownloadIsInItsFile() async throws {
        let grown = try await Self.overHTTP1("file")
        // Some 13 MB whatever the length; as many threads as the system gives a turn keep freed memory.
        #expect(grown <= Self.length / 4)
        // A body in memory shows that the measurement sees memory.
        let inMemory = try await Self.overHTTP1("memory")
        #expect(inMemory >= Self.length)
    }

    /// A reader that stalls has one window. A slow one has 48 MiB, and the heap keeps about as much of libcurl's buffer,
    /// which grows by copying.
    @Test(
        .enabled(if: NginxServer.isAvailable),
        arguments: [("slow", 8 << 20), ("shared", 128 << 20), ("stalled", 64 << 20)])
    func aSlowReaderOfAStreamTakesLittle(_ mode: String, _ limit: Int) async throws {
        let nginx = try await NginxServer(["large": Self.large, "small": Data([7])])
        defer { nginx.stop() }
        let grown = try await Self.growth(
            mode, nginx.url("large"), nginx.url("small"), certificates: nginx.certificate.file)
        #expect(grown <= limit)
    }

    private static func overHTTP1(_ mode: String) async throws -> Int {
        let server = try RawServer { connection in
            let large = Self.large
            while let head = connection.readRequest() {
                guard RawServerConnection.path(of: head) == "/large" else {
                    try connection.answer(Data([7]))
                    continue
                }
                try connection.send("HTTP/1.1 200 OK\r\nContent-Length: \(length)\r\nETag: \"a\"\r\n\r\n")
                try connection.send(large)
            }
        }
        defer { server.stop() }
        return try await growth(mode, server.url("/large"), server.url("/small"), certificates: "-")
    }

    /// Returns the growth of a process of its own, in bytes.
    private static func growth(_ mode: String, _ url: URL, _ small: URL, certificates: String) async throws -> Int {
        let folder = TemporaryFolder()
        let arguments = [
            mode, url.absoluteString, small.absoluteString, certificates, folder.url.path(percentEncoded: false),
        ]
        let program = try TestProgram(try Spawn.builtExecutable("BodyMemory"), arguments, hasOutput: true)
        _ = await program.ended()
        // Less than a pipe holds.
        let text = String(decoding: program.output?.readDataToEndOfFile() ?? Data(), as: UTF8.self)
        let numbers = text.split(whereSeparator: \.isWhitespace).compactMap { Int($0) }
        try #require(numbers.count == 2, "\(text)")
        #expect(numbers[1] == length)
        print("bodies: \(mode) \(url.scheme ?? ""), \(length) bytes: \(numbers[0] / 1024) KiB more")
        return numbers[0]
    }
}
