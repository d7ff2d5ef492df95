/// The chromaticities of the white point and the three primaries in the CIE 1931 diagram. Primaries that enclose no
/// area are ignored.
public struct ColorPrimaries: Hashable, Sendable {
    /// A chromaticity, with each coordinate from 0 to 1.
    public struct Point: Hashable, Sendable {
        public var x: Double
        public var y: Double

        public init(_ x: Double, _ y: Double) {
            self.x = x
            self.y = y
        }
    }

    public var white: Point
    public var red: Point
    public var green: Point
    public var blue: Point

    public init(white: Point, red: Point, green: Point, blue: Point) {
        self.white = white
        self.red = red
        self.green = green
        self.blue = blue
    }

    private static let d65 = Point(0.3127, 0.3290)

    /// The primaries of ITU-R BT.709, which sRGB shares.
    public static let bt709 = ColorPrimaries(
        white: d65, red: Point(0.64, 0.33), green: Point(0.30, 0.60), blue: Point(0.15, 0.06))
    /// The primaries of ITU-R BT.2020.
    public static let bt2020 = ColorPrimaries(
        white: d65, red: Point(0.708, 0.292), green: Point(0.170, 0.797), blue: Point(0.131, 0.046))
    /// The primaries of SMPTE EG 432-1, known as Display P3.
    public static let displayP3 = ColorPrimaries(
        white: d65, red: Point(0.680, 0.320), green: Point(0.265, 0.690), blue: Point(0.150, 0.060))

    /// Whether lcms2 can build a profile from the primaries: they form a triangle, and no point has a y of zero.
    var isUsable: Bool {
        let points = [white, red, green, blue]
        guard points.allSatisfy({ $0.x >= 0 && $0.x <= 1 && $0.y > 1e-4 && $0.y <= 1 }) else { return false }
        let area = (green.x - red.x) * (blue.y - red.y) - (blue.x - red.x) * (green.y - red.y)
        return abs(area) > 1e-3
    }
}
