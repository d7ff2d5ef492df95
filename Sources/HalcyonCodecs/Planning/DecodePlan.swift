import Foundation
import HalcyonImage

/// The plan of decoding one file to one bitmap: the size to decode to, and the steps that follow the decode.
///
/// Two requests whose plans are equal can share one decode.
public struct DecodePlan: Hashable, Sendable {
    /// The frames of an animation to decode.
    public enum Frames: Hashable, Sendable {
        /// The first frame alone, as a still image.
        case first
        /// All frames, each of which is decoded when it is requested.
        case onDemand
        /// All frames, which are decoded at once and kept in memory.
        case all
    }

    /// The facts in the file's header; in that of its thumbnail, if that is decoded in place of the picture.
    public let info: ImageInfo
    /// The facts in the file's header, if its thumbnail is decoded in place of the picture.
    private(set) var picture: ImageInfo?
    /// The frames to decode; it has no effect on a still image.
    public let frames: Frames
    /// The size in pixels as stored in the file.
    public let storedSize: PixelSize
    /// The size that the decoder must deliver, in stored orientation. Never smaller than the geometry needs, so that
    /// the remaining steps only scale down.
    public let nativeSize: PixelSize
    /// The scaling from the upright image at its full size to the final size.
    package let geometry: ResizeGeometry
    /// The scaling from the native bitmap, in stored orientation, to the final size; nil if the decoder already
    /// delivers that size.
    package let residual: ResizeGeometry?

    /// The light in which that scaling averages.
    package let light: ResizeLight
    /// The filter of that scaling. Another one than Lanczos for a gain map, whose negative weights would draw dark seams into the
    /// light around bright spots.
    package private(set) var filter = ResizeFilter.lanczos

    /// The decode of the gain map; nil if none was asked for, or there is none.
    private(set) var gainMap: GainMapPlan?

    /// The value of `DecodeLimits.maximumTotalPixels`.
    let maximumTotalPixels: Int
    /// Whether pixels are converted to sRGB if a profile states that they are not sRGB.
    package let convertsColor: Bool
    /// Whether a file that was cut off is decoded to what there is of it.
    package let allowsIncomplete: Bool
    /// The format of the pixels of 16 bits a channel; nil if none are made.
    package private(set) var depth: DeepBitmap.Format?
    /// Whether the decoder delivers more than 8 bits for them.
    private(set) var isDeep = false
    /// Whether pixels of 8 bits are widened at the stored size, before they are averaged in linear light.
    private(set) var widensFirst = false
    /// Whether the rows are scaled down as they are decoded, without a bitmap of the native size.
    package private(set) var isStreamed = false
    /// The maximum number of bytes that the decode takes in addition to the data: bitmaps, the result included, and the
    /// memory of the decoder.
    public private(set) var workingBytes: Int
    /// The part of `workingBytes` for creating the colour conversion, once for all frames.
    private(set) var conversionBytes = 0
    /// The part of `workingBytes` on the heap: the memory of the decoder and `conversionBytes`.
    private(set) var heapBytes = 0

    /// The size of the upright result.
    public var finalSize: PixelSize { geometry.size }

    /// Creates the plan. This is the only place that combines the target, the byte limit and the scaling of the
    /// decoder.
    ///
    /// - Throws: `BitmapError.invalidSize` for a target without area or beyond `Bitmap.maximumSide`;
    ///   `CodecError.damaged` for an image without pixels; `CodecError.limitExceeded` if the result would exceed the
    ///   limits.
    public init(info: ImageInfo, options: DecodeOptions, decoder: any ImageDecoder) throws {
        try self.init(info, options, decoder)
    }

    /// - Parameters:
    ///   - decoder: nil for pixels that are there already, at their full size.
    ///   - data: the file, if it may hold several sizes of its picture.
    init(_ info: ImageInfo, _ options: DecodeOptions, _ decoder: (any ImageDecoder)?, of data: Data? = nil) throws {
        guard !info.size.isEmpty else { throw CodecError.damaged(info.format, reason: "it has no pixels") }
        try self.init(info, try Self.geometry(of: info, options: options), options, decoder, of: data)
    }

