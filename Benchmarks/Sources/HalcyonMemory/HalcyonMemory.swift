import Foundation
import Glibc
import Halcyon

/// Measures the peak memory of decodes, each measurement in a process of its own.
///
///     halcyon-memory large|frames|player|mixed|bombs|group FOLDER
///
/// FOLDER keeps the large files between two runs. Prints lines of text; fails only for problems other than a figure.
@main
struct HalcyonMemory {
    private static let usage = "usage: halcyon-memory large|frames|player|mixed|bombs|group FOLDER"

    static func main() async {
        DecodeWorker.runIfAsked()
        do {
            try await run(Array(CommandLine.arguments.dropFirst()))
        } catch {
            FileHandle.standardError.write(Data("halcyon-memory: \(error)\n".utf8))
            exit(1)
        }
    }

    private static func run(_ arguments: [String]) async throws {
        guard arguments.count >= 2 else { throw MemoryFailure(usage) }
        if arguments[0] == "decode" { return try LargeFiles.decode(Array(arguments.dropFirst())) }
        let folder = URL(filePath: arguments[1], directoryHint: .isDirectory)
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        switch arguments[0] {
        case "large": try LargeFiles(folder: folder).measure()
        case "make": try LargeFiles(folder: folder).make(arguments[2])
        case "frames": try ManyFrames(folder: folder).measure()
        case "player": try await ManyFrames(folder: folder).play()
        case "mixed": try await MixedDecodes(folder: folder).measure()
        case "bombs": try Bombs.measure()
        case "group": try LimitedGroup(folder: folder).measure()
        case "requests": try await LimitedGroup(folder: folder).request()
        default: throw MemoryFailure(usage)
        }
    }
}

struct MemoryFailure: Error, CustomStringConvertible {
    let description: String

    init(_ description: String) { self.description = description }
}
