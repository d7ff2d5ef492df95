/// The most bytes that the pixels of a frame may take, four a pixel.
public struct ByteLimit: Hashable, Sendable, ExpressibleByIntegerLiteral {
    /// Below 4 counts as one pixel.
    public var bytes: Int

    public init(_ bytes: Int) { self.bytes = bytes }

    public init(integerLiteral value: Int) { bytes = value }

    /// 60 MiB, about 15.7 million pixels: what a large photograph is shown at without loss that anyone sees.
    public static let large = ByteLimit(60 << 20)
}
