import Foundation
import Halcyon
import TestSupport
import Testing

/// Swift's main actor in a program whose main thread is GLib's.
@Suite(.timeLimit(.minutes(2))) struct MainLoopTests {
    @Test func theMainActorRunsOnGLibsLoop() async throws {
        let program = try TestProgram(
            try Spawn.builtExecutable("MainLoopProgram"), [TestFiles.url("png/rgb8.png").path(percentEncoded: false)],
            hasOutput: true)
        let status = await program.ended()
        let text = String(decoding: try program.output?.readToEnd() ?? Data(), as: UTF8.self)
        let size = try Image(data: TestFiles.data("png/rgb8.png")).size
        #expect(text == "\(size)\n" && status == 0)
    }
}
