import ArgumentParser

/// `halcyon cache`.
struct CacheCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "cache", abstract: "Look into the disk cache, and tidy it.",
        subcommands: [
            CacheInfoCommand.self, CacheShowCommand.self, CacheRemoveCommand.self, CacheTrimCommand.self,
            CacheClearCommand.self,
        ])
}
