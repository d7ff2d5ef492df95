import Foundation
import Halcyon

/// The output of `halcyon cache show`.
struct CacheEntryReport: Encodable {
    let source: String
    let bytes: Int
    let format: String?
    let stored: String
    let keptUntil: String?
    let freshUntil: String?
    let etag: String?

    init(source: String, entry: DiskEntry) {
        self.source = source
        bytes = entry.data.count
        format = (try? CoderRegistry.shared.probe(entry.data))?.format.name
        stored = entry.storedAt.formatted(.iso8601)
        keptUntil = entry.keptUntil.map { $0.formatted(.iso8601) }
        let http = HTTPCacheMetadata(decoding: entry.metadata)
        freshUntil = http?.freshUntil.map { $0.formatted(.iso8601) }
        etag = http?.etag
    }

    private enum Keys: String, CodingKey {
        case source, bytes, format, stored, keptUntil, freshUntil, etag
    }

    func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: Keys.self)
        try container.encode(source, forKey: .source)
        try container.encode(bytes, forKey: .bytes)
        try container.encode(format, forKey: .format)
        try container.encode(stored, forKey: .stored)
        try container.encode(keptUntil, forKey: .keptUntil)
        try container.encode(freshUntil, forKey: .freshUntil)
        try container.encode(etag, forKey: .etag)
    }
}
