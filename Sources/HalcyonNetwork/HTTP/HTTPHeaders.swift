/// Header fields in the order in which they were sent or received; names compare case-insensitively.
///
/// It is a list, not a dictionary: a field may occur more than once, and there are rarely more than thirty. A lookup is
/// O(n) in the number of fields.
public struct HTTPHeaders: Sendable, Equatable, Hashable, Codable {
    /// A header field.
    public struct Field: Sendable, Equatable, Hashable, Codable {
        /// The name, which is compared case-insensitively.
        public var name: String
        /// The value, which is one of several if the field occurs more than once.
        public var value: String

        /// Creates a field. Neither text is checked here.
        public init(name: String, value: String) {
            self.name = name
            self.value = value
        }

        /// Compares names case-insensitively and values byte by byte: texts that Swift considers equal, such as
        /// composed and decomposed letters, differ for a server.
        public static func == (left: Field, right: Field) -> Bool {
            left.value == right.value && left.value.utf8.elementsEqual(right.value.utf8)
                && HTTPHeaders.isSame(left.name, right.name)
        }

        public func hash(into hasher: inout Hasher) {
            hasher.combine(name.lowercased())
            hasher.combine(value)
        }
    }

    /// All fields in order.
    public private(set) var fields: [Field]

    /// Creates a list of fields, which is empty by default.
    public init(_ fields: [Field] = []) {
        self.fields = fields
    }

    /// Whether there are no fields.
    public var isEmpty: Bool { fields.isEmpty }

    /// The first value of a field. Setting it replaces all values, setting nil removes them.
    public subscript(name: String) -> String? {
        get { fields.first { Self.isSame($0.name, name) }?.value }
        set {
            guard let newValue else { return remove(name) }
            set(name, newValue)
        }
    }

    /// Returns all values of a field in order.
    public func values(of name: String) -> [String] {
        fields.filter { Self.isSame($0.name, name) }.map(\.value)
    }

    /// Returns a field's values as one list, joined by commas as the protocol defines it; nil if the field is absent.
    public func combined(_ name: String) -> String? {
        guard let first = fields.firstIndex(where: { Self.isSame($0.name, name) }) else { return nil }
        // Nearly all fields occur once.
        let isOnly = !fields[(first + 1)...].contains { Self.isSame($0.name, name) }
        return isOnly ? fields[first].value : values(of: name).joined(separator: ", ")
    }

    /// Returns whether there is a field with this name, in any case.
    public func contains(_ name: String) -> Bool {
        fields.contains { Self.isSame($0.name, name) }
    }

    /// Replaces all values of a field by one, in the place of the first.
    public mutating func set(_ name: String, _ value: String) {
        guard let index = fields.firstIndex(where: { Self.isSame($0.name, name) }) else {
            return append(name, value)
        }
        fields[index].value = value
        var next = index + 1
        while next < fields.count {
            if Self.isSame(fields[next].name, name) { fields.remove(at: next) } else { next += 1 }
        }
    }

    /// Adds a value to those that a field already has.
    public mutating func append(_ name: String, _ value: String) {
        fields.append(Field(name: name, value: value))
    }

    /// Removes all values of a field; does nothing if there are none.
    public mutating func remove(_ name: String) {
        fields.removeAll { Self.isSame($0.name, name) }
    }

    /// Removes every field for whose name, in lower case, `matches` returns true.
    package mutating func removeAll(where matches: (String) -> Bool) {
        fields.removeAll { matches($0.name.lowercased()) }
    }

    /// Returns these fields, with each one that `other` has replaced by the values there.
    public func merging(_ other: HTTPHeaders) -> HTTPHeaders {
        if other.isEmpty { return self }
        var result = HTTPHeaders(fields.filter { !other.contains($0.name) })
        result.fields.append(contentsOf: other.fields)
        return result
    }

    /// Returns whether a text is a valid field name: a token of RFC 9110, 5.6.2.
    static func isName(_ text: String) -> Bool {
        !text.isEmpty
            && text.utf8.allSatisfy { byte in
                switch byte {
                case 0x30...0x39, 0x41...0x5A, 0x61...0x7A: true
                default: "!#$%&'*+-.^_`|~".utf8.contains(byte)
                }
            }
    }

    /// Compares two names without lower-case copies; only ASCII letters have a case in field names.
    static func isSame(_ left: String, _ right: String) -> Bool {
        guard left.utf8.count == right.utf8.count else { return false }
        return zip(left.utf8, right.utf8).allSatisfy { lowercase($0) == lowercase($1) }
    }

    private static func lowercase(_ byte: UInt8) -> UInt8 {
        byte >= 0x41 && byte <= 0x5A ? byte | 0x20 : byte
    }
}

extension HTTPHeaders: CustomStringConvertible, CustomDebugStringConvertible {
    /// The fields on one line; the values of those that may hold a secret, judging by their names, are left out.
    public var description: String { fields.map(\.description).joined(separator: ", ") }

    public var debugDescription: String { description }
}

extension HTTPHeaders.Field: CustomStringConvertible, CustomDebugStringConvertible {
    /// The field as it is sent, without the value if that may hold a secret, judging by the name.
    public var description: String {
        CredentialFields.standard.contains(name) ? "\(name): ***" : "\(name): \(value)"
    }

    public var debugDescription: String { description }
}

extension HTTPHeaders: ExpressibleByDictionaryLiteral {
    public init(dictionaryLiteral elements: (String, String)...) {
        fields = elements.map { Field(name: $0.0, value: $0.1) }
    }
}
