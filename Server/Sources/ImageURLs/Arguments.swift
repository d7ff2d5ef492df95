/// The arguments of one option, with the checks that all grammars share.
///
/// A value that is missing or empty is `nil`: its default stays.
struct Arguments {
    /// The option as it stands in the URL.
    let option: String
    let values: [Substring]

    init(_ option: some StringProtocol, _ values: [Substring]) {
        (self.option, self.values) = (String(option), values)
    }

    subscript(index: Int) -> Substring? {
        index < values.count && !values[index].isEmpty ? values[index] : nil
    }

    /// The arguments from this one on.
    func dropping(_ count: Int) -> Arguments {
        Arguments(option, Array(values.dropFirst(count)))
    }

    /// Refuses more arguments than the option has.
    func limited(to count: Int) throws(ImageURLError) {
        guard values.count > count else { return }
        throw .invalid(option, values[count], "one argument too many")
    }

    func failure(_ index: Int, _ reason: String) -> ImageURLError {
        .invalid(option, index < values.count ? values[index] : "", reason)
    }

    /// A whole number in the range.
    func integer(_ index: Int, in range: ClosedRange<Int>) throws(ImageURLError) -> Int? {
        guard let text = self[index] else { return nil }
        guard let number = Numbers.integer(text), range.contains(number) else {
            throw failure(index, "a whole number from \(range.lowerBound) to \(range.upperBound) is expected")
        }
        return number
    }

    /// A decimal number in the range.
    func number(_ index: Int, in range: ClosedRange<Double>) throws(ImageURLError) -> Double? {
        guard let text = self[index] else { return nil }
        guard let number = Numbers.decimal(text), range.contains(number) else {
            throw failure(index, "a number from \(range.lowerBound) to \(range.upperBound) is expected")
        }
        return number
    }

    /// A factor of the size, at least ``ImageJob/Bounds/factor``.
    func factor(_ index: Int, upTo bound: Double) throws(ImageURLError) -> Double? {
        try number(index, in: ImageJob.Bounds.factor...bound)
    }

    /// `1`, `t`, `true` or `0`, `f`, `false`, also with capitals as Go reads them.
    func truth(_ index: Int) throws(ImageURLError) -> Bool? {
        switch self[index] {
        case nil: nil
        case "1", "t", "T", "true", "True", "TRUE": true
        case "0", "f", "F", "false", "False", "FALSE": false
        default: throw failure(index, "1, t, true, 0, f or false is expected")
        }
    }

    /// Three or six hexadecimal digits.
    func color(_ index: Int) throws(ImageURLError) -> ImageJob.Color? {
        guard let text = self[index] else { return nil }
        guard let color = ImageJob.Color(hex: text) else {
            throw failure(index, "three or six hexadecimal digits are expected")
        }
        return color
    }

    /// A format by its name or extension.
    func format(_ index: Int) throws(ImageURLError) -> ImageJob.Format? {
        guard let text = self[index] else { return nil }
        guard let format = ImageJob.Format(name: text) else {
            throw .unknown("\(option):\(text)")
        }
        return format
    }
}

/// Numbers as URLs write them: ASCII digits with a sign and a point, without exponents, separators or words. So there is no
/// infinity and no NaN, and a text has one meaning in all locales.
enum Numbers {
    static func integer(_ text: some StringProtocol) -> Int? {
        guard text.utf8.count <= 20, form(of: text) == .integer else { return nil }
        return Int(text)
    }

    static func decimal(_ text: some StringProtocol) -> Double? {
        guard text.utf8.count <= 32, form(of: text) != nil, let number = Double(text), number.isFinite else {
            return nil
        }
        // -0 and 0 are one job.
        return number == 0 ? 0 : number
    }

    private enum Form { case integer, decimal }

    private static func form(of text: some StringProtocol) -> Form? {
        var digits = 0
        var points = 0
        for (position, character) in text.utf8.enumerated() {
            switch character {
            case UInt8(ascii: "0")...UInt8(ascii: "9"): digits += 1
            case UInt8(ascii: "."): points += 1
            case UInt8(ascii: "+"), UInt8(ascii: "-"): guard position == 0 else { return nil }
            default: return nil
            }
        }
        guard digits > 0, points <= 1 else { return nil }
        return points == 0 ? .integer : .decimal
    }
}
