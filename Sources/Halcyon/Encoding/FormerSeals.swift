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
        await disk?.peek(key).map { Self.seals(in: $0.metadata) } ?? []
    }

    /// Adds the seal that the disk has had until now.
    func add(_ seal: String) async {
        await disk?.changeMetadata(for: key, expiration: .never) { metadata in
            let former = metadata.map(Self.seals) ?? []
            guard !former.contains(seal) else { return nil }
            return Data((former + [seal]).suffix(Self.limit).joined(separator: "\n").utf8)
        }
    }

    func remove() async { await disk?.remove(key) }

    private static func seals(in metadata: Data) -> [String] {
        String(decoding: metadata, as: UTF8.self).split(separator: "\n").map(String.init)
    }
}
