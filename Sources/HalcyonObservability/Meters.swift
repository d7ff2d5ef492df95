#if Observability
import CoreMetrics
import Halcyon
import HalcyonSystem

/// The meters of one backend.
final class Meters: Sendable {
    let loads: LabelledCounter
    let failures: LabelledCounter
    let cacheRequests: LabelledCounter
    let transfers: LabelledCounter
    let transferFailures: LabelledCounter
    let transferredBytes: Counter
    let retries: Counter
    let loadDuration: Timer
    let transferDuration: Timer
    let transferQueue: Timer
    let decodeDuration: Timer
    let processDuration: Timer
    let encodeDuration: Timer
    let memoryCacheBytes: Gauge
    let memoryCacheImages: Gauge
    let runningLoads: Gauge
    let decodeMemory: Gauge
    let decodeWorkers: Gauge
    let workerStarts: Counter
    let workerFaults: Counter
    let workerMilliseconds: Counter

    init(_ factory: any MetricsFactory) {
        func counter(_ name: String) -> Counter {
            Counter(label: "halcyon_\(name)_total", dimensions: [], factory: factory)
        }
        func labelled(_ name: String, _ first: String, _ second: String? = nil) -> LabelledCounter {
            LabelledCounter("halcyon_\(name)_total", first, second, factory)
        }
        func timer(_ name: String) -> Timer {
            Timer(label: "halcyon_\(name)_seconds", dimensions: [], preferredDisplayUnit: .seconds, factory: factory)
        }
        func gauge(_ name: String) -> Gauge { Gauge(label: "halcyon_\(name)", dimensions: [], factory: factory) }
        loads = labelled("loads", "end")
        failures = labelled("failures", "stage", "code")
        cacheRequests = labelled("cache_requests", "level", "result")
        transfers = labelled("transfers", "status")
        transferFailures = labelled("transfer_failures", "code")
        (transferredBytes, retries) = (counter("transferred_bytes"), counter("retries"))
        (loadDuration, transferDuration) = (timer("load_duration"), timer("transfer_duration"))
        (transferQueue, decodeDuration) = (timer("transfer_queue"), timer("decode_duration"))
        (processDuration, encodeDuration) = (timer("process_duration"), timer("encode_duration"))
        (memoryCacheBytes, memoryCacheImages) = (gauge("memory_cache_bytes"), gauge("memory_cache_images"))
        (runningLoads, decodeMemory) = (gauge("running_loads"), gauge("decode_memory_bytes"))
        decodeWorkers = gauge("decode_workers")
        (workerStarts, workerFaults) = (counter("decode_worker_starts"), counter("decode_worker_faults"))
        workerMilliseconds = counter("decode_worker_milliseconds")
    }
}

/// Counters of one name, by the values of one or two dimensions. Each is made at its first use.
final class LabelledCounter: Sendable {
    private struct Values: Hashable {
        let first: String
        let second: String
    }

    private let label: String
    private let first: String
    private let second: String?
    private let factory: any MetricsFactory
    private let counters = Lock<[Values: Counter]>([:])

    /// Creates the counters.
    ///
    /// - Parameters:
    ///   - first: the name of the first dimension.
    ///   - second: the name of the second dimension; nil if there is one.
    init(_ label: String, _ first: String, _ second: String?, _ factory: any MetricsFactory) {
        (self.label, self.first, self.second, self.factory) = (label, first, second, factory)
    }

    /// The counter of the values of the dimensions.
    subscript(_ first: String, _ second: String = "") -> Counter {
        let values = Values(first: first, second: second)
        if let known = counters.withLock({ $0[values] }) { return known }
        var dimensions = [(self.first, first)]
        if let name = self.second { dimensions.append((name, second)) }
        // Made outside the lock, as a backend may do anything. A backend returns the same one for the same dimensions.
        let made = Counter(label: label, dimensions: dimensions, factory: factory)
        return counters.withLock { counters in
            counters[values] = counters[values] ?? made
            return counters[values] ?? made
        }
    }
}

extension Counter {
    func add(_ number: Int) {
        if number > 0 { increment(by: Int64(number)) }
    }
}

extension Timer {
    func record(_ duration: Duration) {
        recordNanoseconds(Int64((duration.inSeconds * 1e9).rounded()))
    }
}
#endif
