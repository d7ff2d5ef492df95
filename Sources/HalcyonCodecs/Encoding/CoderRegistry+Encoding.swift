import Foundation
import HalcyonImage
import HalcyonSystem

extension CoderRegistry {
    /// Encodes an image, including all frames of an animation if the format supports animation.
    ///
    /// An animation reserves the memory of its decoder and its encoder from the `budget` once for all frames; an image
    /// with a profile reserves the memory of its conversion, and a search for a score that of its comparisons. This
    /// thread waits for the reservation while others hold too much.
    ///
    /// - Parameter format: the format to write; nil for `defaultFormat(for:)`.
    /// - Throws: `CodecError.unsupportedFormat` if no encoder writes the format; `.encodingFailed`, also for a quality
    ///   that is not from 0 to 1, and if the lowest quality still exceeds `maximumBytes`; `.limitExceeded` for an
    ///   animation of more than `maximumTotalPixels`, or one that needs more than the whole budget;
    ///   `CancellationError`.
    public func encode(
        _ image: Image, as format: ImageFormat? = nil, options: EncodeOptions = EncodeOptions(),
        context: WorkContext = .uncancellable
    ) throws -> Data {
        try found(image, as: format, options: options, context: context).data
    }

    /// Encodes an image as `encode` does, and returns the way in which its quality was found as well.
    package func found(
        _ image: Image, as format: ImageFormat? = nil, options: EncodeOptions = EncodeOptions(),
        context: WorkContext = .uncancellable
    ) throws -> FoundEncoding {
        let format = format ?? defaultFormat(for: image)
        guard let bytes = try workingBytes(toEncode: image, as: format, options: options) else {
            return try foundReserved(image, as: format, options: options, context: context)
        }
        return try budget.withReservation(of: bytes, context: context) {
            try foundReserved(image, as: format, options: options, context: context)
        }
    }

    /// Returns the number of bytes that encoding all frames of an animation, converting the colours, or comparing a copy takes; nil if
    /// nothing is reserved.
    ///
    /// - Throws: `CodecError.unsupportedFormat`, `.encodingFailed` for the options, `.limitExceeded`.
    package func workingBytes(toEncode image: Image, as format: ImageFormat, options: EncodeOptions) throws -> Int? {
        let encoder = try requireEncoder(for: format, options: options)
        let comparison = comparisonBytes(image, as: format, options: options)
        guard let animation = image.animation, !options.firstFrameOnly,
            let encoder = encoder as? any AnimatedImageEncoder
        else {
            let conversion = image.colorProfile.map { ColorProfile.workingBytes(length: $0.count) }
            return [conversion, comparison].compactMap { $0 }.max()
        }
        let pixels = 0.adding(animation.frameCount, times: animation.size.area ?? .max)
        guard pixels <= options.maximumTotalPixels else {
            throw CodecError.limitExceeded("pixels of all frames", value: pixels, limit: options.maximumTotalPixels)
        }
        // One more frame for a reduction or a colour conversion.
        let frames = animation.workingBytes.adding(1, times: animation.frameBytes)
            .adding(1, times: encoder.workingBytes(for: animation, options: options))
        return max(frames, comparison ?? 0)
    }

    /// Encodes an image for a caller that has reserved `workingBytes(toEncode:as:options:)`.
    package func encodeReserved(
        _ image: Image, as format: ImageFormat, options: EncodeOptions, context: WorkContext
    ) throws -> Data {
        try foundReserved(image, as: format, options: options, context: context).data
    }

    private func foundReserved(
        _ image: Image, as format: ImageFormat, options: EncodeOptions, context: WorkContext
    ) throws -> FoundEncoding {
        let encoder = try requireEncoder(for: format, options: options)
        var options = options
        var image = image
        if let animation = image.animation { image = image.replacing(animation: animation.makeReader()) }
        // Deep pixels that are not written take no part in what follows.
        if !options.isDeep || encoder.mostBitsPerChannel(format) <= 8 { image.deepBitmap = nil }
        image = try Self.reduced(image, options: options, context: context)
        let isStill = image.animation == nil || options.firstFrameOnly || !(encoder is any AnimatedImageEncoder)
        let writesMetadata = isStill && encoder.writesMetadata(format)
        if !writesMetadata { (options.keepsOrientation, options.keepsColorProfile) = (false, false) }
        image = try Self.prepared(image, options: options, context: context)
        guard encoder.isLossy(format, options: options) else {
            return FoundEncoding(
                data: try Self.encode(image, with: encoder, as: format, options: options, context: context))
        }
        guard let target = options.qualityTarget else {
            return FoundEncoding(
                data: try Self.encodeLossy(image, with: encoder, as: format, options: options, context: context))
        }
        let still = isStill ? image : image.replacing(image.bitmap)
        let found = try search(for: target, still, as: format, options: options, context: context) { options in
            try Self.encode(still, with: encoder, as: format, options: options, context: context)
        }
        if isStill, found.data.count <= options.maximumBytes ?? .max { return found }
        options.quality = found.search?.quality ?? options.quality
        let data = try Self.encodeLossy(image, with: encoder, as: format, options: options, context: context)
        // The limit may have changed the quality.
        return FoundEncoding(data: data, search: options.maximumBytes == nil ? found.search : nil)
    }

