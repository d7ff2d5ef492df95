import Foundation

/// Runs this program again, for a measurement in a process of its own.
enum Child {
    /// - Returns: The child's output.
    /// - Throws: `MemoryFailure` with the exit status if the child failed.
    static func run(_ arguments: [String]) throws -> String {
        let process = Process()
        process.executableURL = URL(filePath: "/proc/self/exe").resolvingSymlinksInPath()
        process.arguments = arguments
        let output = Pipe()
        process.standardOutput = output
        try process.run()
        let data = output.fileHandleForReading.readDataToEndOfFile()
        process.waitUntilExit()
        guard process.terminationStatus == 0 else {
            throw MemoryFailure("\(arguments.joined(separator: " ")): exit status \(process.terminationStatus)")
        }
        return String(decoding: data, as: UTF8.self).trimmingCharacters(in: .whitespacesAndNewlines)
    }
}
