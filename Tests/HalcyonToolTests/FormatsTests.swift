import Foundation
import Halcyon
import TestSupport
import Testing

/// `halcyon formats`, and the document that is made with it.
@Suite(.timeLimit(.minutes(5))) struct ToolFormatsTests {
    @Test func theDocumentSaysWhatTheCodersDo() async throws {
        let result = try await Tool().run(["formats", "--markdown"])
        #expect(result.status == 0)
        let root = TestFiles.folder.deletingLastPathComponent().deletingLastPathComponent()
        let document = try String(contentsOf: root.appending(path: "docs/Formats.md"), encoding: .utf8)
        #expect(document.contains(result.text), "run make docs")
        // The table is of the coders that tests run with.
        for format in CoderRegistry.standard().capabilities {
            let row = result.text.split(separator: "\n").first { $0.hasPrefix("| \(format.format) |") }
            let cells = try #require(row).split(separator: "|").map { $0.trimmingCharacters(in: .whitespaces) }
            #expect(cells[1] == (format.decodes ? "yes" : "–"))
            #expect(cells[5] == (format.encodes ? "yes" : "–"))
        }
    }

    @Test func forPeopleItIsColumns() async throws {
        let lines = try await Tool().run(["formats"]).text.split(separator: "\n")
        #expect(lines.first?.hasPrefix("format") == true)
        #expect(lines.count == CoderRegistry.standard().capabilities.count + 1)
    }
}
