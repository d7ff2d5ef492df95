import Foundation
import Halcyon
import HalcyonCache
import HalcyonTesting

/// Measures lookups of images in memory, and inserts.
struct MemoryHitSuite: Suite {
    let names = ["memory-hit", "memory-insert"]
    static let entries = 1024
    static let hits = 200_000
    private static let asyncHits = 20_000

    func comparisons(_ scratch: ScratchFolder) async throws -> [Comparison] {
        let images = try await LoadedImages.make(Self.entries)
        return raw() + hashed() + lookups(images) + responses(images) + inserts() + imageInserts()
    }

    /// Measures the cache alone, with a key that is cheap to hash and to compare.
    private func raw() -> [Comparison] {
        let cache = MemoryCache<Int, Token>()
        var values: [Int: Token] = [:]
        for key in 0..<Self.entries {
            let token = Token()
            cache.insert(token, for: key, cost: 1)
            values[key] = token
        }
        let floor = LockedDictionary(values)
        return [1, 2].map { threads in
            comparison(
                "MemoryCache, small key", threads: threads, { cache.value(for: $0) != nil }, floor: { floor[$0] != nil }
            )
        }
    }

    /// Measures the cache alone, with a key like the pipeline's: text and options, hashed once. Each thread has keys
    /// of its own, as each request has, which are read in place: copying one from an array would count references.
    private func hashed() -> [Comparison] {
        let cache = MemoryCache<HashedText, Token>(weakly: Token.weakReference)
        var values: [HashedText: Token] = [:]
        func key(_ number: Int) -> HashedText {
            HashedText("https://images.example.org/photos/2026/\(number).jpg?width=640")
        }
        for number in 0..<Self.entries {
            let token = Token()
            cache.insert(token, for: key(number), cost: 1)
            values[key(number)] = token
        }
        let floor = LockedDictionary(values)
        let names = (0..<2).map { _ in (0..<Self.entries).map { Name(key($0)) } }
        return [1, 2].map { threads in
            Comparison(
                name: "memory-hit", variant: "MemoryCache, hashed key, \(threads) thread\(threads > 1 ? "s" : "")",
                unit: .nanoseconds, operations: Self.hits * threads,
                subject: { try Self.hit(threads: threads, names) { cache.value(for: $0.key) != nil } },
                floor: { try Self.hit(threads: threads, names) { floor[$0.key] != nil } })
        }
    }

    /// Measures inserts into a cache that holds a tenth of them; the floor is a dictionary that evicts in the order
    /// of arrival.
    private func inserts() -> [Comparison] {
        let count = 100_000
        let limit = 10_000
        let keys = (0..<count).map { HashedText("https://images.example.org/photos/2026/\($0).jpg?width=640") }
        func comparison(
            _ variant: String, _ weakly: MemoryCache<HashedText, Token>.WeakReference? = nil
        ) -> Comparison {
            Comparison(
                name: "memory-insert", variant: variant, unit: .nanoseconds, operations: count,
                subject: {
                    let cache = MemoryCache<HashedText, Token>(
                        configuration: MemoryCacheConfiguration(countLimit: limit), weakly: weakly)
                    let sample = Sample.of {
                        for index in keys.indices { cache.insert(Token(), for: keys[index], cost: 1) }
                    }
                    if cache.statistics.count != limit { throw BenchmarkFailure("the limit was not kept") }
                    return sample
                },
                floor: {
                    var values: [HashedText: Token] = [:]
                    return Sample.of {
                        for index in keys.indices {
                            values[keys[index]] = Token()
                            if index >= limit { values[keys[index - limit]] = nil }
                        }
                    }
                })
        }
        return [
            comparison("100,000 into 10,000"),
            comparison("100,000 into 10,000, weak level", Token.weakReference),
        ]
    }

