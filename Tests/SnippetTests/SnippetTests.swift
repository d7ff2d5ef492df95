import Foundation
import Testing

/// Every Swift block of the documentation stands, but for white space, in a file that this target compiles.
@Suite struct SnippetTests {
    static let root = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
        .deletingLastPathComponent()

    static let documents: [String] = {
        let docs = (try? FileManager.default.contentsOfDirectory(atPath: root.appending(path: "docs").path())) ?? []
        let catalog = "Sources/HalcyonProcessing/HalcyonProcessing.docc"
        let pages = (try? FileManager.default.contentsOfDirectory(atPath: root.appending(path: catalog).path())) ?? []
        return ["README.md"] + docs.filter { $0.hasSuffix(".md") }.sorted().map { "docs/" + $0 }
            + pages.filter { $0.hasSuffix(".md") }.sorted().map { catalog + "/" + $0 }
    }()

    private static let compiled =
        [
            "Snippets.swift", "CacheSnippets.swift", "NetworkSnippets.swift", "MigrationSnippets.swift",
            "MigrationViewSnippets.swift", "ViewSnippets.swift", "ProcessorSnippets.swift", "TestingSnippets.swift",
            "ServerSnippets.swift", "CustomProcessorSnippets.swift", "IsolationSnippets.swift",
            "Farbfeld/FarbfeldCoder.swift",
        ].map {
            "Tests/SnippetTests/" + $0
        } + ["Minimal", "Window"].map { "Examples/\($0)/Sources/\($0)/\($0).swift" }
        // A package with a web framework.
        + ["Server/Tests/HalcyonServerTests/SmallServer.swift"]

    @Test(arguments: documents) func theSwiftBlocksOfADocumentCompile(document: String) throws {
        let compiled = Self.dense(try Self.compiled.map(Self.text).joined())
        // A line of a manifest is compiled by nothing here; Examples/ have whole ones.
        for block in Self.swiftBlocks(of: try Self.text(of: document)) where !block.hasPrefix(".package(") {
            let isCompiled = compiled.contains(Self.dense(block))
            #expect(isCompiled, "in none of the compiled files:\n\(block)")
        }
    }

    @Test func theReadmeStaysShortAndShowsFiveSnippets() throws {
        let text = try Self.text(of: "README.md")
        #expect(text.split(separator: "\n", omittingEmptySubsequences: false).count <= 110)
        #expect(Self.swiftBlocks(of: text).count >= 5)
    }

    @Test func onlySwiftBlocksCount() {
        #expect(Self.swiftBlocks(of: "a\n```swift\nlet a = 1\n```\n```sh\nls\n```\n") == ["let a = 1\n"])
        #expect(Self.dense("let a =\n    1") == "leta=1")
    }

    static func text(of file: String) throws -> String {
        try String(contentsOf: root.appending(path: file), encoding: .utf8)
    }

    private static func dense(_ text: String) -> String {
        text.filter { !$0.isWhitespace }
    }

    /// The blocks between ```swift and ```.
    private static func swiftBlocks(of text: String) -> [String] {
        text.components(separatedBy: "```swift\n").dropFirst().map { String($0.prefix(upTo: end(of: $0))) }
    }

    private static func end(of block: String) -> String.Index {
        block.range(of: "```")?.lowerBound ?? block.endIndex
    }
}