    /// Encodes with the quality of the options, or the best below it whose file is small enough.
    private static func encodeLossy(
        _ image: Image, with encoder: any ImageEncoder, as format: ImageFormat, options: EncodeOptions,
        context: WorkContext
    ) throws -> Data {
        guard let maximumBytes = options.maximumBytes else {
            return try encode(image, with: encoder, as: format, options: options, context: context)
        }
        let search = QualitySearch(format: format, maximumBytes: maximumBytes)
        do {
            return try search.run(options) { options in
                try encode(image, with: encoder, as: format, options: options, context: context)
            }
        } catch CodecError.encodingFailed where image.gainMap != nil {
            // The picture alone may be small enough.
            var image = image
            image.gainMap = nil
            return try search.run(options) { options in
                try encode(image, with: encoder, as: format, options: options, context: context)
            }
        }
    }

    /// Returns the encoder for a format, after a check of the options that hold for all formats.
    ///
    /// - Throws: `CodecError.unsupportedFormat`, `.encodingFailed`.
    @discardableResult
    package func requireEncoder(for format: ImageFormat, options: EncodeOptions) throws -> any ImageEncoder {
        guard let encoder = encoder(for: format) else { throw CodecError.noEncoder(for: format) }
        _ = try options.checkedQuality(for: format)
        try options.qualityTarget?.check(for: format)
        try options.checkBits(for: format)
        return encoder
    }

    /// Returns the format of a file to be written, by the extension of its name; nil for a name without one.
    ///
    /// - Throws: `CodecError.unsupportedExtension` if no encoder writes such a format.
    package func formatToWrite(pathExtension: String) throws -> ImageFormat? {
        guard !pathExtension.isEmpty else { return nil }
        if let format = encodableFormat(named: pathExtension) { return format }
        let product = ImageFormat(name: pathExtension).flatMap { FormatProduct.missing(toEncode: $0) }
        throw CodecError.unsupportedExtension(pathExtension, encodable: encodableFormats, product: product)
    }

    /// Returns the format that `encode` uses if none is given: that of the source if an encoder writes it, otherwise
    /// PNG for images with alpha and JPEG for opaque ones.
    public func defaultFormat(for image: Image) -> ImageFormat {
        let own = image.info.format
        return canEncode(own) ? own : image.bitmap.isOpaque ? .jpeg : .png
    }

    private static func encode(
        _ image: Image, with encoder: any ImageEncoder, as format: ImageFormat, options: EncodeOptions,
        context: WorkContext
    ) throws -> Data {
        try context.checkCancellation()
        if let animation = image.animation, !options.firstFrameOnly, let encoder = encoder as? any AnimatedImageEncoder
        {
            return try encoder.encode(animation, info: image.info, as: format, options: options, context: context)
        }
        return try encoder.encode(image, as: format, options: options, context: context)
    }

    /// Returns the image in sRGB unless its profile is kept, with its pixels in the orientation that the file will
    /// declare.
    private static func prepared(
        _ image: Image, options: EncodeOptions, context: WorkContext
    ) throws -> Image {
        var image = image
        if let profile = image.colorProfile {
            let isGray = profile.read { $0.matches("GRAY", at: 16) }
            // No encoder writes a single channel, and a profile of one channel does not describe three.
            if isGray || !options.keepsColorProfile {
                image = try image.converted(
                    by: try ColorTransforms.shared.transform(for: ColorProfile(embedded: profile)))
            }
        }
        let orientation = options.storedOrientation(of: image)
        return try image.applying(ImageGeometry(orientation: orientation.inverse), context: context)
    }