    /// - Parameter geometry: the scaling from the upright image at its full size, in the place of the options'.
    init(
        _ info: ImageInfo, _ geometry: ResizeGeometry, _ options: DecodeOptions, _ decoder: (any ImageDecoder)?,
        of data: Data? = nil
    ) throws {
        self.info = info
        self.geometry = geometry
        frames = options.firstFrameOnly ? .first : options.preloadAllFrames ? .all : .onDemand
        storedSize = info.storedSize
        try options.limits.check(geometry.size)

        light = options.target?.light ?? .encoded
        let needed = info.orientation.applied(to: Self.neededSize(geometry, of: info, limits: options.limits))
        let scaler = light == .linear && decoder?.scalesByAveraging == true ? nil : decoder
        let offered =
            data.flatMap { scaler?.scaledSize(of: $0, info: info, atLeast: needed) }
            ?? scaler?.scaledSize(for: info, atLeast: needed) ?? storedSize
        // A custom decoder may return an invalid size; the stored size is always right.
        let fits = offered.width >= needed.width && offered.height >= needed.height
        nativeSize = fits && !offered.isEmpty ? offered : storedSize
        residual = Self.residual(
            geometry, info: info, nativeSize: nativeSize,
            coverage: decoder?.coverage(of: info, at: nativeSize)
                ?? (Double(nativeSize.width), Double(nativeSize.height)))
        // Gains apply to the colours as they are stored.
        let keepsColor = options.decodesGainMap && info.hasGainMap && decoder is any GainMapImageDecoder
        convertsColor = options.color == .sRGB && !keepsColor
        allowsIncomplete = options.allowsIncomplete
        depth = Self.depth(of: info, options)
        maximumTotalPixels = options.limits.maximumTotalPixels
        workingBytes = nativeSize.bitmapBytes
        place = Uncompared(nil)
    }

    /// The decode by a worker; nil if this process decodes. Plans that differ in nothing else make the same image.
    var isolated: IsolatedDecode? { place.value }
    private let place: Uncompared<IsolatedDecode?>
    /// The workers that decode; nil if this process does.
    package var workers: DecodeWorkers? { isolated?.file.workers }

    /// Creates the plan of a decode by a worker.
    ///
    /// - Parameter facts: the facts that the worker found. They are checked, and only the size that the decoder delivers and the
    ///   memory that it takes are believed: a worker gets no more than this, beside what every worker has.
    init(_ facts: PlanFacts, _ options: DecodeOptions, by decode: IsolatedDecode) throws {
        info = facts.info
        guard !info.size.isEmpty else { throw CodecError.damaged(info.format, reason: "it has no pixels") }
        try options.limits.check(info)
        frames = options.firstFrameOnly ? .first : options.preloadAllFrames ? .all : .onDemand
        storedSize = info.storedSize
        geometry = try Self.geometry(of: info, options: options)
        try options.limits.check(geometry.size)
        (nativeSize, residual) = (facts.nativeSize, nil)
        light = options.target?.light ?? .encoded
        convertsColor = facts.convertsColor && options.color == .sRGB
        guard convertsColor || options.color != .sRGB || (options.decodesGainMap && info.hasGainMap) else {
            throw WireError.invalid("colours that are not converted")
        }
        allowsIncomplete = options.allowsIncomplete
        depth = Self.depth(of: info, options)
        if let depth, let space = facts.deepSpace, space != depth.colorSpace {
            guard options.keepsDynamicRange, space.isBright else { throw WireError.invalid("another colour space") }
            self.depth?.colorSpace = space
        }
        maximumTotalPixels = options.limits.maximumTotalPixels
        if options.decodesGainMap, let size = facts.gainMapSize {
            guard size.width <= geometry.size.width, size.height <= geometry.size.height else {
                throw WireError.invalid("a gain map that is larger than its picture")
            }
            gainMap = GainMapPlan(size: size)
        }
        // The map is taken from the bytes behind the pixels.
        let result = geometry.size.bitmapBytes.adding(depth == nil ? 0 : 2, times: geometry.size.bitmapBytes)
            .adding(2, times: gainMap?.size.bitmapBytes ?? 0)
        var bytes = max(facts.workingBytes.adding(1, times: gainMap?.size.bitmapBytes ?? 0), result).adding(
            1, times: decode.file.copiedBytes)
        if info.isAnimated, frames == .all {
            bytes = bytes.adding(info.frameCount, times: geometry.size.bitmapBytes)
        }
        workingBytes = bytes
        place = Uncompared(decode)
    }

