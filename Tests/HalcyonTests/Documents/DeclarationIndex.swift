import Foundation

/// The declarations in the Swift files of a folder, found by reading their text.
///
/// It compares words and does not parse Swift: a member counts as a type's where one file declares or extends the type and
/// declares a member of that name.
struct DeclarationIndex {
    /// The folder of the repository.
    static let root = (0..<4).reduce(URL(filePath: #filePath)) { url, _ in url.deletingLastPathComponent() }

    private struct File {
        /// Types that are declared or extended.
        var types: Set<String> = []
        var members: Set<String> = []
        /// Functions that stand behind an `@Test`.
        var tests: Set<String> = []
        /// Long names of `@Option` and `@Flag`, without their dashes.
        var options: Set<String> = []
        /// The values of `commandName`.
        var commands: Set<String> = []
    }

    private var files: [File] = []

    /// - Throws: the system's error where the folder cannot be read.
    init(folder: URL) throws {
        let folder = folder.resolvingSymlinksInPath()
        for path in try FileManager.default.subpathsOfDirectory(atPath: folder.path) where path.hasSuffix(".swift") {
            let text = try String(contentsOf: folder.appending(path: path), encoding: .utf8)
            add(text)
        }
    }

    init(texts: [String]) {
        texts.forEach { add($0) }
    }

    var isEmpty: Bool { files.isEmpty }

    /// `Type`, `Type.member`, or a path through nested types.
    func declares(_ path: String) -> Bool {
        let names = path.split(separator: ".").map(String.init)
        guard let last = names.last else { return false }
        if names.count == 1 { return files.contains { $0.types.contains(last) } }
        return files.contains { $0.types.isSuperset(of: names.dropLast()) && $0.members.contains(last) }
    }

    /// `Suite.function`, where the function is a test.
    func hasTest(_ path: String) -> Bool {
        let names = path.split(separator: ".").map(String.init)
        guard names.count == 2 else { return false }
        return files.contains { $0.types.contains(names[0]) && $0.tests.contains(names[1]) }
    }

    /// `halcyon command --option`, any number of either.
    func hasUsage(_ words: [Substring]) -> Bool {
        words.allSatisfy { word in
            if word.hasPrefix("--") { return files.contains { $0.options.contains(String(word.dropFirst(2))) } }
            return files.contains { $0.commands.contains(String(word)) }
        }
    }
}

extension DeclarationIndex {
    private static let typeWords: Set<Substring> = ["class", "struct", "enum", "actor", "protocol", "typealias"]
    private static let memberWords: Set<Substring> = ["func", "var", "let", "macro"]

    private mutating func add(_ text: String) {
        var file = File()
        var sawTest = false
        var option: String?
        for line in text.split(separator: "\n") {
            let line = line.drop { $0 == " " }
            if line.hasPrefix("//") { continue }
            let words = Self.words(line)
            Self.readNames(words, into: &file)
            if words.first == "case" { file.members.formUnion(Self.caseNames(line)) }

            if line.contains("@Test") { sawTest = true }
            if let name = Self.name(after: ["func"], in: words) {
                if sawTest { file.tests.insert(name) }
                sawTest = false
            }

            if line.contains("@Option") || line.contains("@Flag") { option = "" }
            if let name = Self.quoted(after: "customLong(", in: line), option != nil { option = name }
            if let known = option, let name = Self.name(after: ["var"], in: words) {
                file.options.insert(known.isEmpty ? Self.dashed(name) : known)
                option = nil
            }
            if let name = Self.quoted(after: "commandName: ", in: line) { file.commands.insert(name) }
        }
        files.append(file)
    }

    private static func readNames(_ words: [Substring], into file: inout File) {
        for (word, next) in zip(words, words.dropFirst()) {
            if word == "extension" {
                file.types.formUnion(next.split(separator: ".").map(String.init))
            } else if typeWords.contains(word) {
                file.types.insert(String(next))
                file.members.insert(String(next))
            } else if memberWords.contains(word) {
                file.members.insert(String(next))
            }
        }
        if words.contains("init") { file.members.insert("init") }
    }

    /// Identifiers, with the dots that join them.
    private static func words(_ line: Substring) -> [Substring] {
        line.split { !($0.isLetter || $0.isNumber || $0 == "_" || $0 == ".") }
    }

    private static func name(after keywords: Set<Substring>, in words: [Substring]) -> String? {
        zip(words, words.dropFirst()).first { keywords.contains($0.0) }.map { String($0.1) }
    }

    /// The names of `case first, second(Int)`.
    private static func caseNames(_ line: Substring) -> [String] {
        var depth = 0
        let parts = line.dropFirst("case ".count).split { character in
            if character == "(" { depth += 1 }
            if character == ")" { depth -= 1 }
            return character == "," && depth == 0
        }
        return parts.map { part in
            String(part.drop { $0 == " " || $0 == "`" }.prefix { $0.isLetter || $0.isNumber || $0 == "_" })
        }
    }

    private static func quoted(after marker: String, in line: Substring) -> String? {
        guard let start = line.firstRange(of: marker + "\"")?.upperBound else { return nil }
        return String(line[start...].prefix { $0 != "\"" })
    }

    /// `maxBytes` as `max-bytes`.
    private static func dashed(_ name: String) -> String {
        name.map { $0.isUppercase ? "-" + $0.lowercased() : String($0) }.joined()
    }
}
