import Foundation
import HalcyonSystem
import TestSupport
import Testing

@testable import HalcyonCache

/// Files that a disk has changed behind the cache's back: never other bytes than were stored, never a trap.
@Suite(.timeLimit(.minutes(15)))
struct DiskBitRotTests {
    struct Shape: CustomTestStringConvertible, Sendable {
        let testDescription: String
        var key = DiskFixture.key
        var data = DiskFixture.data
        var metadata = Data()
        var extended = Data()
    }

    /// Made each time: the leak checker does not see that a global of them is still held.
    static var shapes: [Shape] {
        [
            Shape(testDescription: "plain"),
            Shape(testDescription: "nothing", key: CacheKey([]), data: Data()),
            Shape(testDescription: "empty data, metadata", data: Data(), metadata: Data("a header".utf8)),
            Shape(testDescription: "empty data, extended data", data: Data(), extended: Data([0, 1, 0xFF])),
            Shape(testDescription: "zeros", data: Data(count: 64), metadata: Data(count: 8), extended: Data(count: 8)),
            Shape(
                testDescription: "everything", metadata: Data("a header".utf8),
                extended: Data(repeating: 0x89, count: 40)),
            Shape(testDescription: "long key", key: CacheKey(String(repeating: "k", count: 300).utf8)),
            Shape(
                testDescription: "trailer beyond the tail", key: CacheKey(String(repeating: "key", count: 1400).utf8),
                metadata: Data([1])),
        ]
    }

    private static let isSoak = ProcessInfo.processInfo.environment["HALCYON_SOAK"] != nil
    private let threads = ThreadPool(name: "test-rot", threads: 1)

    /// An entry's file, to be put back damaged.
    private struct Specimen: Sendable {
        let fixture: DiskFixture
        let key: CacheKey
        let bytes: Data

        init(_ shape: Shape, sizeLimit: Int = 1 << 20) throws {
            fixture = DiskFixture(sizeLimit: sizeLimit)
            key = shape.key
            try fixture.cache.storeSynchronously(
                shape.data, metadata: shape.metadata, extended: shape.extended, for: shape.key)
            bytes = try Data(contentsOf: fixture.file(shape.key))
        }

        /// Whether a read of a file with these bytes finds no entry and removes the file.
        func isMiss(_ damaged: Data) throws -> Bool {
            try fixture.write(damaged, as: key)
            return fixture.cache.entrySynchronously(for: key) == nil && !fixture.exists(key)
        }

        func isMiss(flipping bit: Int) throws -> Bool {
            var damaged = bytes
            damaged[bit / 8] ^= 1 << UInt8(bit % 8)
            return try isMiss(damaged)
        }

        /// The file itself was good: what was found is the damage.
        func checkIsWhole(_ shape: Shape, misses: Int) throws {
            #expect(fixture.cache.statistics.damaged == misses)
            try fixture.write(bytes, as: key)
            let entry = try #require(fixture.cache.entrySynchronously(for: key))
            #expect(entry.data == shape.data)
            #expect(entry.metadata == shape.metadata)
            #expect(entry.extended == shape.extended)
        }
    }

    @Test(arguments: shapes)
    func everyFlippedBitIsAMiss(shape: Shape) async throws {
        try await threads.run { _ in
            let specimen = try Specimen(shape)
            // Long files have every ninth bit flipped, a different one in each byte, unless the full counts are run.
            let step = Self.isSoak || specimen.bytes.count < 300 ? 1 : 9
            var misses = 0
            for bit in stride(from: 0, to: specimen.bytes.count * 8, by: step) {
                guard try specimen.isMiss(flipping: bit) else {
                    Issue.record("bit \(bit % 8) of byte \(bit / 8) of \(specimen.bytes.count)")
                    continue
                }
                misses += 1
            }
            try specimen.checkIsWhole(shape, misses: misses)
            if Self.isSoak { print("bit rot, \(shape.testDescription): \(misses) flipped bits, each a miss") }
        }
    }

    @Test(arguments: shapes)
    func everyLengthIsAMiss(shape: Shape) async throws {
        try await threads.run { _ in
            let specimen = try Specimen(shape)
            let bytes = specimen.bytes
            let step = Self.isSoak || bytes.count < 300 ? 1 : 7
            for length in stride(from: 0, to: bytes.count, by: step) {
                #expect(try specimen.isMiss(bytes.prefix(length)), "the first \(length)")
                #expect(try specimen.isMiss(Data(bytes.suffix(length))), "the last \(length)")
                // A file system that lost the end may return zeros in its place.
                let zeros = bytes.prefix(length) + Data(count: bytes.count - length)
                if zeros != bytes { #expect(try specimen.isMiss(zeros), "zeros from \(length)") }
            }
            for length in [1, 7, 67, 68, 69, 4096] {
                #expect(try specimen.isMiss(bytes + Data(count: length)), "\(length) zeros behind")
                #expect(try specimen.isMiss(bytes + Data(repeating: 0xFF, count: length)), "\(length) ones behind")
                #expect(try specimen.isMiss(Data(count: length) + bytes), "\(length) zeros before")
            }
            #expect(try specimen.isMiss(bytes + bytes))
            #expect(try specimen.isMiss(bytes + bytes.suffix(68)))
            #expect(specimen.fixture.cache.entrySynchronously(for: shape.key) == nil)
        }
    }

    /// A trailer that declares other lengths, with correct sums of them, and has a wrong checksum of its own.
    @Test func aFooterThatIsConsistentAndWrong() async throws {
        try await threads.run { _ in
            let specimen = try Specimen(Self.shapes[5])
            let footer = specimen.bytes.count - 68
            for (from, to) in [(0, 8), (8, 0), (0, 16), (16, 0), (20, 16), (16, 20), (8, 20)] {
                var damaged = specimen.bytes
                // One byte less there and one more here.
                damaged[footer + from] -= 1
                damaged[footer + to] += 1
                #expect(try specimen.isMiss(damaged), "\(from) to \(to)")
            }
        }
    }

    /// 300 KiB, and more than what is read in one piece without a look at its end.
    @Test(arguments: [(300 << 10, 100), ((16 << 20) + 5, 6)])
    func aLargeEntry(size: Int, count: Int) async throws {
        let rounds = Self.isSoak ? count * 20 : count
        try await threads.run { _ in
            var random = SplitMix(state: UInt64(size))
            var data = Data(count: size)
            for index in stride(from: 0, to: size, by: 997) { data[index] = UInt8(truncatingIfNeeded: random.next()) }
            let shape = Shape(testDescription: "large", data: data, metadata: Data([1]), extended: Data([2]))
            let specimen = try Specimen(shape, sizeLimit: 64 << 20)
            let footer = (specimen.bytes.count - 68) * 8
            var bits = (0..<rounds).map { _ in Int.random(in: 0..<specimen.bytes.count * 8, using: &random) }
            // The ends, and some of the footer, where the lengths stand.
            bits += [0, specimen.bytes.count * 8 - 1, footer + 3, footer + 8 * 8, footer + 16 * 8]
            for bit in bits { #expect(try specimen.isMiss(flipping: bit), "bit \(bit)") }
            for _ in 0..<rounds / 4 {
                let length = Int.random(in: 0..<specimen.bytes.count, using: &random)
                #expect(try specimen.isMiss(specimen.bytes.prefix(length)), "the first \(length)")
            }
            #expect(try specimen.isMiss(specimen.bytes + Data([0])))
            try specimen.checkIsWhole(shape, misses: bits.count + rounds / 4 + 1)
        }
    }
}
