import Dispatch
import Foundation
import HalcyonSystem

@testable import CacheStress
@testable import HalcyonCache

/// The state that the threads of one run share: the cache, the model of the keys that all of them write, and the problems.
final class ModelRun: Sendable {
    private struct Shared {
        var moment = 0
        var histories = [ModelHistory](repeating: ModelHistory(), count: ModelRun.sharedKeys)
        var problems: [String] = []
        /// The latest events of each shared key, for the report of a problem.
        var events = [[String]](repeating: [], count: ModelRun.sharedKeys)

        mutating func note(_ event: String, _ key: Int) {
            if events[key].count == 60 { events[key].removeFirst(20) }
            events[key].append(event)
        }
    }

    static let sharedKeys = 6
    /// No data is longer, in bytes.
    static let largest = 16_000

    let fixture = DiskFixture(sizeLimit: 1 << 28, accessExtension: .none, stagingLimit: 64 << 10)
    private let shared = Lock(Shared())

    var cache: DiskCache { fixture.cache }
    var now: Date { fixture.clock.now }
    var problems: [String] { shared.withLock { $0.problems } }

    func report(_ problem: String) {
        shared.withLock { $0.problems.append(problem) }
    }

    func note(_ event: String, shared key: Int) {
        shared.withLock { $0.note("\($0.moment) \(event)", key) }
    }

    /// The number that stands for a shared key in `StressContent`.
    static func number(ofShared key: Int) -> Int { 9000 + key }

    // MARK: Shared keys

    /// Writes a version of a shared key, or removes it by version 0.
    ///
    /// - Parameter body: false when it did not take place after all.
    func write(_ version: Int, shared key: Int, how: String = "", _ body: () throws -> Bool) {
        let begin = shared.withLock { shared in
            shared.histories[key].begin(version)
            shared.moment += 1
            shared.note("\(shared.moment) begin \(version) \(how)", key)
            return shared.moment
        }
        var isDone = false
        do {
            isDone = try body()
        } catch {
            report("write of shared \(key): \(error)")
        }
        shared.withLock { shared in
            shared.moment += 1
            shared.note("\(shared.moment) \(isDone ? "end" : "cancel") \(version)", key)
            if isDone {
                shared.histories[key].end(version, begun: begin, at: shared.moment)
            } else {
                shared.histories[key].cancel(version)
            }
        }
    }

    /// Reads a shared key; what it finds must be something that was written and not overwritten before.
    func read(shared key: Int, how: String = "", _ body: () throws -> CacheEntry?) {
        let mark = shared.withLock { shared in
            shared.note("\(shared.moment) read \(how)", key)
            return shared.histories[key].mark
        }
        do {
            let number = Self.number(ofShared: key)
            var version: Int? = 0
            if let entry = try body() {
                version = StressContent.version(of: entry, key: number, largest: Self.largest, updates: true)
            }
            let isRight = shared.withLock { shared in
                version.map { shared.histories[key].mayBeRead($0, since: mark) } ?? false
            }
            if !isRight {
                let found = version.map(String.init) ?? "none that is whole"
                report("shared \(key): read version \(found) since \(mark): \(shared.withLock { $0.events[key] })")
            } else {
                shared.withLock { $0.note("\($0.moment) found \(version ?? -1) \(how)", key) }
            }
        } catch {
            report("read of shared \(key): \(error)")
        }
    }

    // MARK: Threads

    /// Runs what is asynchronous from a thread of our own, which waits for it.
    static func blocking<Value: Sendable>(_ body: @escaping @Sendable () async throws -> Value) throws -> Value {
        let done = DispatchSemaphore(value: 0)
        // Handed over under a lock of ours, which ThreadSanitizer sees.
        let result = Lock<Result<Value, any Error>?>(nil)
        Task.detached {
            do {
                let value = try await body()
                result.withLock { $0 = .success(value) }
            } catch {
                result.withLock { $0 = .failure(error) }
            }
            done.signal()
        }
        done.wait()
        guard let result = result.withLock({ $0 }) else { throw CancellationError() }
        return try result.get()
    }
}
