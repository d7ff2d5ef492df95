/// The position of a smaller rectangle in a larger one: 0 is left or top, 0.5 the middle, 1 right or bottom.
enum Anchor {
    /// Returns the offset in whole pixels, for `room` spare pixels. The anchor is clamped to 0...1.
    static func offset(_ anchor: Double, room: Int) -> Int {
        Int((min(max(anchor, 0), 1) * Double(room)).rounded())
    }
}
