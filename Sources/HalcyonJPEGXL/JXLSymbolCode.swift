import HalcyonCodecs

/// The code of the symbols of one distribution: a prefix code, or an asymmetric numeral system over 4096 states.
struct JXLSymbolCode {
    typealias Invalid = JXLEntropyReader.Invalid

    /// The most bits of a prefix.
    static let longestPrefix = 15
    private static let rangeBits = 12
    private static let range = 1 << rangeBits

    private enum Kind {
        /// The symbols by the length of their prefix and their number, and how many there are of each length.
        case prefix(symbols: [Int], counts: [Int])
        case states([Slot], slotBits: Int)
    }

    /// A part of the states: those below `cut` are of the symbol that has the slot's own number, the others of another symbol.
    private struct Slot {
        var cut: Int
        var other: Int
        var offset = 0
    }

    private let kind: Kind
    private var frequencies: [Int] = []

    /// Reads the next symbol.
    func next(_ state: inout Int, _ reader: inout JXLBitReader) throws -> Int {
        switch kind {
        case .prefix(let symbols, let counts):
            return try Self.prefixed(symbols, counts, &reader)
        case .states(let slots, let slotBits):
            let low = state & (Self.range - 1)
            let (index, position) = (low >> slotBits, low & (1 << slotBits - 1))
            let slot = slots[index]
            let isOther = position >= slot.cut
            let symbol = isOther ? slot.other : index
            let offset = isOther ? slot.offset + position : position
            state = (frequencies[symbol] * (state >> Self.rangeBits) + offset) & 0xFFFF_FFFF
            if state < 1 << 16 { state = state << 16 | reader.bits(16) }
            return symbol
        }
    }

    // MARK: - Prefix codes

    /// Reads the prefix codes of so many distributions.
    static func prefixCodes(_ count: Int, _ reader: inout JXLBitReader) throws -> [JXLSymbolCode] {
        let sizes = (0..<count).map { _ in number(&reader, lengthBits: 4) + 1 }
        guard sizes.allSatisfy({ $0 <= 1 << longestPrefix }), !reader.isOver else { throw Invalid() }
        return try sizes.map { JXLSymbolCode(lengths: try prefixLengths($0, &reader)) }
    }

    /// Makes the canonical code of these lengths of prefixes, by symbol; 0 for a symbol that does not occur.
    private init(lengths: [Int]) {
        var counts = Array(repeating: 0, count: Self.longestPrefix + 1)
        for length in lengths where length > 0 { counts[length] += 1 }
        let symbols = lengths.indices.filter { lengths[$0] > 0 }.sorted { (lengths[$0], $0) < (lengths[$1], $1) }
        kind = .prefix(symbols: symbols, counts: counts)
    }

    private static func prefixed(_ symbols: [Int], _ counts: [Int], _ reader: inout JXLBitReader) throws -> Int {
        // A symbol that is alone takes no bits.
        guard symbols.count > 1 else { return symbols.first ?? 0 }
        var (code, first, index) = (0, 0, 0)
        for length in 1...longestPrefix {
            code |= reader.bits(1)
            if code - first < counts[length] { return symbols[index + code - first] }
            index += counts[length]
            (first, code) = ((first + counts[length]) << 1, code << 1)
        }
        throw Invalid()
    }

    private static func prefixLengths(_ size: Int, _ reader: inout JXLBitReader) throws -> [Int] {
        var lengths = Array(repeating: 0, count: size)
        guard size > 1 else { return lengths }
        let skipped = reader.bits(2)
        guard skipped != 1 else { return try simpleLengths(size, &reader) }
        let order = [1, 2, 3, 4, 0, 5, 17, 6, 16, 7, 8, 9, 10, 11, 12, 13, 14, 15]
        var (ofLengths, space, used) = (Array(repeating: 0, count: order.count), 32, 0)
        for index in skipped..<order.count where space > 0 {
            let length = lengthOfLength(&reader)
            ofLengths[order[index]] = length
            guard length > 0 else { continue }
            space -= 32 >> length
            used += 1
        }
        guard used == 1 || space == 0 else { throw Invalid() }
        try readLengths(&lengths, by: JXLSymbolCode(lengths: ofLengths), &reader)
        return lengths
    }

