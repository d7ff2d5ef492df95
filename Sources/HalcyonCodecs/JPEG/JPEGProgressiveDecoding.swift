import CHalcyonCodecs
import Foundation
import HalcyonImage
import HalcyonSystem

extension JPEGCoder: ProgressiveImageDecoder {
    /// Creates a progressive decode, which shows a progressive JPEG scan by scan and a baseline one row by row.
    package func makeProgressive(options: DecodeOptions, budget: DecodeBudget) -> any ProgressiveDecoding {
        JPEGProgressiveDecoding(options: options, budget: budget)
    }
}

extension JPEGCoder: IncompleteImageDecoder {
    /// Shows the rows of a single scan that are there, or what several scans have told so far.
    package func decodeIncomplete(_ data: Data, plan: DecodePlan, context: WorkContext) throws -> Bitmap {
        try data.read { reader in
            try JPEGScans.check(reader, size: plan.storedSize)
            // libjpeg decodes arithmetic coding only as a whole.
            guard try !JPEGHeader(reader).isArithmetic else {
                throw CodecError.damaged(.jpeg, reason: "the file was cut off")
            }
        }
        let stream = try JPEGStream(plan: plan, ink: try Self.inkTransform(for: data))
        try stream.append(data, context: context)
        if stream.progress.has_scans { try stream.end(allowsMissing: true, context: context) }
        let progress = stream.progress
        guard progress.has_scans || progress.rows > 0 else {
            throw CodecError.damaged(.jpeg, reason: "the file was cut off before its pixels")
        }
        return try stream.bitmap(context: context)
    }
}

/// A progressive decode of a JPEG, at the size that a decode of the whole file would have.
///
/// Memory: the output's pixels; for a file with scans also its coefficients, six bytes per pixel of the stored
/// image.
final class JPEGProgressiveDecoding: ProgressiveDecoding {
    private struct Started {
        let plan: DecodePlan
        let stream: JPEGStream
        let color: ColorTransform?
        /// The ICC profile of the pixels; nil if the colours are converted.
        let profile: Data?
        /// The reservation for the stream's pixels or coefficients, and for the pixels of a preview.
        let memory: DecodeBudget.Hold
    }

    private struct State {
        /// The data received before the header was complete; all data of a file that cannot be read in parts.
        var header = Data()
        var pacing = HeaderPacing()
        var isReadWhole = false
        var started: Started?
        /// The number of scans or rows that the last preview showed.
        var shown = 0
    }

    private let options: DecodeOptions
    private let budget: DecodeBudget
    /// The state, whose lock is held through a whole decode: two threads that decode the same stream have to wait
    /// for each other anyway.
    private let state = Lock(State())

    init(options: DecodeOptions, budget: DecodeBudget) {
        self.options = options
        self.budget = budget
    }

    func append(_ data: Data, context: WorkContext) throws {
        try state.withLock { state in
            if let started = state.started { return try started.stream.append(data, context: context) }
            state.header.append(data)
            guard !state.isReadWhole, state.pacing.isDue(state.header.count),
                let plan = try plan(header: state.header)
            else { return }
            state.started = try start(plan, header: state.header)
            guard let started = state.started else {
                state.isReadWhole = true
                return
            }
            try started.stream.append(state.header, context: context)
            state.header = Data()
        }
    }

    /// Starts the stream; nil if the file has to be read as a whole: libjpeg does not read arithmetic coding in
    /// parts, or there is no memory for previews beside the decodes in progress.
    private func start(_ plan: DecodePlan, header: Data) throws -> Started? {
        let coder = JPEGCoder()
        guard header.read({ try? JPEGHeader($0).isArithmetic }) == false else { return nil }
        let bytes = coder.arrivingBytes(of: header, plan: plan)
        guard let memory = budget.hold(bytes) else { return nil }
        let stream = try JPEGStream(plan: plan, ink: try JPEGCoder.inkTransform(for: header))
        let color = try ColorTransforms.shared.transform(for: plan, of: header, coder)
        let profile = plan.convertsColor ? nil : coder.embeddedProfile(of: header)
        return Started(plan: plan, stream: stream, color: color, profile: profile, memory: memory)
    }

