import HalcyonSystem
import Synchronization

/// A record of what a cache is given of a source while somebody works with what the source was before.
///
/// Loads of one source may be under way side by side: one that is slow with what the disk had, and one that reloads. What the
/// former makes is good for whoever waits for it, and older than what the caches have by then.
final class SourceNews: Sendable {
    fileprivate struct Key: Hashable {
        let source: ExactText
        let user: KeyedHash?

        init(_ key: ImageKey) { (source, user) = (ExactText(key.source), key.user) }
    }

    /// The changes of one source, for as long as somebody works with it.
    fileprivate final class Entry: Sendable {
        let changes = Lock<[Change]>([])
    }

    fileprivate struct Change {
        /// When it was asked for.
        let asked: Int
        let fetch: FetchKey?
        let levels: CachePolicy.Levels
    }

    private struct Weak {
        weak var entry: Entry?
    }

    private struct State {
        var entries: [Key: Weak] = [:]
        var limit = 64
    }

    private let state = Lock(State())
    private static let lastMoment = Atomic<Int>(0)

    /// Counts up.
    fileprivate static func moment() -> Int { lastMoment.add(1, ordering: .relaxed).newValue }

    /// Now, as the beginning of some work with a key's source.
    func mark(_ key: ImageKey) -> SourceMark {
        SourceMark(key.user == nil ? [entry(Key(key))] : [entry(Key(key)), entry(Key(key.of(nil)))])
    }

    /// The cache has got something newer of a key's source, or is to have nothing.
    ///
    /// - Parameters:
    ///   - fetch: what has brought it; nil where it was removed.
    ///   - asked: the beginning of that; nil is now.
    func add(_ levels: CachePolicy.Levels, for key: ImageKey, by fetch: FetchKey? = nil, asked: SourceMark? = nil) {
        let change = Change(asked: asked?.asked ?? Self.moment(), fetch: fetch, levels: levels)
        // Nobody works with it where there is none.
        existing(Key(key))?.changes.withLock { $0.append(change) }
    }

    /// How often something newer has come while somebody worked with a key's source, other than by such a fetch.
    func count(for key: ImageKey, notBy fetch: FetchKey) -> Int {
        guard let entry = existing(Key(key)) else { return 0 }
        return entry.changes.withLock { changes in
            changes.count { !$0.levels.isEmpty && $0.fetch?.isLike(fetch) != true }
        }
    }

    private func existing(_ key: Key) -> Entry? { state.withLock { $0.entries[key]?.entry } }

    private func entry(_ key: Key) -> Entry {
        state.withLock { state in
            if let entry = state.entries[key]?.entry { return entry }
            let entry = Entry()
            state.entries[key] = Weak(entry: entry)
            if state.entries.count > state.limit {
                state.entries = state.entries.filter { $0.value.entry != nil }
                // Twice what is alive, so that looking through them costs a constant time each on average.
                state.limit = max(64, state.entries.count * 2)
            }
            return entry
        }
    }
}

/// The moment at which some work with a source began.
struct SourceMark: Sendable {
    /// The user's own, and everybody's; with how much had changed by then.
    private let entries: [(entry: SourceNews.Entry, count: Int)]
    fileprivate let asked = SourceNews.moment()

    fileprivate init(_ entries: [SourceNews.Entry]) {
        self.entries = entries.map { entry in (entry, entry.changes.withLock { $0.count }) }
    }

    /// Whether the cache was given something newer meanwhile.
    ///
    /// - Parameter isAnswer: whether the work brought an answer of the server, which is older than those alone that were asked
    ///   for after it.
    func isOutdated(in levels: CachePolicy.Levels, isAnswer: Bool = false) -> Bool {
        entries.contains { entry, count in
            entry.changes.withLock { changes in
                changes[count...].contains { !$0.levels.isDisjoint(with: levels) && (!isAnswer || $0.asked > asked) }
            }
        }
    }
}
