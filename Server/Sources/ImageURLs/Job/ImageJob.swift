/// All that the URL of a picture asks for, whichever grammar it was written in.
///
/// The order of the work is the order of the members, not of the URL: trim, crop, turn, resize, cut by `gravity`, `effects`,
/// extend, pad, lay on the `background`, watermark, encode. Each member documents its default, with which it changes nothing.
public struct ImageJob: Sendable, Hashable {
    /// The address of the picture, with characters that no URL may hold percent-encoded. Not checked: see ``SourceRules``.
    public var source: String

    /// Removes a border of one colour. `nil` by default. Not for animations.
    public var trim: Trim?
    /// The part of the picture that is used, before it is resized. `nil`, all of it, by default.
    public var crop: Crop?
    /// Whether the orientation that the file states is applied. `true` by default.
    public var autoRotate = true
    /// Quarter turns clockwise, 0...3, after the orientation of the file and before the resize. 0 by default.
    public var quarterTurns = 0
    /// Mirrors the picture, after `quarterTurns` and before the cut. Neither by default.
    public var flip = Flip()
    /// The size and how it is reached.
    public var resize = Resize()
    /// The part that remains where the size asks for a cut. The centre by default.
    public var gravity = Gravity.center

    /// Work on the pixels after the cut, in this order. None by default.
    public var effects: [Effect] = []

    /// Place of the picture on a canvas of the asked size, if it is smaller. `nil`, no canvas, by default.
    public var extend: Gravity?
    /// Place of the picture on a canvas of the asked ratio of sides. `nil`, no canvas, by default.
    public var extendAspectRatio: Gravity?
    /// Room around the picture, which enlarges it. None by default.
    public var padding = Padding()
    /// The colour behind what is transparent, and of the room around the picture. `nil`, transparent, by default.
    public var background: Color?
    /// The picture that is placed on top of all else. `nil` by default.
    public var watermark: Watermark?

    /// The metadata that is left out of the result.
    public var metadata = Metadata()
    /// Whether the thumbnail in a HEIC or AVIF file is taken instead of its picture, if there is one. `false` by default.
    public var enforceThumbnail = false
    /// The format and quality of the result.
    public var output = Output()

    /// Formats that are passed on as they are if the result is to have the same format. None by default.
    public var skipProcessing: Set<Format> = []
    /// Whether the bytes of the source are passed on, whatever they are. `false` by default.
    public var raw = false
    /// Text without a meaning that makes this job another one for caches. `nil` by default.
    public var cachebuster: String?

    /// Unix time in seconds after which the URL is no longer answered. `nil`, never, by default.
    public var expires: Int64?
    /// Name of the file in `Content-Disposition`. `nil`, that of the source, by default.
    public var filename: String?
    /// Whether browsers are told to save the picture instead of showing it. `false` by default.
    public var attachment = false

    /// Limits in place of those configured. None by default, and only from URLs that may set them.
    public var limits = SourceLimits()

    /// A job that shows a picture as it is.
    public init(source: String) {
        self.source = source
    }

    /// The addresses that the job reads, its watermark's included: each has to be checked by ``SourceRules``.
    public var sources: [String] {
        var sources = raw ? [source] : [source] + effects.compactMap(\.source)
        if !raw, case .url(let address)? = watermark?.picture { sources.append(address) }
        return sources
    }

    /// Whether the URL is no longer valid: `expires` is before `now`, both in Unix seconds. 0 and less is never.
    public func isExpired(now: Int64) -> Bool {
        guard let expires, expires > 0 else { return false }
        return expires < now
    }

    /// The job for a client that states its screen and the width of the picture in its layout (`Sec-CH-DPR`,
    /// `Sec-CH-Width`).
    ///
    /// A ratio or width in the URL wins. The width of the client is in physical pixels, so it is divided by its ratio. A
    /// hint that is no sensible number, or would make the result larger than ``Bounds/side``, is ignored.
    public func applying(dpr: Double?, width: Int?) -> ImageJob {
        let ratio = dpr.flatMap { (Bounds.factor...Bounds.dpr).contains($0) ? $0 : nil }
        var job = self
        if job.resize.dpr == nil { job.resize.dpr = ratio }
        if job.resize.width == .unset {
            job.resize.width = .follows
            if let width, (1...Bounds.side).contains(width) {
                let pixels = (Double(width) / (ratio ?? 1)).rounded()
                job.resize.width = .pixels(Int(min(max(pixels, 1), Double(Bounds.side))))
            }
        }
        if job.resize.height == .unset { job.resize.height = .follows }
        if job.exceedsBounds {
            job.resize.dpr = resize.dpr
            if resize.width == .unset { job.resize.width = .follows }
        }
        if job.resize.dpr == nil { job.resize.dpr = 1 }
        return job
    }

    /// Whether the size that is asked for, or the room around it, is larger than ``Bounds/side`` after all factors.
    var exceedsBounds: Bool {
        let dpr = resize.dpr ?? 1
        let widths = [resize.width.pixels, resize.minWidth].map { Double($0) * dpr * resize.zoomX }
        let heights = [resize.height.pixels, resize.minHeight].map { Double($0) * dpr * resize.zoomY }
        let room = [padding.top, padding.right, padding.bottom, padding.left].map { Double($0) * dpr }
        return (widths + heights + room).contains { $0 > Double(Bounds.side) }
    }
}

extension ImageJob {
    /// Limits of all numbers in URLs, and of URLs themselves.
    public enum Bounds {
        /// Pixels of a side, an offset or a radius.
        public static let side = 100_000
        /// The greatest ratio of device pixels.
        public static let dpr = 16.0
        /// The greatest factor of `zoom`.
        public static let zoom = 100.0
        /// The smallest factor of both.
        public static let factor = 0.001
        /// Standard deviation of a blur, in pixels.
        public static let sigma = 500.0
        /// Bytes of a path.
        public static let path = 8192
        /// Options in one path, as well as filters in thumbor's and arguments of one option.
        public static let options = 64
        /// Options that the presets of one path make of it.
        public static let expandedOptions = 512
    }
}
