import Foundation

/// The parts of thumbor's grammar in their order, as they stand in a path.
///
/// Each part is optional, and the first text that is none of the next parts begins the source. A part at the end of a path
/// is the source, for there has to be one.
struct ThumborPath {
    enum Part: Int, CaseIterable {
        case debug, meta, trim, crop, fit, size, horizontal, vertical, smart, filters
    }

    private(set) var parts: [Part: Substring] = [:]
    /// Everything before the source, with its slashes.
    let options: Substring
    let source: Substring

    /// - Parameter text: everything behind the signature, from its leading slash on.
    init(_ text: Substring) throws(ImageURLError) {
        var rest = text.dropFirst()
        for part in Part.allCases {
            guard let end = Self.end(of: part, in: rest), rest.index(after: end) != rest.endIndex else { continue }
            parts[part] = rest[..<end]
            rest = rest[rest.index(after: end)...]
        }
        guard !rest.isEmpty else { throw .path("the source is missing") }
        guard !rest.hasPrefix("filters:") else {
            throw .invalid("filters", rest.dropFirst(8), "')/' is missing behind it")
        }
        (options, source) = (text[..<rest.startIndex], rest)
    }

    /// The slash behind the part, if the text begins with it.
    private static func end(of part: Part, in text: Substring) -> Substring.Index? {
        if part == .filters {
            guard text.hasPrefix("filters:"), let mark = text.range(of: ")/") else { return nil }
            return text.index(before: mark.upperBound)
        }
        guard let slash = text.firstIndex(of: "/") else { return nil }
        return matches(part, text[..<slash]) ? slash : nil
    }

    private static func matches(_ part: Part, _ text: Substring) -> Bool {
        switch part {
        case .debug: text == "debug"
        case .meta: text == "meta"
        case .trim: text == "trim" || text.hasPrefix("trim:")
        case .crop: box(text) != nil
        case .fit: fits.contains(text)
        case .size: sides(text) != nil
        case .horizontal: ["left", "right", "center"].contains(text)
        case .vertical: ["top", "bottom", "middle"].contains(text)
        case .smart: text == "smart"
        case .filters: false
        }
    }

    private static let fits: Set<Substring> = ["fit-in", "full-fit-in", "adaptive-fit-in", "adaptive-full-fit-in"]

    /// Both sides of a size with the signs of their flips, as text. `nil` if the text is no size.
    static func sides(_ text: Substring) -> (width: Substring, height: Substring)? {
        let sides = text.split(separator: "x", omittingEmptySubsequences: false)
        guard sides.count == 2 else { return nil }
        let areSides = sides.allSatisfy { side in
            let size = side.hasPrefix("-") ? side.dropFirst() : side
            return size == "orig" || isDigits(size)
        }
        return areSides ? (sides[0], sides[1]) : nil
    }

    /// The four numbers of `AxB:CxD`. `nil` if the text is no such box; numbers too long for an integer are the greatest.
    static func box(_ text: Substring) -> ImageJob.Box? {
        let corners = text.split(separator: ":", omittingEmptySubsequences: false)
        guard corners.count == 2 else { return nil }
        let numbers = corners.flatMap { $0.split(separator: "x", omittingEmptySubsequences: false) }
        guard numbers.count == 4, corners.allSatisfy({ $0.contains("x") }),
            numbers.allSatisfy({ !$0.isEmpty && isDigits($0) })
        else { return nil }
        let values = numbers.map { Int($0) ?? .max }
        return ImageJob.Box(left: values[0], top: values[1], right: values[2], bottom: values[3])
    }

    /// Whether the text may stand before the parts: `unsafe`, or the 20 bytes of SHA-1 in URL-safe base64 with padding, whichever key
    /// made them. thumbor's own pattern asks for 28 characters.
    static func isSignature(_ text: String) -> Bool {
        if text == "unsafe" { return true }
        let digits = text.utf8.dropLast()
        guard digits.count == 27, text.utf8.last == UInt8(ascii: "="), let last = digits.last else { return false }
        // The last digit has four bits of the last byte, and two that are not used.
        return digits.allSatisfy { AddressText.base64Digit($0) != nil }
            && AddressText.base64Digit(last).map { $0 & 3 == 0 } == true
    }

    static func isDigits(_ text: some StringProtocol) -> Bool {
        text.utf8.allSatisfy { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }
    }
}
