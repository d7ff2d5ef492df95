import Foundation
import Halcyon

/// The facts about the present bytes of a source, from which the work on them follows.
struct SourceFacts: Sendable {
    /// The hash of the bytes, by which the caches know all that is made of them.
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

    /// The pixels of all frames that are decoded.
    func pixels(firstFrameOnly: Bool) -> Int {
        let (area, frames) = (info.size.area ?? .max, firstFrameOnly ? 1 : max(1, info.frameCount))
        let (product, overflows) = area.multipliedReportingOverflow(by: frames)
        return overflows ? .max : product
    }
}
