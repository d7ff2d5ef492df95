import Foundation

/// The directives of a `Cache-Control` field, with lower-case names.
///
/// The first of two equal directives counts. An argument may be quoted, and a comma inside the quotes divides nothing.
struct CacheControl {
    private var directives: [String: String] = [:]

    init(_ text: String) {
        for part in Self.split(text) {
            let halves = part.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
            let name = halves[0].trimmingCharacters(in: .whitespaces).lowercased()
            guard !name.isEmpty, directives[name] == nil else { continue }
            let value = halves.count > 1 ? halves[1].trimmingCharacters(in: .whitespaces) : ""
            directives[name] = value.trimmingCharacters(in: CharacterSet(charactersIn: "\""))
        }
    }

    func contains(_ name: String) -> Bool { directives[name] != nil }

    /// A directive's seconds: nil without the directive, 0 for a value that is no number, as what cannot be read must
    /// not make an answer fresh.
    func seconds(_ name: String) -> Int? {
        guard let value = directives[name] else { return nil }
        guard !value.isEmpty, value.utf8.allSatisfy({ $0 >= 0x30 && $0 <= 0x39 }) else { return 0 }
        return min(Int(value) ?? Self.longest, Self.longest)
    }

    /// What a larger number of seconds counts as: 68 years.
    private static let longest = 1 << 31

    private static func split(_ text: String) -> [Substring] {
        var parts: [Substring] = []
        var start = text.startIndex
        var isQuoted = false
        for index in text.indices {
            switch text[index] {
            case "\"": isQuoted.toggle()
            case "," where !isQuoted:
                parts.append(text[start..<index])
                start = text.index(after: index)
            default: break
            }
        }
        parts.append(text[start...])
        return parts
    }
}
