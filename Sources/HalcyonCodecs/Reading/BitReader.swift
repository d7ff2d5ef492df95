/// A reader of numbers bit by bit, starting at the highest bit of each byte. Beyond the end it reads zeros and sets
/// `isOver`.
package struct BitReader {
    private let bytes: UnsafeRawBufferPointer
    private let skipsPrevention: Bool
    private var position = 0
    private var bit = 0
    private var zeros = 0
    /// Whether bits beyond the end were read.
    private(set) var isOver = false

    /// - Parameter skipsPrevention: whether to skip each byte 3 that follows two zero bytes, the emulation prevention
    ///   byte of H.265, which keeps start codes out of the data.
    package init(_ reader: ByteReader, skipsPrevention: Bool = false) {
        bytes = reader.bytes
        self.skipsPrevention = skipsPrevention
    }

    package mutating func flag() -> Bool { bits(1) == 1 }

    /// Reads a number of at most 32 bits.
    package mutating func bits(_ count: Int) -> Int {
        var value = 0
        for _ in 0..<count { value = value << 1 | next() }
        return value
    }

    package mutating func skip(_ count: Int) {
        for _ in 0..<count { _ = next() }
    }

    /// Reads a number in Exp-Golomb code (`ue(v)`), at most 2^32 - 1.
    package mutating func expGolomb() -> Int {
        var length = 0
        while length < 32, !isOver, next() == 0 { length += 1 }
        return (1 << length) - 1 + bits(length)
    }

    /// Skips a number that is preceded by its length (`uvlc`).
    package mutating func skipVariable() { _ = expGolomb() }

    private mutating func next() -> Int {
        if bit == 0 { stepOverPrevention() }
        guard position < bytes.count else {
            isOver = true
            return 0
        }
        let value = Int(bytes[position] >> UInt8(7 - bit) & 1)
        bit += 1
        if bit == 8 {
            zeros = bytes[position] == 0 ? zeros + 1 : 0
            (bit, position) = (0, position + 1)
        }
        return value
    }

    private mutating func stepOverPrevention() {
        guard skipsPrevention, zeros >= 2, position < bytes.count, bytes[position] == 3 else { return }
        position += 1
        zeros = 0
    }
}
