import Foundation
import TestSupport

/// The workers that were built with the tests.
enum Worker {
    static let path = path(of: "halcyon-decode-worker")
    static let attacking = path(of: "DecodeBox")

    /// The same program as `attacking` under the name that makes it lie, in a folder that lasts as long as the tests' program.
    static let lying: String = {
        let link = folder.url.appending(path: "liar")
        try? FileManager.default.createDirectory(at: folder.url, withIntermediateDirectories: true)
        try? FileManager.default.createSymbolicLink(at: link, withDestinationURL: URL(filePath: attacking))
        return link.path(percentEncoded: false)
    }()

    private static let folder = TemporaryFolder()

    private static func path(of program: String) -> String {
        (try? Spawn.builtExecutable(program).path(percentEncoded: false)) ?? program
    }
}
