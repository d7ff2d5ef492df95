import Foundation
import HalcyonSystem
import TestSupport

/// Decodes files and reports the cost of each: `HostileDecode <cases> <report>`, a line of JSON per case in both.
///
/// A program of its own, since its peak is measured and since a file may end it: the report then ends with the case that
/// had begun.
@main
enum HostileDecode {
    static func main() async {
        let arguments = CommandLine.arguments
        guard arguments.count == 3, let text = try? String(contentsOfFile: arguments[1], encoding: .utf8),
            FileManager.default.createFile(atPath: arguments[2], contents: nil),
            let report = FileHandle(forWritingAtPath: arguments[2])
        else { exit(2) }
        forbidCores()
        do {
            let cases = try text.split(separator: "\n").map {
                try JSONDecoder().decode(DecodeCase.self, from: Data($0.utf8))
            }
            let reference = try await ThreadPools.cpu.run { _ in try ReferenceDrawing.seconds() }
            for (index, next) in cases.enumerated() {
                try report.write(contentsOf: line(Self.begun(next)))
                limit(next)
                // Tables and threads that a library makes at its first use do not count for a file.
                if index == 0 { _ = try await decode(next) }
                var result = try await decode(next)
                result.reference = reference
                try report.write(contentsOf: line(result))
            }
        } catch {
            FileHandle.standardError.write(Data("\(error)\n".utf8))
            exit(3)
        }
    }

    private static func begun(_ next: DecodeCase) -> DecodeReport {
        DecodeReport(decodeCase: next, bytes: 0, pixels: 0, frameBytes: 0)
    }

    private static func line(_ report: DecodeReport) throws -> Data {
        try JSONEncoder().encode(report) + Data("\n".utf8)
    }

    /// On a thread that codecs run on, with the stack that they have there.
    private static func decode(_ next: DecodeCase) async throws -> DecodeReport {
        try await ThreadPools.cpu.run { _ in try DecodeRun(next).report() }
    }

    /// A second line behind the assertions, for the machine's sake: beyond it the process ends.
    private static func limit(_ next: DecodeCase) {
        guard !Sanitizer.isOn else { return }
        var time = rlimit(rlim_cur: rlim_t(ProcessTime.seconds) + 20, rlim_max: rlim_t.max)
        setrlimit(__rlimit_resource_t(RLIMIT_CPU.rawValue), &time)
        let most = ProcessMemory.addressSpace + next.budget + 2 << 30
        var memory = rlimit(rlim_cur: rlim_t(most), rlim_max: rlim_t.max)
        setrlimit(__rlimit_resource_t(RLIMIT_AS.rawValue), &memory)
    }

    private static func forbidCores() {
        var none = rlimit(rlim_cur: 0, rlim_max: 0)
        setrlimit(__rlimit_resource_t(RLIMIT_CORE.rawValue), &none)
    }
}
