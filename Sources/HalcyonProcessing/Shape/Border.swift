import HalcyonImage

/// A line along the inside of a shape's edge.
public struct Border: Hashable, Sendable {
    /// The width in pixels. 4 by default.
    public var width: Double
    /// The colour. Black by default.
    public var color: Color

    public init(width: Double = 4, color: Color = .black) {
        self.width = width
        self.color = color
    }

    /// - Throws: `ProcessingError.invalidArgument` if the width is negative or not finite, or a channel of the colour
    ///   is not finite.
    func validate(processor: String) throws {
        guard width.isFinite, width >= 0 else {
            throw ProcessingError.invalidArgument(processor: processor, reason: "a border of \(width) pixels")
        }
        try color.validate(processor: processor)
    }

    func encode(into key: inout KeyEncoder) {
        key.encode(width)
        key.encode(color)
    }
}

extension KeyEncoder {
    mutating func encode(_ border: Border?) {
        encode(border != nil)
        border?.encode(into: &self)
    }
}
