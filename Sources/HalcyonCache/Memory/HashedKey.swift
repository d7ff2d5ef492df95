/// A key with its precomputed hash.
@usableFromInline
struct HashedKey<Key: Hashable>: Hashable {
    @usableFromInline let key: Key
    @usableFromInline let known: Int

    @inlinable
    init(_ key: Key, hash: Int) {
        self.key = key
        known = hash
    }

    @inlinable
    static func == (left: Self, right: Self) -> Bool { left.known == right.known && left.key == right.key }

    @inlinable
    func hash(into hasher: inout Hasher) { hasher.combine(known) }
}
