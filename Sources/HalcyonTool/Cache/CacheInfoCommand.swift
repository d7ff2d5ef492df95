import ArgumentParser
import Foundation
import Halcyon

/// `halcyon cache info`.
struct CacheInfoCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "info", abstract: "Say what the cache holds.")

    @OptionGroup var cache: CacheFolder
    @Flag(help: "One JSON object.")
    var json = false

    func run() async throws {
        let report = CacheInfoReport(await cache.diskCache.info())
        if json {
            Output.line(Output.json(report))
        } else {
            Output.line("folder   \(report.folder)")
            Output.line("entries  \(report.entries), \(report.expired) expired")
            Output.line("bytes    \(report.bytes)")
            if let oldest = report.oldest { Output.line("oldest   \(oldest)") }
        }
    }
}