    /// Measures the lookup that a view makes before it shows a placeholder.
    private func lookups(_ images: LoadedImages) -> [Comparison] {
        let cache = images.pipeline.configuration.cache
        let (requests, texts, urls, floor) = (images.requests, images.texts, images.urls, images.floor)
        // Keys of their own for each thread, as in a program whose threads make their requests.
        let keys = (0..<2).map { _ in requests.map { cache.key(for: $0) } }
        return [1, 2].flatMap { threads in
            [
                comparison(
                    "image(inMemoryFor:)", threads: threads, { cache.image(inMemoryFor: requests[$0]) != nil },
                    floor: { floor[texts[$0]] != nil }),
                comparison(
                    "image(inMemoryFor:) by URL", threads: threads, { cache.image(inMemoryFor: urls[$0]) != nil },
                    floor: { floor[texts[$0]] != nil }),
                comparison(
                    "image(inMemoryFor:) by a new request with a processor", threads: threads,
                    { cache.image(inMemoryFor: LoadedImages.resized(urls[$0])) != nil },
                    floor: { floor[texts[$0]] != nil }),
                Comparison(
                    name: "memory-hit",
                    variant: "image(inMemoryFor:) by key, \(threads) thread\(threads > 1 ? "s" : "")",
                    unit: .nanoseconds, operations: Self.hits * threads,
                    subject: {
                        try Self.hit(threads: threads) { thread, index in
                            cache.image(inMemoryFor: keys[thread][index]) != nil
                        }
                    },
                    floor: { try Self.hit(threads: threads) { floor[texts[$0]] != nil } }),
            ]
        }
    }

    /// Measures inserts of images by their keys into the pipeline's cache, which holds a tenth of them. Every image that is
    /// driven out ends, or is still shown elsewhere.
    private func imageInserts() -> [Comparison] {
        let (count, limit) = (20_000, 2_000)
        let keys = (0..<count).map {
            ImageKey(source: "https://images.example.org/photos/2026/\($0).jpg?width=640")
        }
        @Sendable func images() throws -> [Image?] {
            try (0..<count).map { try NoiseImage.make(PixelSize(8, 8), seed: UInt64($0)) }
        }
        func comparison(_ variant: String, isShown: Bool) -> Comparison {
            Comparison(
                name: "memory-insert", variant: variant, unit: .nanoseconds, operations: count,
                subject: {
                    let cache = ImageCache(
                        memory: MemoryCacheConfiguration(countLimit: limit), disk: nil, memoryPressure: nil)
                    var images = try images()
                    let shown = isShown ? images : []
                    defer { withExtendedLifetime(shown) {} }
                    let sample = try await Sample.of {
                        for index in keys.indices {
                            guard let image = images[index].take() else { continue }
                            try await cache.store(image, for: keys[index], to: .memory)
                        }
                    }
                    if cache.memoryStatistics.count != limit { throw BenchmarkFailure("the limit was not kept") }
                    return sample
                },
                floor: {
                    var images = try images()
                    let shown = isShown ? images : []
                    defer { withExtendedLifetime(shown) {} }
                    var values: [ImageKey: Image] = [:]
                    return Sample.of {
                        for index in keys.indices {
                            guard let image = images[index].take() else { continue }
                            values[keys[index]] = image
                            if index >= limit { values[keys[index - limit]] = nil }
                        }
                    }
                })
        }
        return [
            comparison("images, 20,000 into 2,000", isShown: false),
            comparison("images that are shown, 20,000 into 2,000", isShown: true),
        ]
    }

    private func comparison(
        _ variant: String, threads: Int, _ subject: @escaping @Sendable (Int) -> Bool,
        floor: @escaping @Sendable (Int) -> Bool
    ) -> Comparison {
        Comparison(
            name: "memory-hit", variant: "\(variant), \(threads) thread\(threads > 1 ? "s" : "")", unit: .nanoseconds,
            operations: Self.hits * threads,
            subject: { try Self.hit(threads: threads, subject) },
            floor: { try Self.hit(threads: threads, floor) })
    }

    static func hit(threads: Int, _ isFound: @escaping @Sendable (Int) -> Bool) throws -> Sample {
        try hit(threads: threads) { _, index in isFound(index) }
    }

