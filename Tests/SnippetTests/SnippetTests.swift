import Foundation
import Testing

/// Every Swift block of the documentation stands, word for word, in a file that this target compiles.
@Suite struct SnippetTests {
    private static let root = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
        .deletingLastPathComponent()

    /// What no program compiles by itself: a line of a manifest.
    private static let manifestLines = [".package("]

    static let documents: [String] = {
        let docs = (try? FileManager.default.contentsOfDirectory(atPath: root.appending(path: "docs").path())) ?? []
        return ["README.md"] + docs.filter { $0.hasSuffix(".md") }.sorted().map { "docs/" + $0 }
    }()

    @Test(arguments: documents) func theSwiftBlocksOfADocumentCompile(document: String) throws {
        let compiled = try Self.lines(of: "Tests/SnippetTests/Snippets.swift")
        let text = try Self.lines(of: document)
        for block in Self.swiftBlocks(of: text) where !Self.manifestLines.contains(where: { block[0].hasPrefix($0) }) {
            #expect(Self.contains(compiled, block), "\(document): \(block[0])")
        }
    }

    @Test func theReadmeStaysShortAndShowsFiveSnippets() throws {
        let lines = try Self.lines(of: "README.md", trimmed: false)
        #expect(lines.count <= 110)
        #expect(Self.swiftBlocks(of: lines).count >= 5)
    }

    @Test func aBlockThatIsNotCompiledIsFound() {
        #expect(Self.swiftBlocks(of: ["```swift", "let a = 1", "```", "```sh", "ls", "```"]) == [["let a = 1"]])
        #expect(Self.contains(["x", "let a = 1", "let b = 2"], ["let a = 1", "let b = 2"]))
        #expect(!Self.contains(["let a = 1", "x", "let b = 2"], ["let a = 1", "let b = 2"]))
    }

    private static func lines(of file: String, trimmed: Bool = true) throws -> [String] {
        let text = try String(contentsOf: root.appending(path: file), encoding: .utf8)
        let lines = text.split(separator: "\n", omittingEmptySubsequences: !trimmed ? false : true).map(String.init)
        return trimmed ? lines.map { $0.trimmingCharacters(in: .whitespaces) }.filter { !$0.isEmpty } : lines
    }

    /// The blocks between ```swift and ```, without indentation and empty lines.
    private static func swiftBlocks(of lines: [String]) -> [[String]] {
        var blocks: [[String]] = []
        var isInside = false
        for line in lines.map({ $0.trimmingCharacters(in: .whitespaces) }) {
            if line == "```swift" {
                isInside = true
                blocks.append([])
            } else if line.hasPrefix("```") {
                isInside = false
            } else if isInside, !line.isEmpty {
                blocks[blocks.count - 1].append(line)
            }
        }
        return blocks.filter { !$0.isEmpty }
    }

    private static func contains(_ lines: [String], _ block: [String]) -> Bool {
        guard lines.count >= block.count else { return false }
        return (0...lines.count - block.count).contains { start in
            lines[start..<start + block.count].elementsEqual(block)
        }
    }
}
