import Foundation
import HalcyonCodecs
import HalcyonImage
import HalcyonSystem

/// Decides which bytes the disk keeps of an image.
///
/// It is asked on a processor thread, behind the load, with the image as it was delivered; whatever it throws means that
/// the disk does not keep the image. It is no part of a key: images that are kept under one key and were written by
/// different serializers replace each other.
///
/// Loads that are under way at the same time share their work where their serializers are the same: one object, or
/// values that are equal. One that is `Hashable` says so itself; of others each may be taken for another.
public protocol CacheSerializer: Sendable {
    /// The bytes to keep of a finished image; nil keeps nothing.
    func data(for input: CacheSerializerInput, context: WorkContext) throws -> Data?

    /// The bytes to keep of a source whose image was asked for with processors or at another size; nil keeps nothing.
    /// By default the bytes as they are.
    func data(forOriginal bytes: Data, url: URL?) throws -> Data?

    /// The encoded image in what was kept, which is decoded then. By default what was kept is that; a serializer that
    /// encrypts does the reverse here. What it throws makes a miss, and the entry goes.
    func encodedImage(in stored: Data) throws -> Data
}

extension CacheSerializer {
    public func data(forOriginal bytes: Data, url: URL?) throws -> Data? { bytes }

    public func encodedImage(in stored: Data) throws -> Data { stored }
}

/// What a `CacheSerializer` sees of an image.
public struct CacheSerializerInput: Sendable {
    public let image: Image
    /// The source's bytes; nil where the image is not what they show (it was processed) or where there are none.
    public let original: Data?
    /// Whether the image is not what its source shows, but what was made of it.
    public let isProcessed: Bool
    /// Where the image came from; nil for an image that came from no URL.
    public let url: URL?
    /// What can encode it.
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
