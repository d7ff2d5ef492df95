import Crypto
import Foundation
import Halcyon
import NIOPosix

/// The facts about the present bytes of a source, from which the work on them follows.
struct SourceFacts: Sendable {
    /// The hash of the bytes, by which the caches know all that is made of them; of `hash(of:)`.
    let hash: String
    /// The facts in the header.
    let info: ImageInfo
    /// The freshness that the source's server declared.
    let freshness: EncodedFreshness
    /// The moment at which the freshness was that.
    let time: Date
    /// The moment of the source's last change, where it is known.
    let lastModified: Date?
    /// The bytes, if no cache has them that may be used without asking the source's server again.
    var original: EncodedImage?

    /// Returns the SHA-256 of bytes: a stranger can make other bytes of the same XXH3, such as an entity tag has, and their picture
    /// would be the answer to both URLs. Takes a few milliseconds for a photograph, on a thread for such work.
    static func hash(of data: Data) async throws -> String {
        try await NIOThreadPool.singleton.runIfActive { S3Signer.hexadecimal(SHA256.hash(data: data)) }
    }

    /// The pixels of all frames that are decoded.
    func pixels(firstFrameOnly: Bool) -> Int {
        let (area, frames) = (info.size.area ?? .max, firstFrameOnly ? 1 : max(1, info.frameCount))
        let (product, overflows) = area.multipliedReportingOverflow(by: frames)
        return overflows ? .max : product
    }
}