    private static func lengthOfLength(_ reader: inout JXLBitReader) -> Int {
        switch reader.bits(2) {
        case 0: 0
        case 1: 4
        case 2: 3
        default: !reader.flag() ? 2 : reader.flag() ? 5 : 1
        }
    }

    private static func readLengths(
        _ lengths: inout [Int], by code: JXLSymbolCode, _ reader: inout JXLBitReader
    ) throws {
        var (index, space, last, unused) = (0, 1 << longestPrefix, 8, 0)
        var (run, runLength) = (0, 0)
        while index < lengths.count, space > 0 {
            let length = try code.next(&unused, &reader)
            guard !reader.isOver else { throw Invalid() }
            guard length >= 16 else {
                run = 0
                lengths[index] = length
                index += 1
                if length > 0 { (last, space) = (length, space - (1 << longestPrefix) >> length) }
                continue
            }
            let repeated = length == 16 ? last : 0
            if repeated != runLength { (run, runLength) = (0, repeated) }
            let former = run
            if run > 0 { run = (run - 2) << (length - 14) }
            run += reader.bits(length - 14) + 3
            guard index + run - former <= lengths.count else { throw Invalid() }
            for _ in former..<run {
                lengths[index] = repeated
                index += 1
                if repeated > 0 { space -= (1 << longestPrefix) >> repeated }
            }
        }
        guard space == 0 else { throw Invalid() }
    }

    private static func simpleLengths(_ size: Int, _ reader: inout JXLBitReader) throws -> [Int] {
        let count = reader.bits(2) + 1
        let symbols = (0..<count).map { _ in reader.bits(JXLEntropyReader.ceilLog2(size)) }
        guard symbols.allSatisfy({ $0 < size }), Set(symbols).count == count else { throw Invalid() }
        let isSteep = count == 4 && reader.flag()
        var lengths = Array(repeating: 0, count: size)
        let ofSymbols = isSteep ? [1, 2, 3, 3] : [[1], [1, 1], [1, 2, 2], [2, 2, 2, 2]][count - 1]
        for (symbol, length) in zip(symbols, ofSymbols) { lengths[symbol] = length }
        return lengths
    }

    // MARK: - Numeral systems

    /// Reads a distribution.
    init(distribution reader: inout JXLBitReader, alphabetBits: Int) throws {
        var frequencies = try Self.frequencies(&reader)
        guard frequencies.count <= 1 << alphabetBits, !reader.isOver else { throw Invalid() }
        while frequencies.last == 0 { frequencies.removeLast() }
        if frequencies.isEmpty { frequencies = [Self.range] }
        let slotBits = Self.rangeBits - alphabetBits
        let slots = try Self.slots(frequencies, count: 1 << alphabetBits, size: 1 << slotBits)
        kind = .states(slots, slotBits: slotBits)
        self.frequencies = frequencies + Array(repeating: 0, count: 1 << alphabetBits - frequencies.count)
    }

    private static func frequencies(_ reader: inout JXLBitReader) throws -> [Int] {
        if reader.flag() {
            let symbols = (0...reader.bits(1)).map { _ in number(&reader, lengthBits: 3) }
            var frequencies = Array(repeating: 0, count: (symbols.max() ?? 0) + 1)
            frequencies[symbols[0]] = symbols.count == 1 ? range : reader.bits(rangeBits)
            guard symbols.count > 1 else { return frequencies }
            guard symbols[0] != symbols[1] else { throw Invalid() }
            frequencies[symbols[1]] = range - frequencies[symbols[0]]
            return frequencies
        }
        if reader.flag() {
            let count = number(&reader, lengthBits: 3) + 1
            return (0..<count).map { range / count + ($0 < range % count ? 1 : 0) }
        }
        return try codedFrequencies(&reader)
    }

