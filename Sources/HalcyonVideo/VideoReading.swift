import CHalcyonVideo
import HalcyonCodecs
import HalcyonImage
import HalcyonSystem

/// The reading of one frame, on a thread that may wait.
struct VideoReading {
    private let frame: VideoFrame
    private let descriptor: Int32
    private let context: WorkContext

    init(_ frame: VideoFrame, descriptor: Int32, context: WorkContext) {
        (self.frame, self.descriptor, self.context) = (frame, descriptor, context)
    }

    /// - Throws: the errors of `VideoFrame.image()`.
    func image() throws -> Image {
        let admission = VideoAdmission(limits: frame.limits, budget: frame.budget, context: context)
        // Also after an error, when the decoder has ended.
        defer { admission.release() }
        let (nanoseconds, fraction) = frame.position.clamped
        var request = halcyon_video_request()
        request.descriptor = descriptor
        request.choice = choice
        request.time = nanoseconds ?? 0
        request.fraction = fraction ?? -1
        request.time_limit = VideoFrame.Position.time(frame.timeLimit).clamped.nanoseconds ?? 0
        request.is_cancelled = { VideoAdmission.of($0).context.isCancelled }
        request.admit = { VideoAdmission.of($0).admits(PixelSize(Int($1), Int($2))) }
        request.context = Unmanaged.passUnretained(admission).toOpaque()

        var found = halcyon_video_frame()
        var status = HALCYON_VIDEO_DAMAGED
        var text = [CChar](repeating: 0, count: 256)
        guard let video = halcyon_video_read(&request, &found, &status, &text) else {
            throw BitmapError.outOfMemory(bytes: 0)
        }
        defer { halcyon_video_close(video) }
        guard status == HALCYON_VIDEO_OK else {
            let end = text.firstIndex(of: 0) ?? text.endIndex
            throw error(
                status, String(decoding: text[..<end].map { UInt8(bitPattern: $0) }, as: UTF8.self), admission)
        }
        return try image(of: found, video)
    }

    private var choice: halcyon_video_choice {
        switch frame.choice {
        case .closestKeyFrame: HALCYON_VIDEO_CLOSEST
        case .previousKeyFrame: HALCYON_VIDEO_PREVIOUS
        case .nextKeyFrame: HALCYON_VIDEO_NEXT
        case .exact: HALCYON_VIDEO_EXACT
        }
    }

    private func error(_ status: halcyon_video_status, _ text: String, _ admission: VideoAdmission) -> any Error {
        switch status {
        case HALCYON_VIDEO_CANCELLED: CancellationError()
        case HALCYON_VIDEO_TIMED_OUT: VideoFrameError.timedOut(frame.timeLimit)
        case HALCYON_VIDEO_REFUSED: admission.refusal ?? CancellationError()
        case HALCYON_VIDEO_NOT_VIDEO: VideoFrameError.notAVideo(text)
        case HALCYON_VIDEO_NO_STREAM: VideoFrameError.noVideoStream
        case HALCYON_VIDEO_NO_DECODER: VideoFrameError.noDecoder(text)
        case HALCYON_VIDEO_NO_DURATION: VideoFrameError.unknownDuration
        case HALCYON_VIDEO_UNAVAILABLE: VideoFrameError.unavailable(text)
        default: VideoFrameError.damaged(text)
        }
    }

    /// Makes the pixels square, fits them to the box, and turns them upright.
    private func image(of found: halcyon_video_frame, _ video: OpaquePointer) throws -> Image {
        let stored = PixelSize(Int(found.width), Int(found.height))
        let shown = try Self.squared(stored, found)
        let orientation = Orientation(rawValue: Int(found.orientation)) ?? .up
        let bitmap = try Bitmap(size: stored) { bytes in
            var isOpaque = false
            guard let base = bytes.baseAddress?.assumingMemoryBound(to: UInt8.self),
                halcyon_video_copy(video, base, &isOpaque)
            else { throw VideoFrameError.damaged("its pixels cannot be read") }
            return isOpaque
        }
        var box = shown
        if let maximum = frame.maximumSize {
            guard !maximum.isEmpty else { throw BitmapError.invalidSize(maximum) }
            box =
                ResizeGeometry(source: shown, box: orientation.applied(to: maximum), mode: .fit, upscale: false)
                .size
        }
        let geometry = ResizeGeometry(source: stored, box: box, mode: .stretch, upscale: true)
        let upright = try bitmap.resampled(geometry, context: context).oriented(orientation)
        return Image(
            bitmap: upright,
            info: ImageInfo(
                format: .bitmap, size: orientation.applied(to: shown), hasAlpha: !bitmap.isOpaque,
                orientation: orientation))
    }

    /// Returns the size with pixels as wide as they are high: one side is longer, and no detail is lost.
    private static func squared(_ size: PixelSize, _ found: halcyon_video_frame) throws -> PixelSize {
        let ratio = Double(found.pixel_width) / Double(found.pixel_height)
        // The memory that is reserved suffices for four times the pixels.
        guard ratio >= 0.25, ratio <= 4 else {
            throw VideoFrameError.damaged("its pixels have the shape \(found.pixel_width):\(found.pixel_height)")
        }
        let (width, height) = (Double(size.width), Double(size.height))
        return ratio >= 1
            ? PixelSize(Int((width * ratio).rounded()), size.height)
            : PixelSize(size.width, Int((height / ratio).rounded()))
    }
}

/// The limits and the memory of one reading, which threads of GStreamer ask as well.
final class VideoAdmission: Sendable {
    private struct State {
        var reserved = 0
        var refusal: (any Error)?
    }

    /// The bytes for each pixel: a decoder's frames, of which codecs refer to up to sixteen, and four bitmaps.
    private static let bytesPerPixel = 40

    let context: WorkContext
    private let limits: DecodeLimits
    private let budget: DecodeBudget
    private let state = Lock(State())

    init(limits: DecodeLimits, budget: DecodeBudget, context: WorkContext) {
        (self.limits, self.budget, self.context) = (limits, budget, context)
    }

    /// The error with which a size was refused.
    var refusal: (any Error)? { state.withLock { $0.refusal } }

    static func of(_ pointer: UnsafeMutableRawPointer?) -> VideoAdmission {
        guard let pointer else { preconditionFailure("a request has a context") }
        return Unmanaged<VideoAdmission>.fromOpaque(pointer).takeUnretainedValue()
    }

    /// Reserves the memory for a size, and waits for it.
    func admits(_ size: PixelSize) -> Bool {
        do {
            try limits.check(size)
            let count = 0.adding(Self.bytesPerPixel, times: max(0, size.area ?? .max))
            try budget.check(count)
            let former = state.withLock { state -> Int? in
                guard count > state.reserved else { return nil }
                defer { state.reserved = 0 }
                return state.reserved
            }
            guard let former else { return true }
            // A video that grows gives up what it has: two that wait for each other would wait for ever.
            budget.bytes.release(former)
            try budget.bytes.waitForReservation(of: count, context: context)
            state.withLock { $0.reserved = count }
            return true
        } catch {
            state.withLock { $0.refusal = error }
            return false
        }
    }

    func release() {
        let reserved = state.withLock { state in
            defer { state.reserved = 0 }
            return state.reserved
        }
        budget.bytes.release(reserved)
    }
}
