import CJXL
import Foundation
import HalcyonCodecs
import HalcyonImage
import HalcyonSystem

extension JXLCoder: ProgressiveImageDecoder {
    /// Creates a decoding that shows a still image at an eighth of its detail first, and then as its parts arrive, at most five times; an
    /// animation frame by frame. A picture that is stored in full detail alone is shown in the squares that have arrived, if they come
    /// in order, and one with alpha in its parts; what is missing is transparent. A picture that is drawn upon others, one in inks, and
    /// one with parts before those that they depend on, is shown once it is complete.
    package func makeProgressive(options: DecodeOptions, budget: DecodeBudget) -> any ProgressiveDecoding {
        ArrivingImage(
            self, options: options, budget: budget,
            isHeaderWhole: { data in
                guard let file = try? JXLFile(data) else { return false }
                // Frames that others refer to come first. Their size counts as well, but they are no metadata.
                return file.frames.contains { $0.header.kind == .regular } || data.count > 4 << 20
            },
            isAnimation: { data, _ in (try? JXLFile(data))?.header.animation != nil },
            keptBytes: { ((try? JXLFile($0)).map { JXLStream.keptBytes(of: $0) }) ?? 0 },
            makeRows: { plan, data in
                let file = try JXLFile(data)
                // The file has at least the bytes that its frames declare.
                guard (try? options.limits.check(plan.info, fileBytes: file.index.end)) != nil else { return nil }
                return try JXLStream(plan: plan, of: file)
            })
    }
}

extension JXLCoder: IncompleteImageDecoder {
    package func decodeIncomplete(_ data: Data, plan: DecodePlan, context: WorkContext) throws -> Bitmap {
        try JXLStream(plan: plan, of: try file(of: data), isArriving: false).part(of: data, .jpegXL, context: context)
    }

    package func lacksFrames(_ data: Data, info: ImageInfo) -> Bool { (try? file(of: data))?.isCut ?? true }
}

/// libjxl's side of the decode of a still image that arrives. Used by one thread at a time.
final class JXLStream: RowStream {
    /// A later part takes more memory or time than was reserved: the whole file is decoded once it is there, if it may be.
    private struct NeedsMore: Error {}

    /// The bytes beside the frames that are known, which metadata may take.
    private static let slack = 4 << 20
    /// The pixels of all frames, hidden ones included, up to which they are drawn before all are known.
    private static let maximumPixels = 1 << 28

    /// The number of pictures between the first one and the whole.
    private static let steps = 4

    private let pixels: JXLPixels
    private let converts: @Sendable (ColorProfile?) -> Bool
    private let reserved: Int
    private let keptBytes: Int
    private let isArriving: Bool
    private let output: UnsafeMutableRawBufferPointer
    private var index: JXLFrameIndex
    private var file = Data()
    private var pacing = HeaderPacing()
    private var decoder: JXLDecoder?
    private var target: JXLOutput?
    /// The number of bytes of the codestream that libjxl has.
    private var fed = 0
    private var hasOutput = false
    private var isDrawn = false
    /// The number of bytes that libjxl had when it drew what was there, of a picture that is not drawn as a whole.
    private var drawnBytes = 0
    private var isWhole = false
    private var wasJoined = false
    private(set) var rows = 0

    /// - Parameter isArriving: whether more bytes may come than those of `file`, which the plan knows.
    /// - Throws: `BitmapError.outOfMemory`.
    init(plan: DecodePlan, of file: JXLFile, isArriving: Bool = true) throws {
        self.isArriving = isArriving
        (pixels, index, reserved) = (JXLPixels(file.header), file.index, file.workingBytes)
        keptBytes = file.index.end + Self.slack
        converts = { plan.converts($0) }
        let count = plan.nativeSize.bitmapBytes
        guard let memory = calloc(1, count) else { throw BitmapError.outOfMemory(bytes: count) }
        output = UnsafeMutableRawBufferPointer(start: memory, count: count)
    }

    deinit { free(output.baseAddress) }

    /// Returns the most bytes of the file that are kept: here, in libjxl, and where parts are joined.
    static func keptBytes(of file: JXLFile) -> Int { 0.adding(3, times: file.index.end.adding(1, times: slack)) }

    var ending: RowEnding { isDrawn && isWhole ? .rows : .file(file) }

