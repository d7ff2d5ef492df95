/// Tells serializers from each other, so that loads share their work only where the same bytes are kept and read.
///
/// Values that can be compared are; of others only those that are the same to the bit are taken for one: an object by its
/// identity, a structure by what is in it. Some that are equal are not found to be so, and share less.
struct SerializerKey: Hashable, Sendable {
    /// Its references live for as long as the key, so that no other object takes their place.
    private let serializer: any CacheSerializer
    private let type: ObjectIdentifier
    /// Nil where the values compare themselves.
    private let bits: [UInt8]?

    init(_ serializer: any CacheSerializer) {
        self.serializer = serializer
        type = ObjectIdentifier(Swift.type(of: serializer))
        bits = serializer is any Hashable ? nil : Self.bits(of: serializer)
    }

    private static func bits(of serializer: some CacheSerializer) -> [UInt8] {
        withUnsafeBytes(of: serializer) { Array($0) }
    }

    static func == (left: SerializerKey, right: SerializerKey) -> Bool {
        guard left.type == right.type, left.bits == right.bits else { return false }
        guard left.bits == nil, let value = left.serializer as? any Hashable else { return true }
        return isEqual(value, right.serializer)
    }

    private static func isEqual<Value: Hashable>(_ value: Value, _ other: any CacheSerializer) -> Bool {
        (other as? Value) == value
    }

    func hash(into hasher: inout Hasher) {
        hasher.combine(type)
        hasher.combine(bits)
        if bits == nil, let value = serializer as? any Hashable { value.hash(into: &hasher) }
    }
}
