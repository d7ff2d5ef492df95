import Halcyon
import HalcyonCache
import HalcyonSystem
import HTTPTypes
import ImageURLs
import NIOCore

/// The answers that are ready for the same request once more: no URL is parsed, no signature computed and no plan made for them. Their
/// bytes are in memory, or their place in the caches is known.
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

    /// All about an answer that a check and its fields need, but for its bytes.
    final class Recipe: Sendable {
        let job: ImageJob
        let address: Originals.Address
        let disposition: String
        /// The hash of the source's bytes.
        let hash: String
        let format: ImageFormat
        let place: ImageAnswer.Place?

        init(_ answer: ImageAnswer, _ job: ImageJob, _ address: Originals.Address, disposition: String) {
            (self.job, self.address, self.disposition) = (job, address, disposition)
            (hash, format, place) = (answer.facts.hash, answer.format, answer.place)
        }
    }

    /// An answer in memory, with its bytes as a connection takes them.
    private final class Entry: Sendable {
        let recipe: Recipe
        let encoded: EncodedImage
        let body: ByteBuffer

        init(_ recipe: Recipe, _ encoded: EncodedImage) {
            (self.recipe, self.encoded, body) = (recipe, encoded, ByteBuffer(bytes: encoded.data))
        }
    }

    /// An answer that holds, with the facts that hold now.
    struct Found {
        let recipe: Recipe
        let answer: ImageAnswer
        var body: ByteBuffer?
    }

    private let entries: MemoryCache<Key, Entry>
    private let recipes: MemoryCache<Key, Recipe>
    /// The cost of all answers in memory.
    private let limit: Int
    private let configuration: ServerConfiguration.Answer
    private let passedNames: [HTTPField.Name]

    init(_ configuration: ServerConfiguration, time: TimeSource) {
        // The bytes are there twice, and once more among the encodings, as long as those are in memory too.
        limit = configuration.cache.memoryBytes / 3 * 2
        entries = MemoryCache(configuration: MemoryCacheConfiguration(costLimit: limit), timeSource: time)
        recipes = MemoryCache(configuration: MemoryCacheConfiguration(costLimit: 16 << 20), timeSource: time)
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
        key.ignoresQuery = true
        if let mark = key.target.utf8.firstIndex(of: UInt8(ascii: "?")) { key.target = String(key.target[..<mark]) }
        return key
    }

    /// Returns the answer to a request if it is in memory and still holds.
    func answer(inMemoryFor key: Key, _ originals: Originals, now: Int64) -> Found? {
        guard let entry = entries.value(for: Self.withoutQuery(key)) ?? entries.value(for: key),
            let facts = Self.facts(of: entry.recipe, originals, now: now)
        else { return nil }
        return Found(recipe: entry.recipe, answer: Self.answer(entry.recipe, entry.encoded, facts), body: entry.body)
    }

    /// Returns the answer to a request if the disk or the machines' store has it and it still holds.
    func answer(keptFor key: Key, _ service: ImageService, now: Int64) async -> Found? {
        let short = Self.withoutQuery(key)
        var (recipe, place) = (recipes.value(for: short), short)
        if recipe == nil { (recipe, place) = (recipes.value(for: key), key) }
        guard let recipe, let kept = recipe.place, Self.facts(of: recipe, service.originals, now: now) != nil,
            let encoded = await service.keptEncoding(at: kept),
            // They may have changed meanwhile.
            let facts = Self.facts(of: recipe, service.originals, now: now)
        else { return nil }
        insert(recipe, encoded, for: place)
        return Found(recipe: recipe, answer: Self.answer(recipe, encoded, facts))
    }

    /// Returns the facts about the source of an answer; nil if the answer does not hold any more.
    private static func facts(of recipe: Recipe, _ originals: Originals, now: Int64) -> SourceFacts? {
        guard !recipe.job.isExpired(now: now), let facts = originals.knownFacts(at: recipe.address),
            facts.hash == recipe.hash, originals.isCurrent(recipe.address)
        else { return nil }
        return facts
    }

    private static func answer(_ recipe: Recipe, _ encoded: EncodedImage, _ facts: SourceFacts) -> ImageAnswer {
        ImageAnswer(encoded: encoded, format: recipe.format, isOriginal: false, facts: facts, place: recipe.place)
    }

    /// - Parameter ignoresQuery: whether the query of the target has no part in the answer.
    func insert(_ recipe: Recipe, _ encoded: EncodedImage, for key: Key, ignoresQuery: Bool) {
        let key = ignoresQuery ? Self.withoutQuery(key) : key
        if recipe.place != nil { recipes.insert(recipe, for: key, cost: key.target.utf8.count + 2048) }
        insert(recipe, encoded, for: key)
    }

    private func insert(_ recipe: Recipe, _ encoded: EncodedImage, for key: Key) {
        let cost = 2 * encoded.data.count + key.target.utf8.count + 1024
        // The cache's own bound, before the bytes are copied.
        guard cost <= limit / 2 else { return }
        entries.insert(Entry(recipe, encoded), for: key, cost: cost)
    }
}
