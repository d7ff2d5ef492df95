/// A colour in sRGB with channels from 0 to 1 that are not premultiplied by alpha.
public struct Color: Hashable, Sendable, CustomStringConvertible {
    /// The red component, from 0 to 1, not premultiplied. Finite values outside are clamped when the colour is used.
    public var red: Double
    /// The green component, from 0 to 1, not premultiplied.
    public var green: Double
    /// The blue component, from 0 to 1, not premultiplied.
    public var blue: Double
    /// The opacity, from 0 (transparent) to 1 (opaque).
    public var alpha: Double

    /// Creates a colour from components that are not premultiplied.
    ///
    /// - Parameter alpha: The opacity; 1, opaque, by default.
    public init(red: Double, green: Double, blue: Double, alpha: Double = 1) {
        self.red = red
        self.green = green
        self.blue = blue
        self.alpha = alpha
    }

    /// Creates a grey, from 0 (black) to 1 (white).
    ///
    /// - Parameter alpha: The opacity; 1, opaque, by default.
    public init(white: Double, alpha: Double = 1) {
        self.init(red: white, green: white, blue: white, alpha: alpha)
    }

    /// Parses `#rgb`, `#rgba`, `#rrggbb` or `#rrggbbaa`, with or without the `#`; nil for any other text.
    public init?(hex: String) {
        let digits = (hex.hasPrefix("#") ? hex.dropFirst() : hex[...]).map(\.hexDigitValue)
        guard [3, 4, 6, 8].contains(digits.count), !digits.contains(nil) else { return nil }
        let nibbles = digits.compactMap { $0 }
        let width = nibbles.count < 6 ? 1 : 2
        // In steps and with explicit types: a single expression is too complex for the type checker.
        let channels = stride(from: 0, to: nibbles.count, by: width).map { (start: Int) -> Double in
            let byte: Int = width == 1 ? nibbles[start] * 17 : nibbles[start] * 16 + nibbles[start + 1]
            return Double(byte) / 255
        }
        self.init(
            red: channels[0], green: channels[1], blue: channels[2], alpha: channels.count == 4 ? channels[3] : 1)
    }

    /// Creates the colour of premultiplied bytes, as bitmaps hold them.
    package init(premultipliedBlue blue: UInt8, green: UInt8, red: UInt8, alpha: UInt8) {
        guard alpha > 0 else {
            self = .clear
            return
        }
        // Divided, not multiplied by the inverse, so that a channel as large as alpha is exactly 1.
        func channel(_ value: UInt8) -> Double { min(1, Double(value) / Double(alpha)) }
        self.init(
            red: channel(red), green: channel(green), blue: channel(blue), alpha: Double(alpha) / 255)
    }

    /// The transparent colour: black with an alpha of 0.
    public static let clear = Color(white: 0, alpha: 0)
    /// The colour black, opaque.
    public static let black = Color(white: 0)
    /// The colour white, opaque.
    public static let white = Color(white: 1)

    /// Whether every channel is finite. Finite channels above 1 or below 0 are allowed; they are clamped when used.
    package var isFinite: Bool { red.isFinite && green.isFinite && blue.isFinite && alpha.isFinite }

    /// The colour with each channel clamped to 0...1.
    package var clamped: Color {
        func unit(_ value: Double) -> Double { min(max(value, 0), 1) }
        return Color(red: unit(red), green: unit(green), blue: unit(blue), alpha: unit(alpha))
    }

    /// The colour as `#rrggbb`, or `#rrggbbaa` if it is not opaque; `#?` if a channel is not finite.
    public var description: String {
        guard isFinite else { return "#?" }
        let color = clamped
        func digits(_ value: Double) -> String {
            let byte = UInt8((value * 255).rounded())
            return (byte < 16 ? "0" : "") + String(byte, radix: 16)
        }
        let opaque = "#" + digits(color.red) + digits(color.green) + digits(color.blue)
        return color.alpha == 1 ? opaque : opaque + digits(color.alpha)
    }
}

extension KeyEncoder {
    /// Encodes the red, green, blue and alpha components, in this order and unclamped.
    public mutating func encode(_ color: Color) {
        for channel in [color.red, color.green, color.blue, color.alpha] { encode(channel) }
    }
}
