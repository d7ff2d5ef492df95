/// Where something smaller sits in something larger: 0 is left or top, 0.5 the middle, 1 right or bottom.
enum Anchor {
    /// Whole pixels before it, of `room` that it leaves. Clamped to 0...1.
    static func offset(_ anchor: Double, room: Int) -> Int {
        Int((min(max(anchor, 0), 1) * Double(room)).rounded())
    }
}
