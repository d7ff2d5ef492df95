import Halcyon
import HalcyonCache
import HalcyonSystem
import HTTPTypes
import ImageURLs
import NIOCore

/// The requests that have been answered, and where their answers are: no URL is parsed, no signature computed and no plan made for them
/// once more. The bytes are those of the service, in memory or in the caches behind it.
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
        let fields: AnswerFields.Known
        /// The hash of the source's bytes.
        let hash: String
        let format: ImageFormat
        let place: ImageAnswer.Place

        /// Returns nil for an answer that no cache keeps.
        init?(_ answer: ImageAnswer, _ job: ImageJob, _ address: Originals.Address, _ fields: AnswerFields.Known) {
            guard let place = answer.place else { return nil }
            (self.job, self.address, self.fields) = (job, address, fields)
            (hash, format, self.place) = (answer.facts.hash, answer.format, place)
        }
    }

    /// An answer that holds, with the facts that hold now.
    struct Found {
        let recipe: Recipe
        let answer: ImageAnswer
    }

    private let recipes: MemoryCache<Key, Recipe>
    private let configuration: ServerConfiguration.Answer
    private let passedNames: [HTTPField.Name]

    init(_ configuration: ServerConfiguration, time: TimeSource) {
        recipes = MemoryCache(configuration: MemoryCacheConfiguration(costLimit: 16 << 20), timeSource: time)
        self.configuration = configuration.answer
        passedNames = configuration.source.passHeaders.compactMap { HTTPField.Name($0) }
    }

    /// The requests that are known.
    var count: Int { recipes.statistics.count }

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

    /// Returns how a request is answered, if it is known.
    func recipe(for key: Key) -> Recipe? { recipes.value(for: Self.withoutQuery(key)) ?? recipes.value(for: key) }

    /// Returns the answer of a recipe if it is in memory and still holds.
    func answer(inMemoryOf recipe: Recipe, _ service: ImageService, now: Int64) -> Found? {
        guard let bytes = service.answers.value(for: recipe.place.key) else { return nil }
        return Self.found(recipe, bytes, service, now: now)
    }

    /// Returns the answer of a recipe if the disk or the machines' store has it and it still holds.
    func answer(keptOf recipe: Recipe, _ service: ImageService, now: Int64) async -> Found? {
        guard Self.facts(of: recipe, service.originals, now: now) != nil,
            let bytes = await service.kept(at: recipe.place)
        else { return nil }
        // The facts may have changed meanwhile.
        return Self.found(recipe, bytes, service, now: now)
    }

    private static func found(_ recipe: Recipe, _ bytes: AnswerBytes, _ service: ImageService, now: Int64) -> Found? {
        guard let facts = facts(of: recipe, service.originals, now: now) else { return nil }
        let answer = ImageAnswer(
            bytes: bytes, format: recipe.format, isOriginal: false, facts: facts, place: recipe.place)
        return Found(recipe: recipe, answer: answer)
    }

    /// Returns the facts about the source of an answer; nil if the answer does not hold any more.
    private static func facts(of recipe: Recipe, _ originals: Originals, now: Int64) -> SourceFacts? {
        guard !recipe.job.isExpired(now: now), let facts = originals.knownFacts(at: recipe.address),
            facts.hash == recipe.hash, originals.isCurrent(recipe.address)
        else { return nil }
        return facts
    }

    /// - Parameter ignoresQuery: whether the query of the target has no part in the answer.
    func insert(_ recipe: Recipe, for key: Key, ignoresQuery: Bool) {
        let key = ignoresQuery ? Self.withoutQuery(key) : key
        recipes.insert(recipe, for: key, cost: key.target.utf8.count + 2048)
    }
}
