import Foundation
import Testing

/// The right-hand columns of docs/Migrating.md are code that compiles, and no name of the peers is missing on the left.
@Suite struct MigratingTests {
    /// The tables that map names to their equivalents in this library.
    private static func tables() throws -> [DocumentTable] {
        DocumentTable.tables(in: try SnippetTests.text(of: "docs/Migrating.md")).filter { $0.header.last == "Halcyon" }
    }

    /// The words that may stand on the right without code, because there is none.
    private static let words = ["Void", "None", "Built in"]

    /// The compiled lines, without what a list adds to its elements.
    private static func compiledLines() throws -> Set<String> {
        let files = [
            "MigrationSnippets", "MigrationTypes", "MigrationProcessorSnippets", "MigrationTargetSnippets",
            "MigrationViewSnippets",
        ]
        return try files.reduce(into: []) { all, file in
            all.formUnion(lines(of: try SnippetTests.text(of: "Tests/SnippetTests/\(file).swift")))
        }
    }

    private static func lines(of code: String) -> Set<String> {
        var lines = Set<String>()
        for line in code.components(separatedBy: "\n") {
            var line = line.trimmingCharacters(in: .whitespaces)
            if line.hasPrefix("//") { continue }
            if line.hasSuffix(",") { line.removeLast() }
            lines.insert(line)
            guard line.hasSuffix(".self") else { continue }
            line.removeLast(".self".count)
            let isProtocol = line.hasPrefix("(any ") && line.hasSuffix(")")
            lines.insert(isProtocol ? String(line.dropFirst("(any ".count).dropLast()) : line)
        }
        return lines
    }

    @Test func everyRowIsCompiledOrSaysThatThereIsNothing() throws {
        let compiled = try Self.compiledLines()
        let rows = try Self.tables().flatMap(\.rows)
        #expect(rows.count >= 200)
        for row in rows {
            let answer = try #require(row.last)
            let code = DocumentTable.code(in: answer)
            for piece in code where !compiled.contains(piece) {
                Issue.record("no line of MigrationSnippets.swift: \(piece)")
            }
            let isWords = Self.words.contains { answer.hasPrefix($0) }
            #expect(isWords || !code.isEmpty, "neither code nor a reason: \(row)")
        }
    }

    @Test func kingfishersOptionsAreAllThere() throws {
        let table = try #require(try Self.tables().first { $0.header == ["", "Kingfisher", "Halcyon"] })
        #expect(table.rows.map { $0[0] } == (1...28).map { "\($0)" })
        #expect(table.rows.flatMap { DocumentTable.code(in: $0[1]) } == MigrationNames.kingfisherOptions)
    }

    @Test(arguments: [
        ("`SDWebImageOptions`", MigrationNames.sdWebImageOptions, 26),
        ("`SDWebImageContextOption`", MigrationNames.sdWebImageContextKeys, 27),
        ("`ImageRequest.Options`", MigrationNames.nukeOptions, 10),
    ])
    func theOptionsOfTheOthersAreAllThere(title: String, names: [String], count: Int) throws {
        let table = try #require(try Self.tables().first { $0.header == [title, "Halcyon"] })
        #expect(names.count == count)
        #expect(table.rows.flatMap { DocumentTable.code(in: $0[0]) } == names)
    }

    /// The names of all tests, with every type of their file.
    private static func tests() throws -> Set<String> {
        let folder = SnippetTests.root.appending(path: "Tests")
        let files = try FileManager.default.subpathsOfDirectory(atPath: folder.path).filter {
            $0.hasSuffix("Tests.swift")
        }
        return try files.reduce(into: []) { all, file in
            let text = try SnippetTests.text(of: "Tests/" + file)
            let types = text.matches(of: /(?:struct|class|enum) (\w+)/).map(\.output.1)
            for function in text.matches(of: /func (\w+)/).map(\.output.1) {
                all.formUnion(types.map { "\($0).\(function)" })
            }
        }
    }

    @Test(arguments: [
        (["", "Kingfisher", "Halcyon"], 1, MigrationProofs.kingfisher),
        (["`SDWebImageOptions`", "Halcyon"], 0, MigrationProofs.sdWebImage),
    ])
    func eachOptionWithACounterpartIsShownByATest(header: [String], column: Int, proofs: [String: String]) throws {
        let (table, tests) = (try #require(try Self.tables().first { $0.header == header }), try Self.tests())
        for row in table.rows {
            let name = try #require(DocumentTable.code(in: row[column]).first)
            let answer = try #require(row.last)
            if answer.hasPrefix("Void") || answer.hasPrefix("None") {
                #expect(proofs[name] == nil || !DocumentTable.code(in: answer).isEmpty)
                continue
            }
            let proof = try #require(proofs[name], "no test for \(name)")
            #expect(tests.contains(proof), "\(proof) is no test")
        }
    }

    @Test(arguments: [MigrationNames.kingfisherTypes, MigrationNames.sdWebImageTypes, MigrationNames.nukeTypes])
    func theTypesOfTheOthersAreAllThere(names: [String]) throws {
        let known = Set(try Self.tables().flatMap(\.rows).flatMap { DocumentTable.code(in: $0[0]) })
        #expect(names.filter { !known.contains($0) } == [])
    }

    @Test func theBuilderIsSaidNotToBeThere() throws {
        let text = try SnippetTests.text(of: "docs/Migrating.md")
        #expect(text.contains("### The builder is not carried over"))
        #expect(text.contains("Halcyon has no such builder, and none is planned"))
    }

    @Test func aTableIsReadAndWhatIsNotCompiledIsSeen() throws {
        let tables = DocumentTable.tables(in: "x\n| a | b |\n| --- | --- |\n| `c` and `d` | e |\n\n| f |\n| --- |\n")
        #expect(tables.map(\.header) == [["a", "b"], ["f"]])
        #expect(tables.first?.rows == [["`c` and `d`", "e"]])
        #expect(DocumentTable.code(in: "`c` and `d`") == ["c", "d"])
        let lines = Self.lines(of: "  A.self,\n(any B).self\n// c\n  let d = 1\n")
        #expect(["A", "B", "let d = 1"].allSatisfy { lines.contains($0) })
        #expect(!lines.contains("c") && !lines.contains("// c") && !lines.contains("let d"))
    }
}
