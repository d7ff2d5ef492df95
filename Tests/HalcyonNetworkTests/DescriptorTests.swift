import Foundation
import Halcyon
import TestSupport
import Testing

/// Descriptors of a process that does nothing else.
@Suite(.timeLimit(.minutes(5)))
struct DescriptorTests {
    /// Sockets, the wake-up of libcurl's, the files of bodies.
    @Test func aChildInheritsNoDescriptor() async throws {
        #expect(try await Self.output("inherited") == "0 []")
    }

    /// A transport that first runs while there is no free descriptor reports so, and works as any other afterwards: one that
    /// could not be woken would take a minute for each transfer.
    @Test func aTransportRecoversOnceThereAreDescriptors() async throws {
        #expect(try await Self.output("exhausted") == "exhausted 20")
    }

    private static func output(_ mode: String) async throws -> String {
        let server = try RawServer { connection in
            while let head = connection.readRequest() {
                let isLarge = RawServerConnection.path(of: head) == "/large"
                try connection.answer(Data(repeating: 7, count: isLarge ? 4 << 20 : 1), fields: "ETag: \"a\"\r\n")
            }
        }
        defer { server.stop() }
        let folder = TemporaryFolder()
        // By a name, which libcurl has to look up.
        let arguments = [
            mode, "http://localhost:\(server.port)/large", server.url("/small").absoluteString, "-",
            folder.url.path(percentEncoded: false),
        ]
        let program = try TestProgram(try Spawn.builtExecutable("BodyMemory"), arguments, hasOutput: true)
        _ = await program.ended()
        let text = String(decoding: program.output?.readDataToEndOfFile() ?? Data(), as: UTF8.self)
        return text.trimmingCharacters(in: .whitespacesAndNewlines)
    }
}
