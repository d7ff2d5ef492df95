import Foundation
import Halcyon
import HalcyonObservability
import InMemoryTracing
import MetricsTestKit

/// Measures what metrics and spans cost, beside the same work without them. The backends keep what they receive in memory.
struct ObservabilitySuite: Suite {
    let names = ["observability"]

    func comparisons(_ scratch: ScratchFolder) async throws -> [Comparison] {
        try await hits() + loads(scratch)
    }

    private func hits() async throws -> [Comparison] {
        let plain = try await LoadedImages.make(MemoryHitSuite.entries)
        let observed = try await LoadedImages.make(MemoryHitSuite.entries, tracer: PipelineTracer(InMemoryTracer()))
        let metrics = RunningMetrics(observed.pipeline)
        try await metrics.begin()
        let count = MemoryHitSuite.hits
        return [
            Comparison(
                name: "observability", variant: "image(inMemoryFor:), 1 thread", unit: .nanoseconds, operations: count,
                subject: {
                    defer { withExtendedLifetime(metrics) {} }
                    let cache = observed.pipeline.cache
                    return try MemoryHitSuite.hit(threads: 1) { cache.image(inMemoryFor: observed.requests[$0]) != nil }
                },
                floor: {
                    let cache = plain.pipeline.cache
                    return try MemoryHitSuite.hit(threads: 1) { cache.image(inMemoryFor: plain.requests[$0]) != nil }
                }),
            Comparison(
                name: "observability", variant: "response(for:), 1 task", unit: .nanoseconds, operations: count,
                subject: { try await Self.responses(observed) }, floor: { try await Self.responses(plain) }),
        ]
    }

    private static func responses(_ images: LoadedImages) async throws -> Sample {
        try await Sample.of {
            for hit in 0..<MemoryHitSuite.hits {
                _ = try await images.pipeline.response(for: images.requests[hit & (MemoryHitSuite.entries - 1)])
            }
        }
    }

    private func loads(_ scratch: ScratchFolder) throws -> [Comparison] {
        let (server, requests) = try EndToEndSuite.serve(scratch)
        let thumbnails = requests.map(\.keepingNothing)
        return [
            Comparison(
                name: "observability", variant: "500 to 256 px, nothing kept", unit: .milliseconds, operations: 1,
                subject: {
                    defer { withExtendedLifetime(server) {} }
                    var metrics: RunningMetrics?
                    return try await EndToEndSuite.load(
                        thumbnails, disk: nil, tracer: PipelineTracer(InMemoryTracer()),
                        prepare: {
                            metrics = RunningMetrics($0)
                            try await metrics?.begin()
                        }, finish: { try await metrics?.waitUntilCounted(thumbnails.count) }
                    ).0
                },
                floor: { try await EndToEndSuite.load(thumbnails, disk: nil).0 })
        ]
    }
}

/// Metrics that run until they are ended or released.
private final class RunningMetrics: Sendable {
    private let backend = TestMetrics()
    private let task: Task<Void, Never>
    private let pipeline: ImagePipeline

    init(_ pipeline: ImagePipeline) {
        self.pipeline = pipeline
        let metrics = PipelineMetrics(pipeline, factory: backend)
        task = Task.detached { await metrics.run() }
    }

    deinit { task.cancel() }

    private var loads: Int { Int(backend.counterTotal(label: "halcyon_loads_total")) }

    /// Waits until the events are read, which a load that is counted shows.
    func begin() async throws {
        let pixel = URL(string: "data:image/gif;base64,R0lGODlhAQABAAAAACH5BAEKAAEALAAAAAABAAEAAAICTAEAOw==")
        while loads == 0 {
            _ = try await pipeline.data(for: pixel)
            try await Task.sleep(for: .milliseconds(1))
        }
    }

    /// Waits until some loads are counted in addition to the first.
    func waitUntilCounted(_ count: Int) async throws {
        while loads <= count { try await Task.sleep(for: .milliseconds(1)) }
    }
}
