extension DiskCache {
    /// The extension of the name of an entry's file, behind a dot, for the benefit of other programs.
    public enum FileExtension: Sendable, Hashable {
        /// No extension.
        case none
        /// The same extension for all entries: 1 to 20 ASCII letters and digits. Any other text counts as `none`.
        case fixed(String)
        /// The extension of the key's name, read as a URL or a path: the text behind the last dot of its last component,
        /// without query and fragment, if that is 1 to 20 ASCII letters and digits. Text behind an "@", as in `a.png@blur`,
        /// does not count, and a host such as `example.com` has no extension.
        case fromKey

        /// Returns the extension for a key's name; nil if there is none, or if it is not suitable for a file name.
        func text(for name: String?) -> String? {
            switch self {
            case .none: nil
            case .fixed(let text): Self.isFit(text.utf8[...]) ? text : nil
            case .fromKey: name.flatMap(Self.ending)
            }
        }

        private static func ending(of name: String) -> String? {
            var rest = name.utf8[...]
            if let end = rest.firstIndex(where: { $0 == UInt8(ascii: "?") || $0 == UInt8(ascii: "#") }) {
                rest = rest[..<end]
            }
            guard let component = lastComponent(of: rest) else { return nil }
            // In `a.png@blur` the "@" ends the file's name; in `a@2x.png` it is part of it.
            if let end = component.firstIndex(of: UInt8(ascii: "@")), let text = lastPart(of: component[..<end]) {
                return text
            }
            return lastPart(of: component)
        }

        /// Returns the text behind the last slash; nil if there is a host and no path.
        private static func lastComponent(of name: Substring.UTF8View) -> Substring.UTF8View? {
            guard let slash = name.lastIndex(of: UInt8(ascii: "/")) else { return name }
            // If the slash is the second of "://" or of "//", the host is behind it.
            let before = name[..<slash]
            if before.elementsEqual("/".utf8) || before.suffix(2).elementsEqual(":/".utf8) { return nil }
            return name[name.index(after: slash)...]
        }

        private static func lastPart(of component: Substring.UTF8View) -> String? {
            guard let dot = component.lastIndex(of: UInt8(ascii: ".")) else { return nil }
            let part = component[component.index(after: dot)...]
            let text = part.prefix { $0 != UInt8(ascii: "@") }
            return isFit(text) ? String(Substring(text)) : nil
        }

        static func isFit(_ text: Substring.UTF8View) -> Bool {
            // Counts only as far as needed, since a key may be long.
            let length = text.prefix(21).count
            return (1...20).contains(length)
                && text.allSatisfy { byte in
                    (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(byte | 0x20)
                        || (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte)
                }
        }
    }
}
