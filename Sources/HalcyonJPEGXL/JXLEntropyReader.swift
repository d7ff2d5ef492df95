import HalcyonCodecs

/// A reader of entropy-coded numbers (ISO/IEC 18181-1, annex C): of those in a table of contents, which tell where a frame ends.
///
/// The pixels are read by libjxl alone.
struct JXLEntropyReader {
    /// The data is not a valid code.
    struct Invalid: Error {}

    /// The split of a number into a symbol and the bits behind it.
    private struct Splitting {
        var exponent = 0
        var high = 0
        var low = 0

        init() {}

        init(_ reader: inout JXLBitReader, alphabetBits: Int) throws {
            exponent = reader.bits(JXLEntropyReader.ceilLog2(alphabetBits + 1))
            guard exponent != alphabetBits else { return }
            high = reader.bits(JXLEntropyReader.ceilLog2(exponent + 1))
            guard high <= exponent else { throw Invalid() }
            low = reader.bits(JXLEntropyReader.ceilLog2(exponent - high + 1))
            guard low + high <= exponent else { throw Invalid() }
        }

        func number(_ symbol: Int, _ reader: inout JXLBitReader) -> Int {
            guard symbol >= 1 << exponent else { return symbol }
            let count = (exponent - high - low + (symbol - 1 << exponent) >> (high + low)) & 31
            let lowest = symbol & (1 << low - 1)
            let highest = 1 << high | symbol >> low & (1 << high - 1)
            return ((highest << count | reader.bits(count)) << low | lowest) & 0xFFFF_FFFF
        }
    }

    /// References to numbers that were read before.
    private struct Repeats {
        let firstSymbol: Int
        let shortest: Int
        let lengths: Splitting
        var distanceCode = 0
        /// The last 2^20 numbers.
        var read: [Int] = []
        var position = 0
        var left = 0
    }

    private static let window = 1 << 20
    private static let finalState = 0x13_0000

    private var codes: [JXLSymbolCode] = []
    private var splittings: [Splitting] = []
    private var map: [Int]
    private var repeats: Repeats?
    private var state = Self.finalState

    /// Reads the codes for numbers in so many contexts.
    ///
    /// - Throws: `Invalid`.
    init(_ reader: inout JXLBitReader, contexts: Int, allowsRepeats: Bool = true) throws {
        map = Array(repeating: 0, count: contexts)
        if reader.flag() {
            guard allowsRepeats else { throw Invalid() }
            let first = reader.number(.value(224), .value(512), .value(4096), .bits(15, from: 8))
            let shortest = reader.number(.value(3), .value(4), .bits(2, from: 5), .bits(8, from: 9))
            repeats = Repeats(
                firstSymbol: first, shortest: shortest, lengths: try Splitting(&reader, alphabetBits: 8))
            map.append(0)
        }
        if map.count > 1 { try readMap(&reader) }
        repeats?.distanceCode = map[map.count - 1]
        let count = (map.max() ?? 0) + 1
        let isPrefix = reader.flag()
        let alphabetBits = isPrefix ? JXLSymbolCode.longestPrefix : 5 + reader.bits(2)
        for _ in 0..<count { splittings.append(try Splitting(&reader, alphabetBits: alphabetBits)) }
        codes =
            isPrefix
            ? try JXLSymbolCode.prefixCodes(count, &reader)
            : try (0..<count).map { _ in try JXLSymbolCode(distribution: &reader, alphabetBits: alphabetBits) }
        guard !reader.isOver else { throw Invalid() }
        if !isPrefix { state = reader.bits(32) }
    }

    /// Reads the code of each context.
    private mutating func readMap(_ reader: inout JXLBitReader) throws {
        if reader.flag() {
            let bits = reader.bits(2)
            for index in map.indices { map[index] = reader.bits(bits) }
        } else {
            let isMoved = reader.flag()
            var entries = try JXLEntropyReader(&reader, contexts: 1, allowsRepeats: map.count > 2)
            for index in map.indices { map[index] = try entries.next(0, &reader) }
            guard entries.isAtEnd, map.allSatisfy({ $0 < 256 }) else { throw Invalid() }
            if isMoved {
                var order = Array(0..<256)
                for index in map.indices {
                    let value = order.remove(at: map[index])
                    order.insert(value, at: 0)
                    map[index] = value
                }
            }
        }
        // Every code is used.
        guard Set(map).count == (map.max() ?? 0) + 1 else { throw Invalid() }
    }

    /// Whether the last number ended as the format prescribes.
    var isAtEnd: Bool { state == Self.finalState }

    /// Reads the next number in a context.
    ///
    /// - Throws: `Invalid`.
    mutating func next(_ context: Int, _ reader: inout JXLBitReader) throws -> Int {
        let code = map[context]
        guard var repeats else { return try number(code, symbol(code, &reader), &reader) }
        // Otherwise the numbers would be copied for each further one.
        self.repeats = nil
        defer { self.repeats = repeats }
        if repeats.left == 0 {
            let symbol = try symbol(code, &reader)
            if symbol < repeats.firstSymbol {
                let number = try number(code, symbol, &reader)
                repeats.read.append(number)
                return number
            }
            repeats.left = repeats.lengths.number(symbol - repeats.firstSymbol, &reader) + repeats.shortest
            // libjxl counts in 32 bits.
            guard repeats.left <= 0xFFFF_FFFF else { throw Invalid() }
            let far = try number(repeats.distanceCode, self.symbol(repeats.distanceCode, &reader), &reader)
            repeats.position = repeats.read.count - min(far + 1, repeats.read.count, Self.window)
        }
        let number = repeats.position < repeats.read.count ? repeats.read[repeats.position] : 0
        repeats.position += 1
        repeats.left -= 1
        repeats.read.append(number)
        return number
    }

    private func number(_ code: Int, _ symbol: Int, _ reader: inout JXLBitReader) throws -> Int {
        guard !reader.isOver else { throw Invalid() }
        return splittings[code].number(symbol, &reader)
    }

    private mutating func symbol(_ code: Int, _ reader: inout JXLBitReader) throws -> Int {
        guard !reader.isOver else { throw Invalid() }
        return try codes[code].next(&state, &reader)
    }

    /// Returns the number of bits that a number below `value` takes.
    static func ceilLog2(_ value: Int) -> Int { value <= 1 ? 0 : Int.bitWidth - (value - 1).leadingZeroBitCount }
}