    /// Checks the pixels that are decoded at once.
    ///
    /// - Throws: `CodecError.limitExceeded`.
    func check(_ limits: DecodeLimits) throws(CodecError) { try limits.check(isStreamed ? finalSize : nativeSize) }

    /// Returns whether pixels with this profile are converted.
    package func converts(_ profile: ColorProfile?) -> Bool {
        if case .icc(_, let model) = profile, model != .cmyk { return convertsColor }
        return true
    }

    /// Returns the number of bytes that converting pixels with this profile takes; 0 if they are not converted.
    func conversionBytes(of profile: ColorProfile?) -> Int { converts(profile) ? profile?.workingBytes ?? 0 : 0 }

    /// Makes this the plan of a file whose thumbnail it was made for.
    mutating func stand(for picture: ImageInfo) {
        self.picture = picture
    }

    /// Makes this the plan of a gain map.
    mutating func decodeGains() { filter = .bilinear }

    /// Adds the decode of the gain map, and its memory.
    mutating func add(_ map: GainMapPlan) {
        gainMap = map
        workingBytes = workingBytes.adding(1, times: map.workingBytes)
    }

    /// Measures the properties that the header alone does not tell: whether the rows can be scaled down as they are
    /// decoded, and the memory of the decode, embedded images included.
    ///
    /// - Parameter keepsDynamicRange: `DecodeOptions.keepsDynamicRange`.
    mutating func measure(
        _ data: Data, decoder: any ImageDecoder, embedded: [EmbeddedImage] = [], keepsDynamicRange: Bool = false
    ) {
        let deep = depth.flatMap { (decoder as? any DeepImageDecoder)?.deepPixels(of: data, info: info, for: $0) }
        isDeep = deep != nil
        let profile = decoder.colorProfile(of: data)
        let isConverted = profile != nil && converts(profile)
        widensFirst = depth != nil && !isDeep && isConverted && light == .linear && residual != nil
        let rows = residual == nil || isDeep || widensFirst ? nil : decoder as? any RowImageDecoder
        isStreamed = rows?.deliversRows(of: data, info: info) ?? false
        let result = finalSize.bitmapBytes
        if keepsDynamicRange, let space = (deep?.profile ?? profile)?.resolved.brightSpace {
            depth?.colorSpace = space
        }
        // Pixels of 16 bits are converted in any case, after those of 8, so that both conversions are not there at a time. Of a file
        // that the decoder converts itself, its working bytes have the conversion.
        conversionBytes = depth == nil ? conversionBytes(of: profile) : profile?.workingBytes ?? 0
        let own = max(0, decoder.workingBytes(of: data, info: info, nativeSize: nativeSize))
        heapBytes = embedded.reduce(own.adding(1, times: conversionBytes)) {
            $0.adding(1, times: max($1.workingBytes, 0))
        }
        var bytes = [heapBytes, result]
        // The native bitmap, if it is not the result itself.
        if residual != nil, !isStreamed { bytes.append(nativeSize.bitmapBytes) }
        // Rotating, and converting, create another bitmap before the first one is released. A conversion needs no
        // profile in the file: code points or chromaticities suffice.
        if info.orientation != .up || isConverted { bytes.append(result) }
        if depth != nil { bytes.append(deepBytes) }
        // The pixels of a stream, those that are taken from it, and the bytes that it keeps.
        if allowsIncomplete { bytes.append(data.count.adding(2, times: nativeSize.bitmapBytes)) }
        if info.isAnimated, frames == .all {
            let (all, overflow) = result.multipliedReportingOverflow(by: info.frameCount)
            bytes.append(overflow ? .max : all)
        }
        workingBytes = bytes.reduce(0) { sum, part in
            let (total, overflow) = sum.addingReportingOverflow(max(part, 0))
            return overflow ? .max : total
        }
    }

