/// Reads numbers bit by bit, from the highest of each byte on. Behind the end it reads zeros, and says so.
struct BitReader {
    private let bytes: UnsafeRawBufferPointer
    private let skipsPrevention: Bool
    private var position = 0
    private var bit = 0
    private var zeros = 0
    /// Whether more was asked for than there is.
    private(set) var isOver = false

    /// - Parameter skipsPrevention: whether a 3 behind two zeros is there only so that no start code is, as in H.265.
    init(_ reader: ByteReader, skipsPrevention: Bool = false) {
        bytes = reader.bytes
        self.skipsPrevention = skipsPrevention
    }

    mutating func flag() -> Bool { bits(1) == 1 }

    /// At most 32 bits.
    mutating func bits(_ count: Int) -> Int {
        var value = 0
        for _ in 0..<count { value = value << 1 | next() }
        return value
    }

    mutating func skip(_ count: Int) {
        for _ in 0..<count { _ = next() }
    }

    /// A number in Exp-Golomb code (`ue(v)`), at most 2^32 - 1.
    mutating func expGolomb() -> Int {
        var length = 0
        while length < 32, !isOver, next() == 0 { length += 1 }
        return (1 << length) - 1 + bits(length)
    }

    /// A number whose length stands before it (`uvlc`), which only has to be passed over.
    mutating func skipVariable() { _ = expGolomb() }

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
