import Foundation
import HalcyonCodecs
import HalcyonServer
import Logging

@main
struct Main {
    static func main() async {
        // A copy of the program decodes for it, without any rights.
        DecodeWorker.runIfAsked()
        do {
            let configuration = try await ServerConfiguration(
                environment: ProcessInfo.processInfo.environment, file: CommandLine.arguments.dropFirst().first)
            LoggingSystem.bootstrap { JSONLogHandler(label: $0, level: configuration.logLevel) }
            try await ServerApplication(configuration).run { port in
                switch port {
                case .pictures(let number): report("pictures at port \(number)")
                case .reports(let number): report("reports at port \(number)")
                }
            }
        } catch {
            FileHandle.standardError.write(Data("halcyon-server: \(error)\n".utf8))
            exit(1)
        }
    }

    /// Writes a line at once, also into a pipe.
    private static func report(_ line: String) {
        FileHandle.standardOutput.write(Data("\(line)\n".utf8))
    }
}