    private static func codedFrequencies(_ reader: inout JXLBitReader) throws -> [Int] {
        var shiftBits = 0
        while shiftBits < 3, reader.flag() { shiftBits += 1 }
        let shift = (reader.bits(shiftBits) | 1 << shiftBits) - 1
        guard shift <= rangeBits + 1 else { throw Invalid() }
        let count = number(&reader, lengthBits: 3) + 3
        var (logs, runs) = (Array(repeating: 0, count: count), Array(repeating: 0, count: count))
        var (omitted, largest, index) = (-1, -1, 0)
        while index < count {
            logs[index] = frequencyLog(&reader)
            if logs[index] == rangeBits + 1 {
                runs[index] = number(&reader, lengthBits: 3) + 5
                index += runs[index] - 1
                continue
            }
            if logs[index] > largest { (largest, omitted) = (logs[index], index) }
            index += 1
        }
        guard omitted >= 0 else { throw Invalid() }
        var (frequencies, last, run) = (Array(repeating: 0, count: count), 0, 0)
        for index in 0..<count {
            if runs[index] > 0 { (run, last) = (runs[index] - 1, index > 0 ? frequencies[index - 1] : 0) }
            if run > 0 {
                frequencies[index] = last
                run -= 1
            } else if index != omitted, logs[index] > 0 {
                let log = logs[index] - 1
                let bits = max(0, min(log, shift - (rangeBits - log) >> 1))
                frequencies[index] = 1 << log + reader.bits(bits) << (log - bits)
            }
        }
        frequencies[omitted] = range - frequencies.reduce(0, +)
        guard frequencies[omitted] > 0 else { throw Invalid() }
        return frequencies
    }

    /// Reads the number of bits of a frequency; 13 for a run of equal ones.
    private static func frequencyLog(_ reader: inout JXLBitReader) -> Int {
        switch reader.bits(3) {
        case 0: 10
        case 2: 7
        case 4: 6
        case 5: 8
        case 6: 9
        case 3: reader.flag() ? 1 : 3
        case 7: reader.flag() ? 2 : 5
        default: reader.flag() ? 4 : reader.flag() ? 0 : reader.flag() ? 11 : reader.flag() ? 13 : 12
        }
    }

    /// Divides the states into slots of equal size, each of which is of two symbols at most.
    private static func slots(_ frequencies: [Int], count: Int, size: Int) throws -> [Slot] {
        if let only = frequencies.firstIndex(of: range) {
            return (0..<count).map { Slot(cut: 0, other: only, offset: size * $0) }
        }
        var slots = (0..<count).map { Slot(cut: $0 < frequencies.count ? frequencies[$0] : 0, other: $0) }
        var (less, more) = (
            slots.indices.filter { slots[$0].cut < size }, slots.indices.filter { slots[$0].cut > size }
        )
        while let full = more.popLast() {
            guard let empty = less.popLast() else { throw Invalid() }
            slots[full].cut -= size - slots[empty].cut
            (slots[empty].other, slots[empty].offset) = (full, slots[full].cut)
            if slots[full].cut < size { less.append(full) } else if slots[full].cut > size { more.append(full) }
        }
        for index in slots.indices {
            if slots[index].cut == size {
                slots[index] = Slot(cut: 0, other: index)
            } else {
                slots[index].offset -= slots[index].cut
            }
        }
        return slots
    }

    /// Reads a number that is preceded by the length of its bits.
    private static func number(_ reader: inout JXLBitReader, lengthBits: Int) -> Int {
        guard reader.flag() else { return 0 }
        let count = reader.bits(lengthBits)
        return count == 0 ? 1 : 1 << count + reader.bits(count)
    }
}
