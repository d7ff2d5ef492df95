import Foundation
import Halcyon

/// Loads a large body and prints by how many bytes the process's memory grew, or the state of its descriptors:
/// `BodyMemory <mode> <url> <small url> <certificates or -> <folder>`.
///
/// A program of its own, since in the tests' process others take memory and descriptors too.
@main
enum BodyMemory {
    static func main() async {
        let arguments = CommandLine.arguments
        guard arguments.count == 6, let url = URL(string: arguments[2]), let small = URL(string: arguments[3]) else {
            return print("usage")
        }
        var configuration = CurlTransport.Configuration()
        if arguments[4] != "-" { configuration.certificateFile = arguments[4] }
        let run = Run(
            transport: CurlTransport(configuration), url: url, small: small,
            folder: URL(filePath: arguments[5], directoryHint: .isDirectory))
        do {
            switch arguments[1] {
            case "slow": try await run.slowReader(isShared: false)
            case "shared": try await run.slowReader(isShared: true)
            case "stalled": try await run.stalledReader()
            case "file": try await run.download(toFile: true)
            case "memory": try await run.download(toFile: false)
            case "inherited": try await run.listInherited()
            case "exhausted": try await run.exhaustDescriptors()
            default: print("usage")
            }
        } catch {
            print(error)
        }
    }
}