    func preview(context: WorkContext) throws -> Image? {
        try state.withLock { state in
            guard let started = state.started else { return nil }
            let progress = started.stream.progress
            let shown = Int(progress.has_scans ? progress.scans : progress.rows)
            guard shown > state.shown else { return nil }
            let image = try Self.image(started, isPreview: true, context: context)
            state.shown = shown
            return image
        }
    }

    var shownScans: Int? {
        state.withLock { state in
            guard let started = state.started, started.stream.progress.has_scans else { return nil }
            return state.shown
        }
    }

    func finish(context: WorkContext) throws -> Image {
        try state.withLock { state in
            // The header may also have become complete after it was last parsed.
            let isUnread = try state.started == nil && plan(header: state.header) != nil
            if state.isReadWhole || isUnread {
                return try CoderRegistry([JPEGCoder()], budget: budget)
                    .decode(state.header, options: options, context: context)
            }
            try state.started?.stream.end(context: context)
            guard let started = state.started, started.stream.progress.is_finished else {
                throw CodecError.damaged(.jpeg, reason: "the file was cut off")
            }
            return try Self.image(started, isPreview: false, context: context)
        }
    }

    /// Returns the plan; nil if the pixels have not begun yet, because a profile may follow the frame header.
    private func plan(header: Data) throws -> DecodePlan? {
        let coder = JPEGCoder()
        guard let info = try? coder.probe(header), header.read({ try? JPEGHeader($0).isWhole }) == true else {
            // Data that is not a JPEG, or whose header never ends, is refused by the limit on metadata.
            try options.limits.check(metadataBytes: header.count)
            return nil
        }
        try options.limits.check(info, metadataBytes: coder.metadataByteCount(header))
        let plan = try DecodePlan(info: info, options: options, decoder: coder)
        try plan.check(options.limits)
        return plan
    }

    private static func image(_ started: Started, isPreview: Bool, context: WorkContext) throws -> Image {
        try context.checkCancellation()
        let plan = started.plan
        let native = try started.stream.bitmap(context: context)
        var info = plan.info
        info.isPreview = isPreview
        let bitmap = try CoderRegistry.finish(native, plan: plan, color: started.color, context: context)
        var image = Image(bitmap: bitmap, info: info)
        image.colorProfile = started.profile
        return image
    }
}

/// Owns the C state of a progressive decode. Must be used by one thread at a time.
final class JPEGStream {
    private let size: PixelSize
    private let stream: OpaquePointer
    /// Retained because the stream refers to it.
    private let ink: ColorTransform?

    /// Creates the stream.
    ///
    /// - Throws: `CodecError.damaged`, `BitmapError.outOfMemory`.
    init(plan: DecodePlan, ink: ColorTransform?) throws {
        size = plan.nativeSize
        self.ink = ink
        var layout = try JPEGCoder.layout(plan, ink: ink)
        guard let stream = halcyon_jpeg_stream_create(&layout) else { throw BitmapError.outOfMemory(bytes: 0) }
        self.stream = stream
    }

    deinit { halcyon_jpeg_stream_free(stream) }

    var progress: halcyon_jpeg_progress { halcyon_jpeg_stream_progress(stream) }

    func append(_ data: Data, context: WorkContext) throws {
        try CodecCall.decode(.jpeg, context: context) { call in
            data.withUnsafeBytes { bytes in
                halcyon_jpeg_stream_append(
                    stream, bytes.baseAddress?.assumingMemoryBound(to: UInt8.self), bytes.count, call)
            }
        }
    }

    /// Ends the data, which may lack its end marker, and also pixels or precision if `allowsMissing` is set.
    func end(allowsMissing: Bool = false, context: WorkContext) throws {
        try CodecCall.decode(.jpeg, context: context) { halcyon_jpeg_stream_end(stream, allowsMissing, $0) }
    }

    /// Returns the pixels that are decoded so far; opaque only if none is missing.
    func bitmap(context: WorkContext) throws -> Bitmap {
        let progress = progress
        let isWhole = progress.has_scans || Int(progress.rows) == size.height
        return try CodecCall.decode(.jpeg, size: size, isOpaque: isWhole, context: context) { bitmap, call in
            halcyon_jpeg_stream_read(stream, bitmap, call)
        }
    }
}
