import Halcyon
import HalcyonProcessing

/// Parsers of the parts of a processor's value. Each function returns nil for a text of another form.
enum PartReader {
    static func number(_ text: Substring) -> Double? { Double(text) }

    static func integer(_ text: Substring) -> Int? { Int(text) }

    /// Parses `#rgb`, `#rgba`, `#rrggbb` or `#rrggbbaa`.
    static func color(_ text: Substring) -> Color? { text.hasPrefix("#") ? Color(hex: String(text)) : nil }

    static func word<Word: RawRepresentable<String>>(_ text: Substring) -> Word? { Word(rawValue: String(text)) }

    /// Parses a mode's name in small letters, its words joined by hyphens: `source-atop`.
    static func blendMode(_ text: Substring) -> BlendMode? { BlendMode.allCases.first { spelling($0) == text } }

    static func spelling(_ mode: BlendMode) -> String {
        mode.rawValue.reduce(into: "") { $0 += $1.isUppercase ? "-" + $1.lowercased() : String($1) }
    }

    /// Parses a percentage: `50%` is 0.5.
    static func share(_ text: Substring) -> Double? {
        text.hasSuffix("%") ? Double(text.dropLast()).map { $0 / 100 } : nil
    }

    /// Parses numbers that are separated by commas.
    static func numbers(_ text: Substring) -> [Double]? { list(text, number) }

    /// Parses an anchor: `50%,0%`.
    static func anchor(_ text: Substring) -> (x: Double, y: Double)? {
        guard let shares = list(text, share), shares.count == 2 else { return nil }
        return (shares[0], shares[1])
    }

    /// Parses a width alone: `320x`.
    static func width(_ text: Substring) -> Int? { text.hasSuffix("x") ? Int(text.dropLast()) : nil }

    /// Parses a height alone: `x240`.
    static func height(_ text: Substring) -> Int? { text.hasPrefix("x") ? Int(text.dropFirst()) : nil }

    /// Parses a size and an optional anchor, the middle by default: `WxH` or `WxH@X%,Y%`.
    static func anchored(_ text: Substring) -> (size: PixelSize, x: Double, y: Double)? {
        let pair = text.split(separator: "@", omittingEmptySubsequences: false)
        guard let size = SizeArgument.size(pair[0]), pair.count <= 2 else { return nil }
        if pair.count == 1 { return (size, 0.5, 0.5) }
        return anchor(pair[1]).map { (size, $0.x, $0.y) }
    }

    /// Parses a size with a place that has a name: `WxH@smart`.
    static func size(_ text: Substring, at place: String) -> PixelSize? {
        text.hasSuffix(place) ? SizeArgument.size(text.dropLast(place.count)) : nil
    }

    /// Parses a rectangle: `WxH@X,Y`.
    static func rect(_ text: Substring) -> PixelRect? {
        let pair = text.split(separator: "@", omittingEmptySubsequences: false)
        guard pair.count == 2, let size = SizeArgument.size(pair[0]), let place = list(pair[1], integer),
            place.count == 2
        else { return nil }
        return PixelRect(x: place[0], y: place[1], width: size.width, height: size.height)
    }

    /// Parses a radius: pixels, a fraction of the width, `10%`, or a fraction of the height, `10%h`.
    static func radius(_ text: Substring) -> CornerRadius? {
        if text.hasSuffix("%h") { return share(text.dropLast()).map { .heightFraction($0) } }
        return share(text).map { .widthFraction($0) } ?? number(text).map { .pixels($0) }
    }

    /// Parses corners: `tl,tr`, of top and bottom, left and right.
    static func corners(_ text: Substring) -> RectCorner? {
        let names: [Substring: RectCorner] = [
            "tl": .topLeft, "tr": .topRight, "br": .bottomRight, "bl": .bottomLeft,
        ]
        return list(text) { names[$0] }.map { RectCorner($0) }
    }

    /// Parses a border: `4` or `4,#fff`.
    static func border(_ text: Substring) -> ImageBorder? {
        let pair = text.split(separator: ",", omittingEmptySubsequences: false)
        guard let width = number(pair[0]), pair.count <= 2 else { return nil }
        if pair.count == 1 { return ImageBorder(width: width) }
        return color(pair[1]).map { ImageBorder(width: width, color: $0) }
    }

    /// Parses insets: `10` for all sides, or `TOP,LEFT,BOTTOM,RIGHT`.
    static func insets(_ text: Substring) -> PadProcessor.Amount? {
        guard let sides = list(text, integer), sides.count == 1 || sides.count == 4 else { return nil }
        let side = { sides[$0 % sides.count] }
        return .insets(top: side(0), left: side(1), bottom: side(2), right: side(3))
    }

    /// Parses twenty numbers, row by row, of the columns red, green, blue, alpha and bias; or twelve numbers, without
    /// alpha.
    static func matrix(_ text: Substring) -> ColorMatrix? {
        guard let values = numbers(text) else { return nil }
        func row(_ start: Int) -> ColorMatrix.Row {
            .init(values[start], values[start + 1], values[start + 2], values[start + 3], bias: values[start + 4])
        }
        func plainRow(_ start: Int) -> ColorMatrix.Row {
            .init(values[start], values[start + 1], values[start + 2], bias: values[start + 3])
        }
        return switch values.count {
        case 20: ColorMatrix(red: row(0), green: row(5), blue: row(10), alpha: row(15))
        case 12: ColorMatrix(red: plainRow(0), green: plainRow(4), blue: plainRow(8))
        default: nil
        }
    }

    private static func list<Value>(_ text: Substring, _ read: (Substring) -> Value?) -> [Value]? {
        let parts = text.split(separator: ",", omittingEmptySubsequences: false)
        let values = parts.compactMap(read)
        return values.count == parts.count ? values : nil
    }
}