    /// The bytes of the pixels of 16 bits: the result, once more if it is turned, and those of the stored size that it is reduced from,
    /// beside which there is a bitmap of that size, with the rows that the scaling gathers.
    private var deepBytes: Int {
        let result = 0.adding(info.orientation == .up ? 2 : 4, times: finalSize.bitmapBytes)
        guard isDeep || widensFirst, residual != nil else { return result }
        let rows = min(112, nativeSize.height)
        return result.adding(2, times: nativeSize.bitmapBytes).adding(
            rows * 16, times: max(finalSize.width, finalSize.height))
    }

    /// An animation has none, unless it becomes a still image.
    private static func depth(of info: ImageInfo, _ options: DecodeOptions) -> DeepBitmap.Format? {
        info.isAnimated && !options.firstFrameOnly ? nil : options.depth
    }

    private static func geometry(of info: ImageInfo, options: DecodeOptions) throws -> ResizeGeometry {
        let whole = PixelRect(x: 0, y: 0, width: info.size.width, height: info.size.height)
        guard let region = (options.region ?? whole).clamped(to: info.size) else {
            throw BitmapError.invalidSize(options.region?.size ?? info.size)
        }
        var geometry = ResizeGeometry(source: region.size, box: region.size, mode: .stretch, upscale: false)
        if let target = options.target {
            geometry = ResizeGeometry(
                source: region.size, box: try box(of: target), mode: target.mode, upscale: target.upscale)
        }
        geometry.sourceX += Double(region.x)
        geometry.sourceY += Double(region.y)
        if let limit = options.maximumBytes {
            geometry.size = limited(geometry.size, to: limit.bytes)
        }
        return geometry
    }

    private static func box(of target: TargetSize) throws -> PixelSize {
        var box = target.size
        if target.mode != .fill, !target.upscale {
            // Beyond the maximum side of a bitmap, the box no longer affects the result.
            box = PixelSize(min(box.width, Bitmap.maximumSide), min(box.height, Bitmap.maximumSide))
        }
        let sides = 1...Bitmap.maximumSide
        guard sides.contains(box.width), sides.contains(box.height) else {
            throw BitmapError.invalidSize(target.size)
        }
        return box
    }

    /// Scales both sides by the square root of the ratio of the areas, rounded down, at least 1; if that leaves a
    /// single row or column, the other side is as long as the limit allows.
    private static func limited(_ size: PixelSize, to maximumBytes: Int) -> PixelSize {
        let bytes = Double(size.width) * Double(size.height) * 4
        guard bytes > Double(maximumBytes) else { return size }
        let scale = (Double(max(maximumBytes, 0)) / bytes).squareRoot()
        let (width, height) = (Int(Double(size.width) * scale), Int(Double(size.height) * scale))
        let most = max(1, maximumBytes / 4)
        if width < 1 { return PixelSize(1, min(max(height, 1), most)) }
        if height < 1 { return PixelSize(min(width, most), 1) }
        return PixelSize(width, height)
    }

