import Foundation
import Glibc

/// Measures Halcyon against the cost of the same work without it.
///
///     halcyon-bench [--filter NAME] [--runs N] [--json] [--python PATH]
///     halcyon-bench --decode FILE --to WIDTHxHEIGHT [--runs N] [--rgba OUTPUT]
///     halcyon-bench --decode FILE --frames [--runs N]
///     halcyon-bench --encode FILE --as FORMAT [--quality 0...100] [--effort 0...100] [--lossless] [--runs N]
@main
struct HalcyonBench {
    static func main() async {
        do {
            let options = try Options(CommandLine.arguments.dropFirst())
            if let folder = options.servedFolder { return try FileServer(folder: folder).run() }
            if let decode = options.sizedDecode { return try decode.run() }
            if let encode = options.timedEncode { return try encode.run() }
            try await measure(options)
        } catch {
            FileHandle.standardError.write(Data("halcyon-bench: \(error)\n".utf8))
            exit(1)
        }
    }

    private static func measure(_ options: Options) async throws {
        let scratch = try ScratchFolder()
        var outcomes: [Outcome] = []
        for suite in selected(options) {
            for comparison in try await suite.comparisons(scratch) where options.includes(comparison) {
                let outcome = try await comparison.run(options.runs)
                print(outcome.json)
                fflush(nil)
                outcomes.append(outcome)
            }
        }
        guard !outcomes.isEmpty else { throw BenchmarkFailure("no benchmark matches the filter") }
        if !options.isJSONOnly { print("", Table(outcomes).text, separator: "\n") }
    }

    /// Returns the suites that the filter selects. A suite prepares its input when its comparisons are requested, so
    /// excluded suites are left out here.
    private static func selected(_ options: Options) -> [any Suite] {
        // End to end comes first: in a heap that has seen large blocks come and go, less memory is returned to the
        // system between two runs, and the growth of resident memory would look too small.
        let suites: [any Suite] = [
            EndToEndSuite(), RequestSuite(), MemoryHitSuite(), DiskHitSuite(), StoredImageSuite(), DiskStoreSuite(),
            DiskManySuite(), ObservabilitySuite(),
            DecodeSuite(), ProcessingSuite(python: options.python), LightSuite(), ToneSuite(),
        ]
        guard let filter = options.filter else { return suites }
        let named = suites.filter { suite in
            suite.names.contains { $0.contains(filter) || filter.hasPrefix($0) }
        }
        return named.isEmpty ? suites : named
    }
}
