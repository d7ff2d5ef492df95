import Foundation
import HalcyonCodecs
import HalcyonImage
import HalcyonSystem

/// A serializer that keeps the source's bytes if the image shows them unchanged, and otherwise encodes it without loss.
///
/// An animation without its source's bytes keeps its format if that can hold it: WebP is encoded without loss; GIF, which has
/// 256 colours and no soft edges, is kept only if the image was not processed. Any other animation becomes an animated PNG; a
/// still image becomes a PNG. Nothing is kept if the build has no PNG encoder.
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
    /// A serializer that keeps the source's bytes, and otherwise encodes the image without loss.
    public static var `default`: DefaultCacheSerializer { DefaultCacheSerializer() }
}
