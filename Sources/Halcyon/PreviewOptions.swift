/// The pace and the look of a pipeline's previews.
///
///     configuration.previews.interval = .milliseconds(500)
public struct PreviewOptions: Hashable, Sendable {
    /// The time after which there is a new preview although the number of bytes has not doubled, 150 ms by default. Zero,
    /// or less, makes a preview of all that arrives, one at a time and within the cost that all previews may have.
    public var interval: Duration = .milliseconds(150)
    /// Whether previews of the first five scans of a progressive JPEG are blurred, the first one most, so that they show
    /// no blocks. False by default. The radii are pixels of the decoded image; the cost of a blur counts as that of a
    /// preview.
    public var blursFirstScans = false

    /// Whether the previews of a JPEG begin with the thumbnail in its EXIF data, enlarged to the size of the image, on
    /// which the rows are drawn as they arrive, and the thumbnail of a HEIC or AVIF is its preview. False by default: a
    /// program that edits a picture may leave the thumbnail as it was.
    ///
    /// It is there with the first few KiB of a JPEG, and somewhere in the first megabyte of others. A thumbnail of
    /// another aspect ratio than the picture's is not shown, as those with black bars have, nor is one of more than 512
    /// pixels a side. Cost: decoding and enlarging it, and the memory of one more bitmap of the image's size until the
    /// rows cover it.
    public var showsEmbeddedThumbnail = false

    /// Creates the default options.
    public init() {}

    /// Returns the radius in pixels by which a preview of a number of scans is blurred; nil for none. A number below 1
    /// counts as 1.
    func blurRadius(scans: Int?) -> Double? {
        guard blursFirstScans, let scans, scans < 6 else { return nil }
        return Double(max(2, 14 - 4 * max(1, scans)))
    }
}
