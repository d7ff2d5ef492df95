import Foundation
import HalcyonCodecs
import HalcyonImage
import HalcyonSystem

/// A type that decides which bytes the disk keeps of an image.
///
/// It runs on a processor thread, after the load, with the image as it was delivered. If it throws, the disk does not keep the
/// image. It is not part of a key: images that are stored under one key by different serializers replace each other.
///
/// Concurrent loads share their work if their serializers are the same: the same object, or equal values. A `Hashable`
/// serializer defines equality itself; any others may count as different.
public protocol CacheSerializer: Sendable {
    /// Returns the bytes to keep of a finished image; nil keeps nothing.
    func data(for input: CacheSerializerInput, context: WorkContext) throws -> Data?

    /// Returns the bytes to keep of a source whose image was requested with processors or at another size; nil keeps nothing.
    /// Returns the bytes unchanged by default.
    func data(forOriginal bytes: Data, url: URL?) throws -> Data?

    /// Returns the encoded image in stored bytes, which is then decoded. Returns the bytes unchanged by default; a serializer
    /// that encrypts its data decrypts it here. If it throws, the look-up is a miss and the entry is removed.
    func encodedImage(in stored: Data) throws -> Data
}

extension CacheSerializer {
    public func data(forOriginal bytes: Data, url: URL?) throws -> Data? { bytes }

    public func encodedImage(in stored: Data) throws -> Data { stored }
}

/// The input of a `CacheSerializer`: an image and the facts about it.
public struct CacheSerializerInput: Sendable {
    public let image: Image
    /// The source's bytes; nil if the image does not show them (because it was processed) or if there are none.
    public let original: Data?
    /// Whether the image was processed, so that it differs from its source.
    public let isProcessed: Bool
    /// The URL of the image's source; nil if it has none.
    public let url: URL?
    /// The coders that can encode the image.
    public let coders: CoderRegistry

    public init(
        image: Image, original: Data?, isProcessed: Bool = false, url: URL?, coders: CoderRegistry = .shared
    ) {
        self.image = image
        self.original = original
        self.isProcessed = isProcessed
        self.url = url
        self.coders = coders
    }
}