    /// Returns the image with its sides reduced to `maximumSide`.
    ///
    /// - Throws: `BitmapError.invalidSize` for a `maximumSide` below 1.
    private static func reduced(_ image: Image, options: EncodeOptions, context: WorkContext) throws -> Image {
        guard let side = options.maximumSide else { return image }
        let box = PixelSize(side, side)
        guard side > 0 else { throw BitmapError.invalidSize(box) }
        guard image.width > side || image.height > side else { return image }
        let geometry = ResizeGeometry(source: image.size, box: box, mode: .fit, upscale: false)
        let dropsFrames = options.firstFrameOnly && image.animation != nil
        return try (dropsFrames ? image.replacing(image.bitmap) : image).reduced(geometry, context: context)
    }
}

extension Image {
    /// Returns the part that `geometry` names of the image and of all its frames, scaled to its size.
    func reduced(
        _ geometry: ResizeGeometry, light: ResizeLight = .encoded, context: WorkContext
    ) throws -> Image {
        let scaling = ImageGeometry.Scaling(geometry, light: light)
        let reduced = try applying(ImageGeometry(scaling: scaling), context: context)
        guard let animation else { return reduced }
        let frames = ReducedFrames(animation: animation, geometry: geometry, light: light)
        return reduced.replacing(
            animation: try AnimatedImage(
                source: frames, size: geometry.size, durations: animation.durations, loopCount: animation.loopCount))
    }

    /// Returns the image with all its frames converted to sRGB. Without a transform, only the profile is removed.
    func converted(by transform: ColorTransform?) throws -> Image {
        var image = self
        image.colorProfile = nil
        // Gains that all channels share apply in any colours with the same white.
        let map = gainMap.flatMap { $0.isMonochrome ? $0 : nil }
        guard let transform else { return image }
        var frames: AnimatedImage?
        if let animation {
            frames = try AnimatedImage(
                source: ConvertedFrames(animation: animation, transform: transform), size: animation.size,
                durations: animation.durations, loopCount: animation.loopCount)
        }
        var converted = Image(bitmap: try transform.convert(bitmap), info: info, animation: frames)
        (converted.gainMap, converted.deepBitmap) = (map, deepBitmap)
        return converted
    }
}

/// An animation's frames, converted to sRGB.
private struct ConvertedFrames: AnimationFrameSource {
    let animation: AnimatedImage
    let transform: ColorTransform

    var cost: Int { animation.cost }
    var workingBytes: Int { animation.workingBytes.adding(1, times: animation.frameBytes) }

    func makeReader() -> any AnimationFrameSource {
        ConvertedFrames(animation: animation.makeReader(), transform: transform)
    }

    func frame(at index: Int, context: WorkContext) throws -> Bitmap {
        try transform.convert(try animation.frame(at: index, context: context))
    }
}

/// An animation's frames, reduced to a smaller size.
private struct ReducedFrames: AnimationFrameSource {
    let animation: AnimatedImage
    let geometry: ResizeGeometry
    let light: ResizeLight

    var cost: Int { animation.cost }
    var workingBytes: Int { animation.workingBytes.adding(1, times: geometry.size.bitmapBytes) }

    func makeReader() -> any AnimationFrameSource {
        ReducedFrames(animation: animation.makeReader(), geometry: geometry, light: light)
    }

    func frame(at index: Int, context: WorkContext) throws -> Bitmap {
        try animation.frame(at: index, context: context)
            .resampled(geometry, filter: .lanczos, light: light, context: context)
    }
}

/// A search for the best quality, in hundredths, whose file is small enough. It encodes at most eight times.
struct QualitySearch {
    let format: ImageFormat
    let maximumBytes: Int

    /// Returns the file of the best quality that fits.
    ///
    /// - Throws: `CodecError.encodingFailed` if the file is too large even at quality 0, and the errors of `encode`.
    func run(_ options: EncodeOptions, _ encode: (EncodeOptions) throws -> Data) throws -> Data {
        var options = options
        let asked = try encode(options)
        if asked.count <= maximumBytes { return asked }
        var best: Data?
        var smallest = asked.count
        var range = 0..<Int((options.quality * 100).rounded(.up))
        while !range.isEmpty {
            let middle = range.lowerBound + range.count / 2
            options.quality = Double(middle) / 100
            let data = try encode(options)
            smallest = min(smallest, data.count)
            if data.count <= maximumBytes {
                best = data
                range = middle + 1..<range.upperBound
            } else {
                range = range.lowerBound..<middle
            }
        }
        guard let best else {
            throw CodecError.encodingFailed(
                format, reason: "\(smallest) bytes at the lowest quality; the limit is \(maximumBytes)")
        }
        return best
    }
}
