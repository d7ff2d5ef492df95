import CZlib
import Foundation
import TestSupport

/// Damage that depends on a seed alone.
struct Mutation {
    private var random: SplitMix

    init(seed: UInt64) { random = SplitMix(state: seed &* 0x2545_F491_4F6C_DD1D) }

    /// One to three kinds of damage. Half of the PNGs get checksums that are right again, so that what lies behind them is
    /// reached.
    static func apply(seed: UInt64, to data: Data) -> Data {
        guard seed > 0, !data.isEmpty else { return data }
        var mutation = Mutation(seed: seed)
        var bytes = [UInt8](data)
        for _ in 0..<Int.random(in: 1...3, using: &mutation.random) where !bytes.isEmpty { mutation.damage(&bytes) }
        if bytes.starts(with: [0x89, 0x50, 0x4E, 0x47]), Bool.random(using: &mutation.random) {
            repairChecksums(ofPNG: &bytes)
        }
        return Data(bytes)
    }

    private mutating func damage(_ bytes: inout [UInt8]) {
        switch Int.random(in: 0..<10, using: &random) {
        case 0...2: flip(&bytes)
        case 3: bytes.removeLast(Int.random(in: 0..<bytes.count, using: &random))
        case 4: duplicate(&bytes)
        case 5: fill(&bytes)
        default: inflate(&bytes)
        }
    }

    /// Headers are small and stand in front, so half of all damage is done there.
    private mutating func place(in bytes: [UInt8]) -> Int {
        let end = Bool.random(using: &random) ? min(bytes.count, 512) : bytes.count
        return Int.random(in: 0..<end, using: &random)
    }

    private mutating func flip(_ bytes: inout [UInt8]) {
        for _ in 0..<Int.random(in: 1...8, using: &random) {
            bytes[place(in: bytes)] ^= 1 << UInt8.random(in: 0..<8, using: &random)
        }
    }

    private mutating func duplicate(_ bytes: inout [UInt8]) {
        let start = place(in: bytes)
        let part = bytes[start..<min(bytes.count, start + Int.random(in: 1...4096, using: &random))]
        let copies = repeatElement(part, count: Int.random(in: 1...16, using: &random)).joined()
        bytes.insert(contentsOf: Array(copies), at: place(in: bytes))
    }

    private mutating func fill(_ bytes: inout [UInt8]) {
        let start = place(in: bytes)
        let value: UInt8 = [0, 0xFF, 0x7F, 0x20][Int.random(in: 0..<4, using: &random)]
        for index in start..<min(bytes.count, start + Int.random(in: 1...64, using: &random)) { bytes[index] = value }
    }

    /// Writes over what may be a size or a length.
    private mutating func inflate(_ bytes: inout [UInt8]) {
        let width = [1, 2, 2, 3, 4, 4, 8][Int.random(in: 0..<7, using: &random)]
        let values: [UInt64] = [
            .max, .max >> 1, 0xFFFF_FFFF, 0x7FFF_FFFF, 0x8000_0000, 0x1000_0000, 0xFFFF, 0x8000, 0x4000, 4096, 1, 0,
        ]
        var value = values[Int.random(in: 0..<values.count, using: &random)]
        if Bool.random(using: &random) { value = value.byteSwapped >> UInt64(64 - width * 8) }
        let start = place(in: bytes)
        for index in 0..<width where start + index < bytes.count {
            bytes[start + index] = UInt8(truncatingIfNeeded: value >> UInt64(index * 8))
        }
    }

    private static func repairChecksums(ofPNG bytes: inout [UInt8]) {
        var offset = 8
        while offset + 12 <= bytes.count {
            let length = bytes[offset..<offset + 4].reduce(0) { $0 << 8 | Int($1) }
            guard offset + 12 + length <= bytes.count else { return }
            let end = offset + 8 + length
            let sum = bytes.withUnsafeBufferPointer {
                crc32_z(0, $0.baseAddress.map { $0 + offset + 4 }, length + 4)
            }
            for index in 0..<4 { bytes[end + index] = UInt8(truncatingIfNeeded: sum >> UInt(24 - index * 8)) }
            offset = end + 4
        }
    }
}
