import CFailingCalls
import Foundation
import HalcyonSystem

/// Has one call after the other of the C library fail while images are read, written and loaded, and reports the outcome:
/// `FailingCalls <report> decode <kind> <libraries> <step> <file>...` or
/// `FailingCalls <report> load <kind> <libraries> <step> <folder> <url>`.
///
/// The kinds are those below and `exhaustion`: from one allocation on, all fail.
///
/// Libraries are the first letters of their files' names, separated by spaces. The report has a line for whatever is wrong and
/// how many calls failed at the end; without that line a failed call has ended it.
@main
enum FailingCalls {
    private static let kinds: [String: failing_kind] = [
        "allocation": FAILING_ALLOCATION, "map": FAILING_MAP, "open": FAILING_OPEN, "socket": FAILING_SOCKET,
        "pipe": FAILING_PIPE, "thread": FAILING_THREAD,
    ]

    static func main() async {
        let words = Array(CommandLine.arguments.dropFirst())
        guard words.count > 5, FileManager.default.createFile(atPath: words[0], contents: nil),
            let kind = kinds[words[2]] ?? (words[2] == "exhaustion" ? FAILING_ALLOCATION : nil),
            let step = Int(words[4]), step > 0
        else { exit(2) }
        var none = rlimit(rlim_cur: 0, rlim_max: 0)
        setrlimit(__rlimit_resource_t(RLIMIT_CORE.rawValue), &none)
        let failure = Failure(
            kind: kind, libraries: words[3], step: step, callsAtOnce: words[2] == "exhaustion" ? .max : 1)
        switch words[1] {
        case "decode":
            for path in words.dropFirst(5) {
                // On a thread that codecs run on.
                _ = try? await ThreadPools.cpu.run { _ in DecodeFailures(path: path, failure: failure).run() }
            }
        case "load" where words.count == 7:
            guard let url = URL(string: words[6]) else { exit(2) }
            await LoadFailures(folder: URL(filePath: words[5]), url: url, failure: failure).run()
        default: exit(2)
        }
        say("failed \(Failure.count.withLock { $0 })")
    }

    private static let report = CommandLine.arguments.dropFirst().first.flatMap { FileHandle(forWritingAtPath: $0) }

    /// Writes past every buffer, so that the text outlives a process that ends.
    static func say(_ text: String) {
        try? report?.write(contentsOf: Data((text + "\n").utf8))
    }
}

/// Which calls fail.
struct Failure: Sendable {
    /// Calls that have failed so far.
    static let count = Lock(0)

    let kind: failing_kind
    let libraries: String
    /// One call out of so many fails in its turn.
    let step: Int
    /// Calls that fail in each turn.
    let callsAtOnce: Int

    /// From now on the `first`th call fails; 0 only counts.
    func arm(first: Int) {
        libraries.withCString { failing_calls_arm(kind, $0, first, callsAtOnce) }
        if first > 0 { Self.count.withLock { $0 += 1 } }
    }

    /// - Returns: how many calls were made.
    @discardableResult
    func disarm() -> Int { failing_calls_disarm() }
}
