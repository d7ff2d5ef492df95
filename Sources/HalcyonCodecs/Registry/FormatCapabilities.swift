import HalcyonImage

/// What a registry can do with one format, as its coders are.
public struct FormatCapabilities: Hashable, Sendable {
    public let format: ImageFormat
    public let decodes: Bool
    /// Every frame of an animation, not the first alone.
    public let decodesAnimations: Bool
    /// An image to show before the last byte is there.
    public let decodesProgressively: Bool
    /// To a smaller size in less time, or at least in less memory, than a full decode takes.
    public let scalesWhileDecoding: Bool
    public let encodes: Bool
    public let encodesAnimations: Bool
}

extension CoderRegistry {
    /// What can be done with each format that Halcyon knows by name and each that a coder names, in that order.
    public var capabilities: [FormatCapabilities] {
        let own = coders.flatMap(\.formats).filter { !ImageFormat.known.contains($0) }
        var seen = Set<ImageFormat>()
        return (ImageFormat.known + own).filter { seen.insert($0).inserted }.map(capabilities)
    }

    /// What can be done with one format. Where several coders read it, the one that is asked first counts.
    public func capabilities(of format: ImageFormat) -> FormatCapabilities {
        let decoder = coders.lazy.compactMap { $0 as? any ImageDecoder }.first { $0.formats.contains(format) }
        let encoder = encoder(for: format)
        return FormatCapabilities(
            format: format, decodes: decoder != nil, decodesAnimations: decoder is any AnimatedImageDecoder,
            decodesProgressively: decoder is any ProgressiveImageDecoder,
            scalesWhileDecoding: decoder.map { Self.scales($0, format) } ?? false, encodes: encoder != nil,
            encodesAnimations: encoder is any AnimatedImageEncoder)
    }

    /// Asked with a large image and a small size.
    private static func scales(_ decoder: any ImageDecoder, _ format: ImageFormat) -> Bool {
        if decoder is any RowImageDecoder { return true }
        let info = ImageInfo(format: format, size: PixelSize(4096, 4096))
        return decoder.scaledSize(for: info, atLeast: PixelSize(64, 64)) != info.size
    }
}
