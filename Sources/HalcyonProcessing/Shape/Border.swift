import HalcyonImage

/// A line along the inside of a shape's edge.
public struct Border: Hashable, Sendable {
    /// Pixels. 4 by default.
    public var width: Double
    /// Black by default.
    public var color: Color

    public init(width: Double = 4, color: Color = .black) {
        self.width = width
        self.color = color
    }

    /// - Throws: `ProcessingError.invalidArgument` where the width is negative or no number, or the colour is none.
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
