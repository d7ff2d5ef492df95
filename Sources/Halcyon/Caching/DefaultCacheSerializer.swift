import Foundation
import HalcyonCodecs
import HalcyonImage
import HalcyonSystem

/// Keeps the source's bytes where they are what the image shows, else a format that loses nothing.
///
/// An animation without its bytes keeps its format if that has frames: a WebP without loss, and a GIF, of 256 colours and no
/// soft edges, only where nothing was made of it. Any other becomes an animated PNG; a still becomes a PNG. Nothing is kept
/// where the build has no PNG.
public struct DefaultCacheSerializer: CacheSerializer, Hashable {
    public init() {}

    public func data(for input: CacheSerializerInput, context: WorkContext) throws -> Data? {
        if let original = input.original { return original }
        return try input.coders.encode(
            input.image, as: format(for: input), options: EncodeOptions(quality: 1, isLossless: true), context: context)
    }

    private func format(for input: CacheSerializerInput) -> ImageFormat? {
        let own = input.image.info.format
        let keeps = own == .webp || (own == .gif && !input.isProcessed)
        if input.image.animation != nil, keeps, input.coders.canEncode(own) { return own }
        return input.coders.canEncode(.png) ? .png : nil
    }
}

extension CacheSerializer where Self == DefaultCacheSerializer {
    /// The source's bytes, else a format that loses nothing.
    public static var `default`: DefaultCacheSerializer { DefaultCacheSerializer() }
}
