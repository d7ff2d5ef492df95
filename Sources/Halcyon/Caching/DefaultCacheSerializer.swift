import Foundation
import HalcyonCodecs
import HalcyonImage
import HalcyonSystem

/// Keeps the source's bytes where they are what the image shows, else a format that loses nothing.
///
/// An animation without its bytes keeps its format if that has frames (a GIF stays a GIF, of 256 colours), else it
/// becomes an animated PNG; a still becomes a PNG. Where the build has no PNG it is the image's own format.
public struct DefaultCacheSerializer: CacheSerializer, Hashable {
    public init() {}

    public func data(for input: CacheSerializerInput, context: WorkContext) throws -> Data? {
        if let original = input.original { return original }
        return try input.coders.encode(
            input.image, as: format(for: input), options: EncodeOptions(quality: 1, isLossless: true), context: context)
    }

    private func format(for input: CacheSerializerInput) -> ImageFormat? {
        let own = input.image.info.format
        if input.image.animation != nil, [.gif, .webp].contains(own), input.coders.canEncode(own) { return own }
        return input.coders.canEncode(.png) ? .png : nil
    }
}

extension CacheSerializer where Self == DefaultCacheSerializer {
    /// The source's bytes, else a format that loses nothing.
    public static var `default`: DefaultCacheSerializer { DefaultCacheSerializer() }
}
