import Foundation
import HalcyonCache
import Testing

@testable import RedisStore

@Suite("The form of a value in Redis") struct StoredValueTests {
    private let key = CacheKey("https://example.com/a.jpg")
    private let storedAt = Date(timeIntervalSinceReferenceDate: 1000)

    private func value(metadata: Data = Data([5, 6]), keptUntil: Date? = nil, limit: Int = 1 << 20) throws -> Data {
        Data(
            try StoredValue.value(
                of: Data([1, 2, 3]), metadata: metadata, extended: Data([9]), for: key, storedAt: storedAt,
                keptUntil: keptUntil, limit: limit))
    }

    @Test("a value is read as it was written, also from the middle of other bytes") func roundTrip() throws {
        let value = try value(keptUntil: storedAt + 60)
        let shifted = (Data([0, 0, 0]) + value).dropFirst(3)
        for value in [value, shifted] {
            let entry = try StoredValue.entry(value, for: key)
            #expect(entry.data == Data([1, 2, 3]))
            #expect(entry.metadata == Data([5, 6]))
            #expect(entry.extended == Data([9]))
            #expect(entry.storedAt == storedAt)
            #expect(entry.keptUntil == storedAt + 60)
            #expect(entry.data.startIndex == 0)
        }
    }

    @Test("no byte can be changed, and none can be missing or added") func damage() throws {
        let value = try value()
        for index in value.indices {
            for mask in [1, 128] as [UInt8] {
                var damaged = value
                damaged[index] ^= mask
                #expect(throws: StoredValue.Foreign.self, "byte \(index)") { try StoredValue.entry(damaged, for: key) }
            }
            #expect(throws: StoredValue.Foreign.self) { try StoredValue.entry(value.prefix(index), for: key) }
        }
        #expect(throws: StoredValue.Foreign.self) { try StoredValue.entry(value + [0], for: key) }
        #expect(throws: StoredValue.Foreign.self) { try StoredValue.entry(value, for: CacheKey("another")) }
    }

    @Test("lengths that no value can have are refused") func lengths() throws {
        let value = try value()
        for range in [12..<16, 16..<20, 20..<24, 24..<32] {
            var damaged = value
            damaged.replaceSubrange(range, with: Data(repeating: 0xFF, count: range.count))
            #expect(throws: StoredValue.Foreign.self) { try StoredValue.entry(damaged, for: key) }
        }
        var all = value
        all.replaceSubrange(12..<32, with: Data(repeating: 0xFF, count: 20))
        #expect(throws: StoredValue.Foreign.self) { try StoredValue.entry(all, for: key) }
    }

    @Test("new metadata make a new front for the same body") func newFront() throws {
        let value = try value()
        let front = try #require(try StoredValue(frontOf: value, for: key))
        let new = try front.front(metadata: Data([7, 8, 9]), keptUntil: storedAt + 5, limit: 1 << 20)
        let entry = try StoredValue.entry(Data(new) + value.dropFirst(front.front.count), for: key)
        #expect(entry.metadata == Data([7, 8, 9]))
        #expect(entry.data == Data([1, 2, 3]))
        #expect(entry.storedAt == storedAt)
        #expect(entry.keptUntil == storedAt + 5)
    }

    @Test("a value has its limit, and so has one with new metadata") func limit() throws {
        let count = try value().count
        #expect(try value(limit: count).count == count)
        #expect(throws: RedisStoreError.tooLarge(bytes: count)) { try value(limit: count - 1) }
        let front = try #require(try StoredValue(frontOf: try value(), for: key))
        #expect(throws: RedisStoreError.tooLarge(bytes: count + 1)) {
            try front.front(metadata: Data([1, 2, 3]), keptUntil: nil, limit: count)
        }
    }

    @Test("a front that is longer than what was read is asked for again") func longFront() throws {
        let value = try value(metadata: Data(count: 500))
        #expect(try StoredValue(frontOf: value.prefix(300), for: key) == nil)
        #expect(throws: StoredValue.Foreign.self) { try StoredValue.entry(value.prefix(300), for: key) }
    }
}
