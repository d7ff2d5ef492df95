import Foundation
import Synchronization

@testable import HalcyonServer

/// The program itself, as a process that a test starts, stops and kills.
final class ServerProgram: Sendable {
    /// The folder of the tests' program, in which the server's is too.
    static var file: URL {
        URL(filePath: "/proc/self/exe").resolvingSymlinksInPath().deletingLastPathComponent()
            .appending(path: "halcyon-server")
    }

    private let process: Process
    private let output = Pipe()

    /// Starts the program, at free ports unless the environment has others.
    ///
    /// - Parameter command: words that stand before the program.
    init(_ environment: [String: String], command: [String] = []) throws {
        process = Process()
        let words = command + [Self.file.path]
        process.executableURL = URL(filePath: words[0])
        process.arguments = Array(words.dropFirst())
        process.environment = ProcessInfo.processInfo.environment
            .merging(["HALCYON_HTTP_PORT": "0", "HALCYON_METRICS_PORT": "0"]) { $1 }.merging(environment) { $1 }
        process.standardOutput = output
        process.standardError = FileHandle.nullDevice
        try process.run()
    }

    deinit { kill() }

    var id: Int32 { process.processIdentifier }

    /// Reads the ports that the program tells once it listens.
    func ports() throws -> (pictures: Int, reports: Int) {
        var text = ""
        while text.count(where: { $0 == "\n" }) < 2 {
            let more = output.fileHandleForReading.availableData
            if more.isEmpty { throw LoopbackConnection.Failure(description: "the program ended: \(text)") }
            text += String(decoding: more, as: UTF8.self)
        }
        func port(_ name: String) -> Int {
            let line = text.split(separator: "\n").first { $0.hasPrefix(name) }
            return line?.split(separator: " ").last.flatMap { Int($0) } ?? 0
        }
        return (port("pictures"), port("reports"))
    }

    func terminate() { process.terminate() }

    /// The processes that all threads of a process have started.
    static func children(of process: Int32) -> [Int32] {
        let tasks = "/proc/\(process)/task"
        return ((try? FileManager.default.contentsOfDirectory(atPath: tasks)) ?? []).flatMap { task in
            let list = (try? String(contentsOfFile: "\(tasks)/\(task)/children", encoding: .utf8)) ?? ""
            return list.split(separator: " ").compactMap { Int32($0) }
        }
    }

    /// Ends the process and all that it has started, such as the program behind `strace`: they would outlive it, and Foundation waits
    /// for all that have its descriptors.
    func kill() {
        guard process.isRunning else { return }
        var (found, next) = ([process.processIdentifier], 0)
        while next < found.count {
            found += Self.children(of: found[next])
            next += 1
        }
        for id in found { Glibc.kill(id, SIGKILL) }
        process.waitUntilExit()
    }

    /// Waits for the end. Returns its status, which is that of a signal if there was one.
    func end() -> (reason: Process.TerminationReason, status: Int32) {
        process.waitUntilExit()
        return (process.terminationReason, process.terminationStatus)
    }
}

/// Runs a program to its end. Returns all that it has written.
func output(
    of path: String, _ arguments: [String], environment: [String: String] = [:]
) throws -> (status: Int32, text: String) {
    let process = Process()
    process.executableURL = URL(filePath: path)
    process.arguments = arguments
    process.environment = ProcessInfo.processInfo.environment.merging(environment) { $1 }
    let pipe = Pipe()
    (process.standardOutput, process.standardError) = (pipe, pipe)
    try process.run()
    let text = String(decoding: pipe.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
    process.waitUntilExit()
    return (process.terminationStatus, text)
}
