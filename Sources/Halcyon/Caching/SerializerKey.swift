/// The identity of a serializer, so that loads share their work only if the same bytes are stored and read.
///
/// `Hashable` serializers compare themselves. Others are the same only if they are identical bit by bit: objects by identity,
/// structures by content. Some that are equal are not recognized as such, and share less.
struct SerializerKey: Hashable, Sendable {
    /// Retains the references, so that no other object can take their addresses while the key exists.
    private let serializer: any CacheSerializer
    private let type: ObjectIdentifier
    /// Nil if the serializers compare themselves.
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
