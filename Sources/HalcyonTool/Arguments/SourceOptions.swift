import ArgumentParser
import Foundation
import Halcyon
import HalcyonSystem

/// The sources of a command, and the options of their loads.
struct SourceOptions: ParsableArguments {
    @Argument(help: ArgumentHelp("URLs, data: URLs, files, or - for a list on standard input.", valueName: "source"))
    var sources: [String]

    @OptionGroup var request: RequestOptions
    @OptionGroup var cache: CacheFolder

    @Option(help: "The number of simultaneous loads.")
    var concurrency = 16

    func validate() throws {
        guard (1...1024).contains(concurrency) else { throw ValidationError("--concurrency is 1 to 1024.") }
    }

    /// Returns the sources; reads standard input for a `-`.
    ///
    /// - Throws: `ValidationError` if there is none.
    func readEntries() throws -> [SourceList.Entry] {
        let entries = try SourceList.read(sources)
        guard !entries.isEmpty else { throw ValidationError("There is no source.") }
        return entries
    }

    /// Returns the processors of the request; a failure is reported.
    ///
    /// - Throws: `ExitCode`.
    func makeProcessors() async throws -> [any ImageProcessor] {
        do {
            return try await ThreadPools.cpu.run { [request] _ in try request.makeProcessors() }
        } catch {
            Output.error("\(FailureReport(error))")
            throw ExitCode(1)
        }
    }

    func makePipeline() -> ImagePipeline {
        .ofTool(disk: cache.diskCache)
    }
}
