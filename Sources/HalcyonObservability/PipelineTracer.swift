#if Observability
import Foundation
import Halcyon
import HalcyonSystem
import Tracing

/// The spans of a pipeline's loads for swift-distributed-tracing.
///
///     configuration.tracer = PipelineTracer()
///
/// A load is a span `halcyon.load`, whose parent is the span of the task that requests the image. Below it are
/// `halcyon.transfer`, `halcyon.decode`, `halcyon.process` and `halcyon.encode`. Work that several loads share is a span below each
/// of them, so that no parent misses it; `halcyon.shared` marks those after the first. Look-ups in the caches and retries are
/// events of the load's span. An image that is in memory begins no load, and has no span.
public struct PipelineTracer: LoadTracer {
    private let tracer: (any Tracer)?
    private let time: TimeSource

    /// Creates a source of spans.
    ///
    /// - Parameters:
    ///   - tracer: the backend; nil, the default, is the one that `InstrumentationSystem` has when a load begins.
    ///   - time: the clock of the spans; the system's by default.
    public init(_ tracer: (any Tracer)? = nil, time: TimeSource = .system) {
        (self.tracer, self.time) = (tracer, time)
    }

    public func beginLoad(of source: String) -> any LoadTrace {
        LoadSpans(
            tracer ?? InstrumentationSystem.tracer, time, context: ServiceContext.current ?? .topLevel, source: source)
    }
}

/// The spans of one load.
private final class LoadSpans: LoadTrace {
    private let tracer: any Tracer
    private let time: TimeSource
    private let span: any Span
    /// The start of the transfer that is under way.
    private let transferStart = Lock<Instant?>(nil)

    init(_ tracer: any Tracer, _ time: TimeSource, context: ServiceContext, source: String) {
        (self.tracer, self.time) = (tracer, time)
        span = Self.start("load", tracer, context, at: Instant(time.now))
        span.attributes["halcyon.source"] = source
    }

    private static func start(
        _ name: String, _ tracer: some Tracer, _ context: ServiceContext, at instant: Instant
    ) -> any Span {
        tracer.startSpan("halcyon." + name, context: context, ofKind: .internal, at: instant)
    }

    func receive(_ event: PipelineEvent.Kind, isShared: Bool) {
        switch event {
        case .started: break
        case .cacheHit(let level, _): add("cache hit", ["halcyon.level": .string(level.rawValue)])
        case .cacheMissed(let miss):
            add(
                "cache miss",
                ["halcyon.level": .string(miss.level.rawValue), "halcyon.reason": .string(miss.reason.rawValue)])
        case .transferStarted:
            let now = Instant(time.now)
            transferStart.withLock { $0 = now }
        case .transferEnded(let summary):
            transferred(isShared) {
                $0.attributes["http.response.status_code"] = summary.status
                $0.attributes["http.response.body.size"] = summary.bytes
            }
        case .transferFailed(let error): transferred(isShared) { Self.fail($0, error, code: error.code) }
        case .retried(let error, let attempt):
            add("retry", ["halcyon.code": .string(error.code), "halcyon.attempt": .int64(Int64(attempt))])
        case .alternativeTried(let source): add("alternative", ["halcyon.source": .string(source)])
        case .decoded(let size, let duration):
            stage("decode", isShared, for: duration) { $0.attributes["halcyon.pixels"] = "\(size)" }
        case .processed(let duration): stage("process", isShared, for: duration)
        case .encoded(let bytes, let duration):
            stage("encode", isShared, for: duration) { $0.attributes["halcyon.bytes"] = bytes }
        case .stored(let level): add("stored", ["halcyon.level": .string(level.rawValue)])
        case .notStored(let reason): add("not stored", ["halcyon.reason": .string("\(reason)")])
        case .ended(let end): ended(end)
        }
    }

    private func add(_ name: String, _ attributes: SpanAttributes) {
        span.addEvent(SpanEvent(name: name, at: Instant(time.now), attributes: attributes))
    }

    /// Makes the span of a stage that ends now.
    private func stage(
        _ name: String, _ isShared: Bool, for duration: Duration, _ change: (any Span) -> Void = { _ in }
    ) {
        let now = time.now
        make(name, isShared, from: Instant(now.addingTimeInterval(-duration.inSeconds)), to: Instant(now), change)
    }

    private func transferred(_ isShared: Bool, _ change: (any Span) -> Void) {
        let now = Instant(time.now)
        let start = transferStart.withLock { start in
            defer { start = nil }
            return start
        }
        // A load that joins a transfer has not seen its start.
        make("transfer", isShared, from: start ?? now, to: now, change)
    }

    private func make(
        _ name: String, _ isShared: Bool, from start: Instant, to end: Instant, _ change: (any Span) -> Void
    ) {
        let stage = Self.start(name, tracer, span.context, at: start)
        if isShared { stage.attributes["halcyon.shared"] = true }
        change(stage)
        stage.end(at: end)
    }

    private func ended(_ end: PipelineEvent.End) {
        switch end {
        case .success(let origin, let metrics):
            span.attributes["halcyon.origin"] = origin.rawValue
            if let bytes = metrics.bytes { span.attributes["halcyon.bytes"] = bytes }
        case .failure(let error): Self.fail(span, error, code: error.code)
        case .cancelled: span.attributes["halcyon.cancelled"] = true
        }
        span.end(at: Instant(time.now))
    }

    private static func fail(_ span: any Span, _ error: any Error, code: String) {
        span.recordError(error)
        span.attributes["halcyon.code"] = code
        span.setStatus(SpanStatus(code: .error, message: "\(error)"))
    }
}

/// A moment of a `TimeSource`.
private struct Instant: TracerInstant {
    let nanosecondsSinceEpoch: UInt64

    init(_ date: Date) {
        nanosecondsSinceEpoch = UInt64(max(0, date.timeIntervalSince1970 * 1e9))
    }

    static func < (left: Instant, right: Instant) -> Bool { left.nanosecondsSinceEpoch < right.nanosecondsSinceEpoch }
}
#endif
