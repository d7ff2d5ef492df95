extension EncodeOptions {
    /// An opaque sRGB colour.
    public struct Background: Hashable, Sendable {
        public var red: UInt8
        public var green: UInt8
        public var blue: UInt8

        public init(red: UInt8, green: UInt8, blue: UInt8) {
            self.red = red
            self.green = green
            self.blue = blue
        }

        public static let white = Background(red: 255, green: 255, blue: 255)
        public static let black = Background(red: 0, green: 0, blue: 0)

        /// The colour as `0xRRGGBB`.
        var packed: Int { Int(red) << 16 | Int(green) << 8 | Int(blue) }
    }
}