    /// Returns the size of the whole upright image at which the part that the geometry uses has at least its final
    /// size. Only a vector image may be larger than its own size, within the limits.
    private static func neededSize(
        _ geometry: ResizeGeometry, of info: ImageInfo, limits: DecodeLimits
    ) -> PixelSize {
        func needed(_ whole: Int, _ part: Double, _ final: Int) -> Int {
            // The small term prevents a rounding error from requesting one pixel more.
            let exact = (Double(whole) * Double(final) / part - 1e-6).rounded(.up)
            return max(1, Int(min(exact, Double(Int32.max))))
        }
        let source = info.size
        let size = PixelSize(
            needed(source.width, geometry.sourceWidth, geometry.size.width),
            needed(source.height, geometry.sourceHeight, geometry.size.height))
        if info.isVector, (try? limits.check(size)) != nil { return size }
        return PixelSize(min(size.width, source.width), min(size.height, source.height))
    }

    /// Converts the geometry to stored orientation and scales it to native pixels.
    private static func residual(
        _ geometry: ResizeGeometry, info: ImageInfo, nativeSize: PixelSize, coverage: (width: Double, height: Double)
    ) -> ResizeGeometry? {
        let upright = UprightRect(
            x: geometry.sourceX / Double(info.size.width), y: geometry.sourceY / Double(info.size.height),
            width: geometry.sourceWidth / Double(info.size.width),
            height: geometry.sourceHeight / Double(info.size.height))
        let stored = upright.stored(info.orientation)
        let covered = PixelExtent(coverage, within: nativeSize)
        var residual = ResizeGeometry(source: nativeSize, box: nativeSize, mode: .stretch, upscale: false)
        residual.sourceX = snapped(stored.x * covered.width)
        residual.sourceY = snapped(stored.y * covered.height)
        residual.sourceWidth = snapped(stored.width * covered.width)
        residual.sourceHeight = snapped(stored.height * covered.height)
        residual.size = info.orientation.applied(to: geometry.size)
        let isWhole = upright.isWhole && residual.size == nativeSize
        return isWhole ? nil : residual
    }

    /// Removes the rounding errors of divisions and multiplications from whole numbers, so that a crop stays a crop.
    private static func snapped(_ value: Double) -> Double {
        abs(value - value.rounded()) < 1e-6 ? value.rounded() : value
    }
}

/// A width and a height in fractional pixels.
struct PixelExtent {
    let width: Double
    let height: Double

    /// Creates the extent that a decoder reports to cover of its native size, clamped to that size in case the report
    /// is invalid.
    init(_ coverage: (width: Double, height: Double), within size: PixelSize) {
        width = Self.clamped(coverage.width, to: Double(size.width))
        height = Self.clamped(coverage.height, to: Double(size.height))
    }

    private static func clamped(_ value: Double, to limit: Double) -> Double {
        value > 0 && value <= limit ? value : limit
    }
}

/// A part of an image in fractions of its sides, from the top left of the upright image.
struct UprightRect {
    var x: Double
    var y: Double
    var width: Double
    var height: Double

    /// Whether the part is the whole image, except for rounding errors.
    var isWhole: Bool { width > 1 - 1e-9 && height > 1 - 1e-9 }

    /// Returns the same part in fractions of the sides of the stored image.
    func stored(_ orientation: Orientation) -> UprightRect {
        let right = 1 - x - width
        let bottom = 1 - y - height
        return switch orientation {
        case .up: self
        case .upMirrored: UprightRect(x: right, y: y, width: width, height: height)
        case .down: UprightRect(x: right, y: bottom, width: width, height: height)
        case .downMirrored: UprightRect(x: x, y: bottom, width: width, height: height)
        case .leftMirrored: UprightRect(x: y, y: x, width: height, height: width)
        // The right edge of the upright image is the top of the stored one, so the stored row counts from the right.
        case .right: UprightRect(x: y, y: right, width: height, height: width)
        case .rightMirrored: UprightRect(x: bottom, y: right, width: height, height: width)
        case .left: UprightRect(x: bottom, y: x, width: height, height: width)
        }
    }
}
