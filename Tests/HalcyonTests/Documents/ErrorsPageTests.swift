import Foundation
import Halcyon
import HalcyonCodecs
import HalcyonNetwork
import TestSupport
import Testing

/// Holds docs/Errors.md to the public error types: each has a section, and each of their cases a row.
@Suite struct ErrorsPageTests {
    private static let root = DeclarationIndex.root

    /// Types without `Error` that errors consist of.
    private static let parts: Set<String> = ["ConnectionFailure", "TimeoutKind", "RedirectFailure", "DecodeStop"]

    /// The rows of the page by the type that its section is about.
    private static func sections() throws -> [String: [[String]]] {
        let text = try String(contentsOf: root.appending(path: "docs/Errors.md"), encoding: .utf8)
        var sections: [String: [[String]]] = [:]
        var type = ""
        for line in text.split(separator: "\n") {
            if let title = line.wholeMatch(of: /## `(\w+)`/)?.output.1 {
                type = String(title)
                sections[type] = []
            } else if line.hasPrefix("| `") {
                sections[type]?.append(
                    line.split(separator: "|").map { $0.trimmingCharacters(in: .whitespaces) })
            }
        }
        return sections
    }

    private static func name(in cell: String) -> String { cell.trimmingCharacters(in: ["`"]) }

    /// The cases of the public error types in the sources, and of their parts.
    private static func declared() throws -> [String: [String]] {
        let folder = root.appending(path: "Sources").resolvingSymlinksInPath()
        var types: [String: [String]] = [:]
        for path in try FileManager.default.subpathsOfDirectory(atPath: folder.path) where path.hasSuffix(".swift") {
            read(try String(contentsOf: folder.appending(path: path), encoding: .utf8), into: &types)
        }
        return types
    }

    private static func read(_ text: String, into types: inout [String: [String]]) {
        var type: String?
        var isReason = false
        for line in text.split(separator: "\n") {
            if let head = line.firstMatch(of: /^public (?:enum|struct|final class) (\w+)(?:: ([^{]*))?/)?.output {
                let isError = head.2?.split(separator: ", ").contains { $0.trimmingCharacters(in: [" "]) == "Error" }
                type = isError == true || parts.contains(String(head.1)) ? String(head.1) : nil
                if let type { types[type] = [] }
            } else if line == "}" {
                type = nil
            } else if let type {
                if line.hasPrefix("    public enum Reason") { isReason = true }
                if line == "    }" { isReason = false }
                let own = line.firstMatch(of: /^    (?:indirect )?case (\w+)/)?.output.1
                let ofReason = isReason ? line.firstMatch(of: /^        case (\w+)/)?.output.1 : nil
                if let name = own ?? ofReason { types[type]?.append(String(name)) }
            }
        }
    }

    @Test func everyErrorHasItsRow() throws {
        let (sections, declared) = (try Self.sections(), try Self.declared())
        #expect(declared.count >= 15)
        #expect(declared["ImagePipelineError"]?.count == ImagePipelineErrorTests.all.count)
        for (type, cases) in declared {
            guard let rows = sections[type] else {
                Issue.record("\(type) has no section")
                continue
            }
            #expect(rows.map { Self.name(in: $0[0]) } == cases, "\(type)")
            for row in rows { #expect(row.count >= 2 && row.allSatisfy { !$0.isEmpty }, "\(row)") }
        }
        for type in Set(sections.keys).subtracting(declared.keys) { Issue.record("\(type) is no public error") }
    }

    /// A cell names a word, or says in words whose it is.
    private static func holds(_ cell: String, _ word: String) -> Bool {
        cell == "`\(word)`" || cell.hasPrefix("that of ")
    }

    @Test func codesAndStagesAreThoseOfTheErrors() throws {
        let rows = try #require(try Self.sections()["ImagePipelineError"])
        for row in rows {
            let error = try #require(ImagePipelineErrorTests.all.first { $0.name == Self.name(in: row[0]) }?.error)
            #expect(Self.holds(row[1], error.code), "\(row)")
            #expect(Self.holds(row[2], error.stage.rawValue), "\(row)")
        }
        let text = try String(contentsOf: Self.root.appending(path: "docs/Errors.md"), encoding: .utf8)
        for stage in ImagePipelineError.Stage.allCases { #expect(text.contains("`\(stage.rawValue)`")) }
    }

    @Test func codesAreThoseOfTheStages() throws {
        struct Mine: Error {}
        let codec: [String: CodecError] = [
            "notAnImage": .notAnImage("x"), "unsupportedFormat": .unsupportedFormat(.png),
            "loaderMissing": .loaderMissing(.icns),
            "unsupportedExtension": .unsupportedExtension("x", encodable: []),
            "damaged": .damaged(.png, reason: "x"), "limitExceeded": .limitExceeded("x", value: 2, limit: 1),
            "encodingFailed": .encodingFailed(.png, reason: "x"), "stopped": .stopped(.png, .forbiddenCall),
            "isolationUnavailable": .isolationUnavailable("x"), "failed": .failed(.png, Mine()),
        ]
        let reasons: [String: DownloadError.Reason] = [
            "invalidURL": .invalidURL("x"), "invalidRequest": .invalidRequest("x"), "offline": .offline,
            "connection": .connection(.reset), "timeout": .timeout(.idle), "tls": .tls("x"),
            "httpStatus": .httpStatus(404), "unauthorized": .unauthorized, "redirect": .redirect(.loop),
            "tooLarge": .tooLarge(limit: 1), "contentType": .contentType(nil), "refused": .refused("x"),
            "refusedAddress": .refusedAddress("x"), "incompleteBody": .incompleteBody(received: 1, expected: nil),
        ]
        let url = URL(web: "http://images.test/a")
        let codes = [
            "CodecError": codec.mapValues(\.code),
            "DownloadError": reasons.mapValues { DownloadError($0, url: url).code },
        ]
        for (type, codes) in codes {
            let rows = try #require(try Self.sections()[type])
            #expect(rows.count == codes.count)
            for row in rows { #expect("`\(codes[Self.name(in: row[0])] ?? "")`" == row[1], "\(row)") }
        }
    }

    @Test func theReadmeNamesThePage() throws {
        let text = try String(contentsOf: Self.root.appending(path: "README.md"), encoding: .utf8)
        #expect(text.contains("(docs/Errors.md)"))
    }
}
