/// The maximum number of bytes that the pixels of a frame may take, at four bytes a pixel.
public struct ByteLimit: Hashable, Sendable, ExpressibleByIntegerLiteral {
    /// The number of bytes; less than 4 counts as one pixel.
    public var bytes: Int

    public init(_ bytes: Int) { self.bytes = bytes }

    public init(integerLiteral value: Int) { bytes = value }

    /// 60 MiB, about 15.7 million pixels: enough to show a large photograph without visible loss.
    public static let large = ByteLimit(60 << 20)
}
