import Foundation

/// The stored form: a version, a byte of flags, the date, then the texts, each preceded by its length. It is not JSON
/// because it is read for every hit on disk; it has about 200 bytes.
extension HTTPCacheMetadata: Codable {
    private static let version: UInt8 = 2
    /// The bits of the flags that follow the version: whether the response is distrusted, and whether it varies with
    /// the user.
    private static let (distrusted, byUser): (UInt8, UInt8) = (1, 2)

    /// Returns the stored form.
    public func encoded() -> Data {
        var bytes = Data([Self.version, (isDistrusted ? Self.distrusted : 0) | (variesWithUser ? Self.byUser : 0)])
        Self.append(responseDate.timeIntervalSince1970.bitPattern, to: &bytes)
        Self.append(UInt32(fields.fields.count), to: &bytes)
        for field in fields.fields {
            Self.append(field.name, to: &bytes)
            Self.append(field.value, to: &bytes)
        }
        Self.append(UInt32(varyValues.count), to: &bytes)
        for (name, value) in varyValues.sorted(by: { $0.key < $1.key }) {
            Self.append(name, to: &bytes)
            bytes.append(value == nil ? 0 : 1)
            Self.append(value ?? "", to: &bytes)
        }
        return bytes
    }

    /// Reads the stored form that `encoded` returns, of this version or the first; nil for anything else, including
    /// later versions.
    public init?(decoding bytes: Data) {
        var reader = Reader(rest: bytes[...])
        guard let version = reader.byte(), version == 1 || version == Self.version,
            // The first version has no flags.
            let mark = version == 1 ? 0 : reader.byte(), let date = reader.integer(UInt64.self),
            let fieldCount = reader.integer(UInt32.self)
        else { return nil }
        var fields = HTTPHeaders()
        for _ in 0..<fieldCount {
            guard let name = reader.text(), let value = reader.text() else { return nil }
            fields.append(name, value)
        }
        guard let varyCount = reader.integer(UInt32.self) else { return nil }
        var vary: [String: String?] = [:]
        for _ in 0..<varyCount {
            guard let name = reader.text(), let isPresent = reader.byte(), let value = reader.text() else { return nil }
            vary.updateValue(isPresent == 1 ? value : nil, forKey: name)
        }
        let seconds = TimeInterval(bitPattern: date)
        guard reader.rest.isEmpty, seconds.isFinite else { return nil }
        self.init(
            fields: fields, responseDate: Date(timeIntervalSince1970: seconds), varyValues: vary,
            isDistrusted: mark & Self.distrusted != 0,
            variesWithUser: version == 1 ? Self.variesWithUser(fields, .standard) : mark & Self.byUser != 0)
    }

    public init(from decoder: any Decoder) throws {
        let container = try decoder.singleValueContainer()
        guard let value = HTTPCacheMetadata(decoding: try container.decode(Data.self)) else {
            throw DecodingError.dataCorruptedError(in: container, debugDescription: "not HTTP cache metadata")
        }
        self = value
    }

    public func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode(encoded())
    }

    private static func append(_ value: some FixedWidthInteger, to bytes: inout Data) {
        withUnsafeBytes(of: value.littleEndian) { bytes.append(contentsOf: $0) }
    }

    private static func append(_ text: String, to bytes: inout Data) {
        append(UInt32(text.utf8.count), to: &bytes)
        bytes.append(contentsOf: text.utf8)
    }

    private struct Reader {
        var rest: Data.SubSequence

        mutating func byte() -> UInt8? { rest.popFirst() }

        mutating func integer<Value: FixedWidthInteger>(_ type: Value.Type) -> Value? {
            guard rest.count >= Value.bitWidth / 8 else { return nil }
            defer { rest = rest.dropFirst(Value.bitWidth / 8) }
            return Value(littleEndian: rest.withUnsafeBytes { $0.loadUnaligned(as: Value.self) })
        }

        mutating func text() -> String? {
            guard let count = integer(UInt32.self), rest.count >= Int(count) else { return nil }
            defer { rest = rest.dropFirst(Int(count)) }
            return String(validating: rest.prefix(Int(count)), as: UTF8.self)
        }
    }
}
