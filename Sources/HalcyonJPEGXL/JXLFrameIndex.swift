import HalcyonCodecs
import HalcyonImage

/// The frames of a codestream, of which the headers are read as they arrive.
struct JXLFrameIndex {
    /// A frame, shown or not.
    struct Frame {
        let header: JXLFrameHeader
        /// The range of its bytes in the codestream, which may end after the codestream does.
        let bytes: Range<Int>
        /// The offset behind its header.
        var bodyStart: Int { bytes.lowerBound + header.headerBytes }
    }

    /// More frames than an image has, hidden ones included. Each takes 200 bytes here, and six of the file.
    private static let maximumFrames = 16_384

    private(set) var frames: [Frame] = []
    /// The offset of the next frame, up to which headers have been read and checked.
    private(set) var end: Int
    /// The pixels of all frames.
    private(set) var pixels = 0
    private let image: JXLImageHeader
    private var isPreview: Bool
    /// The most bytes that libjxl takes for one of the frames.
    private var frameBytes = 0
    /// The most pixels of a frame that is kept in each place.
    private var keptPixels: [Int: Int] = [:]
    private var isBlended = false
    /// The bytes of the frames with parts that come too early, and the number of the first that may not be there as a whole.
    private var unordered: [Range<Int>] = []
    private var firstUnordered = 0
    /// The number of bytes behind `end` from which on the next header is read again, after it was not there as a whole: a list of
    /// parts is as long as the sender likes.
    private var worthReading = 0

    /// - Parameter offset: the offset of the first frame, or of the preview before it.
    init(_ header: JXLImageHeader, from offset: Int) {
        (image, isPreview, end) = (header, header.previewSize != nil, offset)
    }

    var hasLast: Bool { frames.last?.header.isLast == true }

    /// Returns whether all frames are there.
    func isWhole(within byteCount: Int) -> Bool { hasLast && end <= byteCount }

    /// Returns the number of bytes that libjxl may have of a codestream that arrives: those whose header has been checked, without a
    /// frame that has parts before those that they depend on. libjxl 0.7 reads the others from any bytes; of such a frame, which no known
    /// encoder writes, it would have to keep parts for later.
    mutating func readyBytes(of byteCount: Int) -> Int {
        while firstUnordered < unordered.count, unordered[firstUnordered].upperBound <= byteCount {
            firstUnordered += 1
        }
        let ready = min(byteCount, end)
        return firstUnordered < unordered.count ? min(ready, unordered[firstUnordered].lowerBound) : ready
    }

    /// The most memory that libjxl takes for one of the frames, in bytes, with those that others refer to.
    var workingBytes: Int {
        let channels = 3 + image.extraChannels.count
        let canvas = image.size.area ?? .max
        // Frames that are blended, and pixels of more than 8 bits, are kept as floating point before they are rounded.
        let isWhole = image.isDeep || isBlended
        // Measured with libjxl 0.7: where a frame takes the place of another one, up to 5.5 bytes a pixel more.
        let replacing = isBlended && !keptPixels.isEmpty ? 8 : 0
        return keptPixels.values.reduce(frameBytes) { $0.adding(channels * 4, times: $1) }
            .adding(isWhole ? channels * 4 : 0, times: canvas).adding((image.isDeep ? 8 : 0) + replacing, times: canvas)
            .adding(image.isInk ? 1 : 0, times: canvas).adding(1, times: 2 << 20)
    }

    /// Reads the headers of further frames, as far as they are there.
    ///
    /// - Throws: `CodecError.damaged`, `.limitExceeded`.
    mutating func read(_ codestream: ByteReader) throws {
        while !hasLast, end < codestream.count {
            let available = codestream.count - end
            guard available >= worthReading else { return }
            let header = try JXLFrameHeader.read(codestream, at: end, of: image, isPreview: isPreview)
            guard let header else { return worthReading = available.adding(1, times: available / 8 + 1) }
            worthReading = 0
            let next = end.adding(1, times: header.headerBytes).adding(1, times: header.bodyBytes)
            if !isPreview { append(Frame(header: header, bytes: end..<next)) }
            pixels = pixels.adding(1, times: header.size.area ?? .max)
            guard frames.count <= Self.maximumFrames else {
                throw CodecError.limitExceeded("frames", value: frames.count, limit: Self.maximumFrames)
            }
            (end, isPreview) = (next, false)
        }
    }

    private mutating func append(_ frame: Frame) {
        frames.append(frame)
        let (header, pixels) = (frame.header, frame.header.size.area ?? .max)
        let kept = max(pixels, header.isDrawn ? image.size.area ?? .max : 0)
        let channels = 3 + image.extraChannels.count
        let bytes = header.channelBytes(hasExtraChannels: !image.extraChannels.isEmpty)
        frameBytes = max(frameBytes, 0.adding(channels * bytes, times: pixels))
        if let slot = header.slot { keptPixels[slot] = max(keptPixels[slot] ?? 0, kept) }
        if !header.replacesAll { isBlended = true }
        if !header.comesInTurn { unordered.append(frame.bytes) }
    }
}
