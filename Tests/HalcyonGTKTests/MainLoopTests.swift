import Foundation
import Halcyon
import TestSupport
import Testing

/// Swift's main actor in a program whose main thread is GLib's.
@Suite(.timeLimit(.minutes(2))) struct MainLoopTests {
    @Test func theMainActorRunsOnGLibsLoop() throws {
        let program = Process()
        program.executableURL = try Spawn.builtExecutable("MainLoopProgram")
        program.arguments = [TestFiles.url("png/rgb8.png").path(percentEncoded: false)]
        let output = Pipe()
        program.standardOutput = output
        try program.run()
        let text = String(decoding: try #require(try output.fileHandleForReading.readToEnd()), as: UTF8.self)
        program.waitUntilExit()
        let size = try Image(data: TestFiles.data("png/rgb8.png")).size
        #expect(text == "\(size)\n" && program.terminationStatus == 0)
    }
}
