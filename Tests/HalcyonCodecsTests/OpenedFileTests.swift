import Foundation
import HalcyonSystem
import Testing

@testable import HalcyonCodecs

/// Headers that are read once for a file.
@Suite struct OpenedFileTests {
    private struct Broken: Error {}

    private let reads = Lock<[Data]>([])

    private func opened(_ data: Data) -> OpenedFile<Int> {
        OpenedFile(data) { [reads] data in
            let count = reads.withLock { reads in
                reads.append(data)
                return reads.count
            }
            if count == 1, data.first == 0 { throw Broken() }
            return count
        }
    }

    @Test func theSameMemoryIsReadOnce() throws {
        let data = Data(repeating: 7, count: 1000)
        let file = opened(data)
        #expect(reads.withLock { $0.isEmpty })
        let copy = data
        #expect(try [file.headers(of: data), file.headers(of: copy), file.headers(of: data)] == [1, 1, 1])
    }

    @Test func otherMemoryIsReadAnew() throws {
        let data = Data(repeating: 7, count: 1000)
        let file = opened(data)
        _ = try file.headers(of: data)
        var changed = data
        changed[500] = 8
        #expect(try file.headers(of: changed) == 2)
        #expect(try file.headers(of: data.prefix(999)) == 3)
        #expect(try file.headers(of: data.dropFirst()) == 4)
        #expect(try file.headers(of: data) == 1)
        #expect(reads.withLock { $0.map(\.count) } == [1000, 1000, 999, 999])
    }

    @Test func anErrorIsNotKept() throws {
        let data = Data(repeating: 0, count: 1000)
        let file = opened(data)
        #expect(throws: Broken.self) { try file.headers(of: data) }
        #expect(try [file.headers(of: data), file.headers(of: data)] == [2, 2])
    }
}