    func append(_ data: Data, context: WorkContext) throws {
        file.append(data)
        try context.checkCancellation()
        guard !isArriving || file.count <= keptBytes else { throw NeedsMore() }
        let boxes = try JXLBoxes(file)
        let count = boxes.parts.reduce(0) { $0 + $1.count }
        isWhole = !boxes.isCut && index.isWhole(within: count)
        // A codestream in several parts is copied: the last time when no more boxes follow.
        guard !isDrawn, boxes.parts.count <= 1 || !wasJoined && !boxes.isCut || pacing.isDue(file.count) else { return }
        if !boxes.isCut { wasJoined = true }
        let codestream = try boxes.codestream(in: file)
        try codestream.read { try index.read($0) }
        guard !isArriving || index.workingBytes <= reserved && index.pixels <= Self.maximumPixels else {
            throw NeedsMore()
        }
        isWhole = !boxes.isCut && index.isWhole(within: count)
        let end = index.readyBytes(of: codestream.count)
        guard end > fed else { return }
        try codestream.withUnsafeBytes { try feed(UnsafeRawBufferPointer(rebasing: $0[fed..<end]), context) }
        fed = end
        let step = step
        if step > rows, try isDrawn || decoder?.flush() == true { (rows, drawnBytes) = (step, fed) }
    }

    /// The frame that libjxl is at.
    private var frame: JXLFrameIndex.Frame? { index.frames.last { $0.bytes.lowerBound < fed } }

    /// The number of pictures that there may be to show.
    private var step: Int {
        if isDrawn { return Self.steps + 1 }
        // Squares without their black would be full of it.
        guard hasOutput, let frame, frame.header.isShown, !pixels.header.isInk, canBeDrawn(frame) else { return 0 }
        return 1 + (fed - frame.bytes.lowerBound) * (Self.steps - 1) / max(1, frame.bytes.count)
    }

    private func canBeDrawn(_ frame: JXLFrameIndex.Frame) -> Bool {
        if frame.header.canBeDrawnInPart || pixels.hasAlpha && frame.header.replacesAll { return true }
        guard let groups = groups(of: frame) else { return false }
        return fed - frame.bodyStart >= groups.firstEnd
    }

    /// The squares of a frame that is as large as the picture.
    private func groups(of frame: JXLFrameIndex.Frame) -> JXLGroups? {
        frame.header.groups.flatMap { $0.size == pixels.size ? $0 : nil }
    }

    private func feed(_ bytes: UnsafeRawBufferPointer, _ context: WorkContext) throws {
        let decoder = try self.decoder ?? start(bytes, context)
        decoder.context = context
        if self.decoder != nil { decoder.append(bytes) }
        self.decoder = decoder
        while true {
            switch try decoder.next() {
            case JXL_DEC_NEED_IMAGE_OUT_BUFFER:
                guard !hasOutput else { throw JXLFile.cutOff }
                try target?.set(output, for: decoder)
                hasOutput = true
            case JXL_DEC_FULL_IMAGE:
                isDrawn = true
                return
            case JXL_DEC_NEED_MORE_INPUT:
                // It keeps what it has not used.
                guard decoder.unreadBytes == 0 else { throw JXLFile.cutOff }
                return
            default: throw JXLFile.cutOff
            }
        }
    }

    private func start(_ bytes: UnsafeRawBufferPointer, _ context: WorkContext) throws -> JXLDecoder {
        let decoder = try JXLDecoder(
            bytes, isWhole: false, wanted: JXL_DEC_FULL_IMAGE.rawValue, dividesByAlpha: pixels.dividesByAlpha,
            context: context)
        target = try JXLOutput(pixels, of: decoder, converts: converts(decoder.profile))
        return decoder
    }

    func bitmap(context: WorkContext) throws -> Bitmap {
        let part = isDrawn || pixels.hasAlpha ? nil : frame
        let groups = part.flatMap { self.groups(of: $0) }
        return try Bitmap(size: pixels.size, isOpaque: !pixels.hasAlpha && groups == nil) { bitmap in
            guard let target else { return }
            if target.words == nil { bitmap.copyMemory(from: UnsafeRawBufferPointer(output)) }
            try pixels.finish(bitmap, of: target, context: context)
            if let part { groups?.clearMissing(of: bitmap, byteCount: drawnBytes - part.bodyStart) }
        }
    }
}
