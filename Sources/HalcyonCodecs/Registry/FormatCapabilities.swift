import HalcyonImage

/// The capabilities of a registry for one format, given its current coders.
public struct FormatCapabilities: Hashable, Sendable {
    /// The format that the capabilities are for.
    public let format: ImageFormat
    /// Whether a coder decodes the format.
    public let decodes: Bool
    /// Whether every frame of an animation is decoded, not only the first.
    public let decodesAnimations: Bool
    /// Whether previews are available before the last byte has arrived.
    public let decodesProgressively: Bool
    /// Whether decoding to a smaller size takes less time, or at least less memory, than a full decode.
    public let scalesWhileDecoding: Bool
    /// Whether a coder encodes the format.
    public let encodes: Bool
    /// Whether every frame of an animation is encoded, not only the first.
    public let encodesAnimations: Bool
    /// Whether more than 8 bits a channel are decoded if they are asked for (`DecodeOptions.depth`).
    public let decodesDeep: Bool
    /// Whether more than 8 bits a channel are encoded if they are asked for (`EncodeOptions.bitsPerChannel`).
    public let encodesDeep: Bool
    /// Whether the gain map of a file is decoded when it is asked for, not only recognized.
    public let decodesGainMaps: Bool
}

extension CoderRegistry {
    /// The capabilities for each format that Halcyon knows by name, then for each other format that a coder names.
    public var capabilities: [FormatCapabilities] {
        let own = coders.flatMap(\.formats).filter { !ImageFormat.known.contains($0) }
        var seen = Set<ImageFormat>()
        return (ImageFormat.known + own).filter { seen.insert($0).inserted }.map(capabilities)
    }

    /// Returns the capabilities for one format. If several coders read it, the one that is asked first counts.
    public func capabilities(of format: ImageFormat) -> FormatCapabilities {
        let decoder = coders.lazy.compactMap { $0 as? any ImageDecoder }.first { $0.formats.contains(format) }
        let encoder = encoder(for: format)
        return FormatCapabilities(
            format: format, decodes: decoder != nil, decodesAnimations: decoder is any AnimatedImageDecoder,
            decodesProgressively: decoder is any ProgressiveImageDecoder,
            scalesWhileDecoding: decoder.map { Self.scales($0, format) } ?? false, encodes: encoder != nil,
            encodesAnimations: encoder is any AnimatedImageEncoder, decodesDeep: decoder is any DeepImageDecoder,
            encodesDeep: (encoder?.mostBitsPerChannel(format) ?? 8) > 8,
            decodesGainMaps: decoder is any GainMapImageDecoder)
    }

    /// Returns whether the decoder scales, tested with a large image and a small size, or has smaller pictures to choose from.
    private static func scales(_ decoder: any ImageDecoder, _ format: ImageFormat) -> Bool {
        if decoder is any RowImageDecoder || decoder.formatsOfSeveralSizes.contains(format) { return true }
        let info = ImageInfo(format: format, size: PixelSize(4096, 4096))
        return decoder.scaledSize(for: info, atLeast: PixelSize(64, 64)) != info.size
    }
}
