import Foundation
import HalcyonCache

/// The seals under which this machine's disk has encodings of a source besides those under the present one.
///
/// A store that starts again, or lets the seal go, makes the fleet agree on another one. That says nothing of what the disks have:
/// a removal reaches the stores and the disk of its own machine, and takes these seals with it. In the stores the present seal alone
/// counts: an entry that was removed there must not come back.
struct FormerSeals {
    /// The number of seals that are kept; with one more, encodings under the oldest are made anew.
    private static let limit = 16

    let disk: DiskCache?
    let imageKey: ImageKey

    var key: CacheKey { imageKey.formerSealsKey }

    func all() async -> [String] {
        guard let entry = await disk?.peek(key) else { return [] }
        return String(decoding: entry.metadata, as: UTF8.self).split(separator: "\n").map(String.init)
    }

    /// Adds the seal that the disk has had until now.
    func add(_ seal: String) async {
        guard let disk else { return }
        let former = await all()
        guard !former.contains(seal) else { return }
        let text = (former + [seal]).suffix(Self.limit).joined(separator: "\n")
        await disk.stage(Data(), metadata: Data(text.utf8), for: key, expiration: .never)
    }

    func remove() async { await disk?.remove(key) }
}