    /// Runs the lookups, each of which is told its thread and the number of the entry.
    private static func hit(threads: Int, _ isFound: @escaping @Sendable (Int, Int) -> Bool) throws -> Sample {
        let found = Counter()
        let sample = Sample.of {
            DispatchQueue.concurrentPerform(iterations: threads) { thread in
                var count = 0
                // An odd step visits all entries, in an order that the processor cannot predict well.
                for hit in 0..<hits where isFound(thread, (hit &* 389 &+ thread &* 511) & (entries - 1)) {
                    count += 1
                }
                found.add(count)
            }
        }
        try found.check(hits * threads)
        return sample
    }

    /// Runs the lookups with keys that are prepared for each thread.
    private static func hit(
        threads: Int, _ names: [[Name]], _ isFound: @escaping @Sendable (Name) -> Bool
    ) throws -> Sample {
        let unmanaged = names.map { $0.map(Unmanaged.passUnretained) }
        defer { withExtendedLifetime(names) {} }
        let found = Counter()
        let sample = Sample.of {
            DispatchQueue.concurrentPerform(iterations: threads) { thread in
                let own = unmanaged[thread]
                var count = 0
                for hit in 0..<hits {
                    let name = own[(hit &* 389 &+ thread &* 511) & (entries - 1)]
                    if name._withUnsafeGuaranteedRef(isFound) { count += 1 }
                }
                found.add(count)
            }
        }
        try found.check(hits * threads)
        return sample
    }

    // MARK: - async

    private func responses(_ images: LoadedImages) -> [Comparison] {
        let (texts, floor) = (images.texts, images.floor)
        func comparison(
            _ variant: String, tasks: Int, _ subject: @escaping @Sendable (Int) async throws -> Void
        ) -> Comparison {
            Comparison(
                name: "memory-hit", variant: variant, unit: .nanoseconds, operations: Self.asyncHits * tasks,
                subject: {
                    try await Sample.of {
                        try await withThrowingTaskGroup(of: Void.self) { group in
                            for task in 0..<tasks { group.addTask { try await subject(task) } }
                            try await group.waitForAll()
                        }
                    }
                },
                floor: {
                    try Self.hit(threads: tasks) { floor[texts[$0]] != nil }.scaled(by: Self.asyncHits, of: Self.hits)
                })
        }
        return [
            comparison("response(for:), 1 task", tasks: 1) { try await Self.hit(images, from: $0) },
            comparison("response(for:), 2 tasks", tasks: 2) { try await Self.hit(images, from: $0) },
            comparison("response(for:), main actor", tasks: 1) { try await Self.hitOnMainActor(images, from: $0) },
        ]
    }

    private static func hit(_ images: LoadedImages, from task: Int) async throws {
        for hit in 0..<asyncHits {
            let request = images.requests[(hit &* 389 &+ task &* 511) & (entries - 1)]
            let response = try await images.pipeline.response(for: request)
            if response.origin != .memory { throw BenchmarkFailure("a hit came from \(response.origin)") }
        }
    }

    @MainActor
    private static func hitOnMainActor(_ images: LoadedImages, from task: Int) async throws {
        for hit in 0..<asyncHits {
            let request = images.requests[(hit &* 389 &+ task &* 511) & (entries - 1)]
            let response = try await images.pipeline.response(for: request)
            if response.origin != .memory { throw BenchmarkFailure("a hit came from \(response.origin)") }
        }
    }
}

extension Sample {
    /// Returns the time scaled down to fewer operations.
    fileprivate func scaled(by operations: Int, of all: Int) -> Sample {
        var sample = self
        sample.wall *= Double(operations) / Double(all)
        sample.cpu *= Double(operations) / Double(all)
        return sample
    }
}

private final class Token: Sendable {
    static func weakReference(_ token: inout Token) -> WeakValue<Token>? {
        isKnownUniquelyReferenced(&token) ? nil : WeakValue(token) { $0 }
    }
}

private final class Name: Sendable {
    let key: HashedText

    init(_ key: HashedText) {
        self.key = key
    }
}

private struct HashedText: Hashable, Sendable {
    let text: String
    private let known: Int

    init(_ text: String) {
        self.text = text
        known = text.hashValue
    }

    static func == (left: Self, right: Self) -> Bool { left.known == right.known && left.text == right.text }

    /// The hash that the cache asks for, which is precomputed.
    var hashValue: Int { known }

    func hash(into hasher: inout Hasher) { hasher.combine(known) }
}
