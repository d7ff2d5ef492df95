import CHiredis

/// A command in the form in which it is sent, made by hiredis.
///
/// `@unchecked Sendable` because the bytes are never changed.
final class RedisCommand: @unchecked Sendable {
    /// The command's name, for errors. Arguments are in none.
    let name: String
    /// The bytes, which belong to this object.
    let bytes: UnsafeRawBufferPointer
    private let allocation: UnsafeMutablePointer<CChar>

    /// Creates a command. Costs one copy of its arguments.
    ///
    /// - Throws: `RedisStoreError.busy` if there is no memory for it.
    init(_ name: String, _ arguments: [Argument]) throws(RedisStoreError) {
        var text: UnsafeMutablePointer<CChar>?
        var pointers: [UnsafePointer<CChar>?] = []
        var lengths: [Int] = []
        let count = Self.withPointers([Argument(name)][...] + arguments, &pointers, &lengths) { pointers, lengths in
            Int(redisFormatCommandArgv(&text, Int32(clamping: pointers.count), &pointers, lengths))
        }
        guard count > 0, let text else { throw .busy }
        self.name = name
        allocation = text
        bytes = UnsafeRawBufferPointer(start: text, count: count)
    }

    convenience init(_ name: String, _ arguments: Argument...) throws(RedisStoreError) {
        try self.init(name, arguments)
    }

    deinit { redisFreeCommand(allocation) }

    /// The bytes of an argument.
    struct Argument: ExpressibleByStringInterpolation {
        let bytes: [UInt8]

        init(_ bytes: [UInt8]) { self.bytes = bytes }
        init(_ text: some StringProtocol) { bytes = Array(text.utf8) }
        init(_ number: Int) { self.init(String(number)) }
        init(stringLiteral text: String) { self.init(text) }
    }

    /// Calls `body` with the addresses and lengths of all arguments.
    private static func withPointers(
        _ arguments: ArraySlice<Argument>, _ pointers: inout [UnsafePointer<CChar>?], _ lengths: inout [Int],
        _ body: (inout [UnsafePointer<CChar>?], [Int]) -> Int
    ) -> Int {
        guard let first = arguments.first else { return body(&pointers, lengths) }
        return first.bytes.withUnsafeBytes { bytes in
            pointers.append(bytes.baseAddress?.assumingMemoryBound(to: CChar.self))
            lengths.append(bytes.count)
            return withPointers(arguments.dropFirst(), &pointers, &lengths, body)
        }
    }
}
