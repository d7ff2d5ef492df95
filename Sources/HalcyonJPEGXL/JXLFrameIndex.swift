import HalcyonCodecs
import HalcyonImage

/// The frames of a codestream, of which the headers are read as they arrive.
struct JXLFrameIndex {
    /// A frame, shown or not.
    struct Frame {
        let header: JXLFrameHeader
        /// The range of its bytes in the codestream, which may end after the codestream does.
        let bytes: Range<Int>
    }

    /// More frames than an image has, hidden ones included.
    private static let maximumFrames = 100_000

    private(set) var frames: [Frame] = []
    /// The offset of the next frame, up to which headers have been read and checked.
    private(set) var end: Int
    /// The pixels of all frames.
    private(set) var pixels = 0
    private let image: JXLImageHeader
    private var isPreview: Bool

    /// - Parameter offset: the offset of the first frame, or of the preview before it.
    init(_ header: JXLImageHeader, from offset: Int) {
        (image, isPreview, end) = (header, header.previewSize != nil, offset)
    }

    var hasLast: Bool { frames.last?.header.isLast == true }

    /// Returns whether all frames are there.
    func isWhole(within byteCount: Int) -> Bool { hasLast && end <= byteCount }

    /// Returns the number of bytes that libjxl may have of a codestream that arrives: those whose header has been checked, without a
    /// frame whose parts are out of order. libjxl 0.7 loses its place in such a frame unless it gets it as a whole.
    func readyBytes(of byteCount: Int) -> Int {
        let ready = min(byteCount, end)
        let unordered = frames.first { !$0.header.isOrdered && $0.bytes.upperBound > byteCount }
        return min(ready, unordered?.bytes.lowerBound ?? ready)
    }

    /// Reads the headers of further frames, as far as they are there.
    ///
    /// - Throws: `CodecError.damaged`, `.limitExceeded`.
    mutating func read(_ codestream: ByteReader) throws {
        while !hasLast, end < codestream.count {
            let header = try JXLFrameHeader.read(codestream, at: end, of: image, isPreview: isPreview)
            guard let header else { return }
            let next = end.adding(1, times: header.headerBytes).adding(1, times: header.bodyBytes)
            if !isPreview { frames.append(Frame(header: header, bytes: end..<next)) }
            pixels = pixels.adding(1, times: header.size.area ?? .max)
            guard frames.count <= Self.maximumFrames else {
                throw CodecError.limitExceeded("frames", value: frames.count, limit: Self.maximumFrames)
            }
            (end, isPreview) = (next, false)
        }
    }
}
