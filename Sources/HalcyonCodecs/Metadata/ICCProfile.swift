/// Reads tags of an ICC profile.
package enum ICCProfile {
    private static let maximumTags = 256
    /// The maximum length of a name in characters.
    private static let maximumName = 256

    /// Returns the profile's description, empty if it has none or is broken.
    package static func name(of reader: ByteReader) -> String { tag("desc", of: reader).map(text) ?? "" }

    /// Returns the primaries and the curve that the profile names by code points (the tag `cicp` of ICC.1:2022), if the curve is PQ or
    /// HLG: its other tags describe that for other programs. Nil for all other profiles.
    package static func codePoints(of reader: ByteReader) -> ColorProfile? {
        guard reader.matches("RGB ", at: 16), let tag = tag("cicp", of: reader), tag.matches("cicp", at: 0),
            let primaries = tag.byte(8), let transfer = tag.byte(9), tag.matches([0, 1], at: 10),
            CodePoints.areKnown(primaries: primaries, transfer: transfer),
            let profile = CodePoints.profile(primaries: primaries, transfer: transfer), profile.isHighDynamicRange
        else { return nil }
        return profile
    }

    /// Returns the first tag of a name; nil if there is none.
    private static func tag(_ name: StaticString, of reader: ByteReader) -> ByteReader? {
        guard let count = reader.bigEndian32(128) else { return nil }
        for index in 0..<min(count, maximumTags) {
            let entry = 132 + index * 12
            guard reader.has(12, at: entry) else { return nil }
            guard reader.matches(name, at: entry) else { continue }
            guard let offset = reader.bigEndian32(entry + 4), let length = reader.bigEndian32(entry + 8) else {
                return nil
            }
            return reader.part(at: offset, length: length)
        }
        return nil
    }

    /// Returns the text of a description tag. Version 2 stores ASCII, version 4 a list of languages in UTF-16, of which
    /// the first is taken.
    private static func text(_ tag: ByteReader) -> String {
        if tag.matches("desc", at: 0), let length = tag.bigEndian32(8) {
            let bytes = tag.part(at: 12, length: min(length, maximumName)).bytes.prefix { $0 != 0 }
            return clean(String(decoding: bytes, as: UTF8.self))
        }
        if tag.matches("mluc", at: 0), let length = tag.bigEndian32(20), let offset = tag.bigEndian32(24) {
            let part = tag.part(at: offset, length: min(length, maximumName * 2))
            let units = stride(from: 0, to: part.count - 1, by: 2).compactMap { part.bigEndian16($0) }
            return clean(String(decoding: units.map { UInt16($0) }, as: UTF16.self))
        }
        return ""
    }

    /// Returns the name without control characters, which do not belong in a name and can confuse a terminal.
    package static func clean(_ name: String) -> String {
        let scalars = name.unicodeScalars.filter { $0.value >= 0x20 && !(0x7F...0x9F).contains($0.value) }
        return String(String.UnicodeScalarView(scalars))
    }
}
