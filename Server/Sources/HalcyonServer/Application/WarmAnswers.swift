import Halcyon
import HalcyonCache
import HalcyonSystem
import HTTPTypes
import ImageURLs

/// The answers that are ready for the same request once more: no URL is parsed, no signature computed and no plan made for them.
///
/// They hold as long as the facts about their source do, and a file has its stamp. Requests are the same if their targets and the
/// fields by which answers differ are.
struct WarmAnswers: Sendable {
    struct Key: Hashable {
        fileprivate(set) var target: String
        /// Whether the target is one without its query, which has no part in the answer.
        fileprivate(set) var ignoresQuery = false
        let accept: [Bool]
        let hints: [String?]
    }

    /// An answer, and all that a check and its fields need.
    final class Entry: Sendable {
        let answer: ImageAnswer
        let job: ImageJob
        let address: Originals.Address
        let disposition: String

        init(_ answer: ImageAnswer, _ job: ImageJob, _ address: Originals.Address, disposition: String) {
            (self.answer, self.job, self.address, self.disposition) = (answer, job, address, disposition)
        }
    }

    private let entries: MemoryCache<Key, Entry>
    private let configuration: ServerConfiguration.Answer
    private let passedNames: [HTTPField.Name]

    init(_ configuration: ServerConfiguration, time: TimeSource) {
        entries = MemoryCache(
            configuration: MemoryCacheConfiguration(costLimit: configuration.cache.memoryBytes / 2), timeSource: time)
        self.configuration = configuration.answer
        passedNames = configuration.source.passHeaders.compactMap { HTTPField.Name($0) }
    }

    /// The answers that are kept.
    var count: Int { entries.statistics.count }

    /// Returns the key of a request; nil if the answer may be one client's own.
    func key(_ target: String, _ fields: HTTPFields) -> Key? {
        guard !passedNames.contains(where: { fields[$0] != nil }) else { return nil }
        let names: [HTTPField.Name] =
            configuration.usesClientHints ? [.saveData, .clientRatio, .clientWidth] : []
        let accept = FormatChoice.readings(of: AcceptField(fields[.accept]), configuration)
        return Key(target: target, accept: accept, hints: names.map { fields[$0] })
    }

    private static func withoutQuery(_ key: Key) -> Key {
        var key = key
        key.target = String(key.target.prefix { $0 != "?" })
        key.ignoresQuery = true
        return key
    }

    /// Returns the answer to a request if it still holds, with the facts that hold now.
    func entry(for key: Key, _ originals: Originals, now: Int64) -> (entry: Entry, answer: ImageAnswer)? {
        guard let entry = entries.value(for: Self.withoutQuery(key)) ?? entries.value(for: key),
            !entry.job.isExpired(now: now),
            let facts = originals.knownFacts(at: entry.address), facts.hash == entry.answer.facts.hash,
            originals.isCurrent(entry.address)
        else { return nil }
        let answer = ImageAnswer(
            encoded: entry.answer.encoded, format: entry.answer.format, isOriginal: false, facts: facts)
        return (entry, answer)
    }

    /// - Parameter ignoresQuery: whether the query of the target has no part in the answer.
    func insert(_ entry: Entry, for key: Key, ignoresQuery: Bool) {
        let key = ignoresQuery ? Self.withoutQuery(key) : key
        entries.insert(entry, for: key, cost: entry.answer.encoded.data.count + key.target.utf8.count + 1024)
    }
}
