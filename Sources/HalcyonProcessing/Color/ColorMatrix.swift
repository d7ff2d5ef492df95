import CHalcyonPixels
import HalcyonImage

/// A matrix over a pixel's red, green, blue and alpha, each from 0 to 1 and not premultiplied.
///
/// The results are clamped to 0...1. The matrix has four rows, one for each output channel, of five columns: one for
/// each input channel, and a bias that is added.
public struct ColorMatrix: Hashable, Sendable {
    /// The row that computes the red of the output.
    public var red: Row
    /// The row that computes the green of the output.
    public var green: Row
    /// The row that computes the blue of the output.
    public var blue: Row
    /// The row that computes the alpha of the output.
    public var alpha: Row

    /// The coefficients of an output channel.
    public struct Row: Hashable, Sendable {
        /// The factor of the input's red.
        public var red: Double
        /// The factor of the input's green.
        public var green: Double
        /// The factor of the input's blue.
        public var blue: Double
        /// The factor of the input's alpha.
        public var alpha: Double
        /// The value that is added.
        public var bias: Double

        /// Creates a row from its factors. By default alpha has no effect, and nothing is added.
        public init(_ red: Double, _ green: Double, _ blue: Double, _ alpha: Double = 0, bias: Double = 0) {
            self.red = red
            self.green = green
            self.blue = blue
            self.alpha = alpha
            self.bias = bias
        }

        var values: [Double] { [red, green, blue, alpha, bias] }
    }

    /// Creates a matrix from its rows.
    ///
    /// - Parameter alpha: The row of the alpha channel, which keeps alpha unchanged by default.
    public init(red: Row, green: Row, blue: Row, alpha: Row = Row(0, 0, 0, 1)) {
        self.red = red
        self.green = green
        self.blue = blue
        self.alpha = alpha
    }

    /// The matrix that changes nothing.
    public static let identity = ColorMatrix(red: Row(1, 0, 0), green: Row(0, 1, 0), blue: Row(0, 0, 1))

    /// The share of each channel in the luminance, by ITU-R BT.709.
    static let luma = (red: 0.2126, green: 0.7152, blue: 0.0722)

    /// Returns a matrix that changes the saturation: 0 gives grey, 1 changes nothing, more gives stronger colours.
    public static func saturation(_ amount: Double) -> ColorMatrix {
        let (red, green, blue) = (luma.red * (1 - amount), luma.green * (1 - amount), luma.blue * (1 - amount))
        return ColorMatrix(
            red: Row(red + amount, green, blue), green: Row(red, green + amount, blue),
            blue: Row(red, green, blue + amount))
    }

    /// Returns a matrix that multiplies each colour with `factor` and adds `bias`.
    public static func scale(_ factor: Double, bias: Double = 0) -> ColorMatrix {
        ColorMatrix(
            red: Row(factor, 0, 0, bias: bias), green: Row(0, factor, 0, bias: bias),
            blue: Row(0, 0, factor, bias: bias))
    }

    /// Returns the product of this matrix and the next one. Values between the two steps are not clamped.
    public func followed(by next: ColorMatrix) -> ColorMatrix {
        func row(_ next: Row) -> Row {
            let first = rows.map(\.values), factors = [next.red, next.green, next.blue, next.alpha]
            var values = [0, 0, 0, 0, next.bias]
            for (factor, row) in zip(factors, first) {
                for column in 0..<5 { values[column] += factor * row[column] }
            }
            return Row(values[0], values[1], values[2], values[3], bias: values[4])
        }
        return ColorMatrix(red: row(next.red), green: row(next.green), blue: row(next.blue), alpha: row(next.alpha))
    }

    var rows: [Row] { [red, green, blue, alpha] }

    /// Whether all values are finite as `Float`.
    var isFinite: Bool { rows.allSatisfy { $0.values.allSatisfy { Float($0).isFinite } } }

    /// Whether the output colours depend on the input colours alone, and alpha is a fraction of itself.
    var isSeparable: Bool {
        red.alpha == 0 && green.alpha == 0 && blue.alpha == 0 && alpha.red == 0 && alpha.green == 0
            && alpha.blue == 0 && alpha.bias == 0 && (0...1).contains(alpha.alpha)
    }

    var kernel: halcyon_color_matrix {
        func row(_ row: Row) -> (Float, Float, Float, Float, Float) {
            (Float(row.red), Float(row.green), Float(row.blue), Float(row.alpha), Float(row.bias))
        }
        return halcyon_color_matrix(rows: (row(red), row(green), row(blue), row(alpha)), is_separable: isSeparable)
    }
}
