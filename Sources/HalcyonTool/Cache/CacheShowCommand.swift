import ArgumentParser
import Foundation
import Halcyon

/// `halcyon cache show`.
struct CacheShowCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "show", abstract: "Say what the cache holds for a source.")

    @Argument(help: "The URL, as it was loaded.")
    var source: String
    @OptionGroup var cache: CacheFolder
    @Flag(help: "One JSON object.")
    var json = false

    func run() async throws {
        let images = ImageCache(disk: cache.diskCache)
        guard let entry = await images.storedOriginal(for: ImageRequest(SourceList.source(source))) else {
            Output.error("\(SourceList.withoutUser(source)): not in the cache (notInCache)")
            throw ExitCode(1)
        }
        let report = CacheEntryReport(source: SourceList.withoutUser(source), entry: entry)
        if json {
            Output.line(Output.json(report))
        } else {
            Output.line("source      \(report.source)")
            Output.line("bytes       \(report.bytes)")
            Output.line("format      \(report.format ?? "unknown")")
            Output.line("stored      \(report.stored)")
            Output.line("kept until  \(report.keptUntil ?? "for ever")")
            if let freshUntil = report.freshUntil { Output.line("fresh until \(freshUntil)") }
            if let etag = report.etag { Output.line("etag        \(etag)") }
        }
    }
}
