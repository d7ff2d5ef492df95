import HalcyonSystem
import Synchronization

/// A record of the changes that a cache receives for a source while other work uses an earlier state of that source.
///
/// Loads of one source may run at the same time: a slow one that uses the disk's entry, and one that reloads. The image of the
/// former is good for its waiters, but older than the contents of the caches by then.
final class SourceChanges: Sendable {
    fileprivate struct Key: Hashable {
        let source: ExactString
        let user: KeyedHash?

        init(_ key: ImageKey) { (source, user) = (ExactString(key.source), key.user) }
    }

    /// The changes of one source, recorded for as long as any work uses it.
    fileprivate final class Entry: Sendable {
        let changes = Lock<[Change]>([])
    }

    fileprivate struct Change {
        /// The moment at which the change was requested.
        let asked: Int
        let fetch: FetchKey?
        let levels: CacheLevels
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

    /// Returns the next moment of a counter.
    fileprivate static func moment() -> Int { lastMoment.add(1, ordering: .relaxed).newValue }

    /// Returns a mark of the present moment, at which some work with a key's source begins.
    func mark(_ key: ImageKey) -> SourceMark {
        SourceMark(key.user == nil ? [entry(Key(key))] : [entry(Key(key)), entry(Key(key.of(nil)))])
    }

    /// Records that the cache has received something newer of a key's source, or that the source was removed.
    ///
    /// - Parameters:
    ///   - levels: the levels that the change affects.
    ///   - fetch: the fetch that brought it; nil for a removal.
    ///   - asked: the moment at which that fetch began; nil is now.
    func add(_ levels: CacheLevels, for key: ImageKey, by fetch: FetchKey? = nil, asked: SourceMark? = nil) {
        let change = Change(asked: asked?.asked ?? Self.moment(), fetch: fetch, levels: levels)
        // Without an entry no work uses the source.
        existing(Key(key))?.changes.withLock { $0.append(change) }
    }

    /// Returns the number of changes since the current work with a key's source began, except those of a like fetch.
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
                // Twice the number of live entries, so that each scan has a constant amortized cost.
                state.limit = max(64, state.entries.count * 2)
            }
            return entry
        }
    }
}

/// The moment at which some work with a source began.
struct SourceMark: Sendable {
    /// The entries of the user and of the shared source, each with its number of changes at that moment.
    private let entries: [(entry: SourceChanges.Entry, count: Int)]
    fileprivate let asked = SourceChanges.moment()

    fileprivate init(_ entries: [SourceChanges.Entry]) {
        self.entries = entries.map { entry in (entry, entry.changes.withLock { $0.count }) }
    }

    /// Whether the cache has received something newer since.
    ///
    /// - Parameter isAnswer: whether the work brought a response of the server, which only changes requested after it make
    ///   outdated.
    func isOutdated(in levels: CacheLevels, isAnswer: Bool = false) -> Bool {
        entries.contains { entry, count in
            entry.changes.withLock { changes in
                changes[count...].contains { !$0.levels.isDisjoint(with: levels) && (!isAnswer || $0.asked > asked) }
            }
        }
    }
}
