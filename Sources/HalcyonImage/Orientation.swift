/// The transformation that turns stored pixels upright: the eight values of the EXIF orientation tag.
public enum Orientation: Int, Sendable, Hashable, CaseIterable {
    /// Stored upright.
    case up = 1
    /// Mirrored left to right.
    case upMirrored = 2
    /// Turned by 180 degrees.
    case down = 3
    /// Mirrored top to bottom.
    case downMirrored = 4
    /// Mirrored along the main diagonal.
    case leftMirrored = 5
    /// Needs a turn by 90 degrees clockwise.
    case right = 6
    /// Mirrored along the other diagonal.
    case rightMirrored = 7
    /// Needs a turn by 90 degrees counter-clockwise.
    case left = 8

    /// Whether the upright width and height are the stored height and width.
    public var swapsSides: Bool { rawValue >= 5 }

    /// The orientation that turns upright pixels back to how a file with this orientation stores them.
    public var inverse: Orientation {
        switch self {
        case .right: .left
        case .left: .right
        default: self
        }
    }

    /// Returns the upright size of pixels that are stored with `size`, and the other way round.
    public func applied(to size: PixelSize) -> PixelSize {
        swapsSides ? size.transposed : size
    }
}
