import CoreMetrics
import Foundation
import RedisStore
import NIOConcurrencyHelpers
import Synchronization

/// The metrics of the server itself, beside those of its pipeline: requests by status, their durations, bytes, those that are under
/// way, the queues and the memory of the process.
final class ServerMetrics: Sendable {
    private let registry: PrometheusRegistry
    private let running = Atomic(0)
    private let duration: CoreMetrics.Timer
    private let bytes: Counter
    private let requests = NIOLockedValueBox<[Int: Counter]>([:])

    init(_ registry: PrometheusRegistry) {
        self.registry = registry
        duration = CoreMetrics.Timer(
            label: "halcyon_server_request_duration_seconds", dimensions: [], preferredDisplayUnit: .seconds,
            factory: registry)
        bytes = Counter(label: "halcyon_server_response_bytes_total", dimensions: [], factory: registry)
        registry.addGauge("halcyon_server_memory_bytes") { Double(Self.residentBytes) }
    }

    /// The text for Prometheus.
    var text: String { registry.text }

    /// Reports the numbers of a service's queues.
    func observe(_ service: ImageService) {
        registry.addGauge("halcyon_server_requests_running") { [self] in Double(running.load(ordering: .relaxed)) }
        registry.addCounter("halcyon_server_kept_answers_total") {
            Double(service.keptAnswers.load(ordering: .relaxed))
        }
        observe("transfer") { service.originals.transfers.statistics.numbers }
        if let hosts = service.originals.hosts {
            registry.addCounter("halcyon_server_host_queue_refusals_total") { Double(hosts.refusals) }
        }
        observe("work") { service.work.statistics.numbers }
    }

    /// Reports the counters of the shared store.
    func observe(_ store: RedisStore) {
        let counters: [(String, @Sendable (RedisStore.Statistics) -> Int)] = [
            ("hits", { $0.hits }), ("misses", { $0.misses }), ("unanswered", { $0.unanswered }),
            ("stores", { $0.stores }),
            ("failed_stores", { $0.failedStores }), ("failures", { $0.failures }), ("suspensions", { $0.suspensions }),
            ("read_bytes", { $0.bytesRead }), ("written_bytes", { $0.bytesWritten }),
            ("claims_granted", { $0.claimsGranted }), ("claims_stored", { $0.claimsStored }),
            ("claims_alone", { $0.claimsAlone }),
        ]
        for (name, count) in counters {
            registry.addCounter("halcyon_server_redis_\(name)_total") { Double(count(store.statistics)) }
        }
    }

    private func observe(_ queue: String, _ numbers: @escaping @Sendable () -> QueueNumbers) {
        let name = "halcyon_server_\(queue)_queue"
        registry.addGauge("\(name)_working") { Double(numbers().working) }
        registry.addGauge("\(name)_working_cost") { Double(numbers().workingCost) }
        registry.addGauge("\(name)_waiting") { Double(numbers().waiting) }
        registry.addGauge("\(name)_waiting_cost") { Double(numbers().waitingCost) }
        registry.addCounter("\(name)_refusals_total") { Double(numbers().refusals) }
    }

    private func requests(_ status: Int) -> Counter {
        if let known = requests.withLockedValue({ $0[status] }) { return known }
        let made = Counter(
            label: "halcyon_server_requests_total", dimensions: [("status", String(status))], factory: registry)
        requests.withLockedValue { $0[status] = made }
        return made
    }

    func began() {
        running.add(1, ordering: .relaxed)
    }

    func ended(_ status: Int, _ time: Duration, bytes count: Int) {
        running.subtract(1, ordering: .relaxed)
        requests(status).increment()
        duration.recordNanoseconds(Int64(time / .nanoseconds(1)))
        bytes.increment(by: count)
    }

    /// The memory of the process that is in RAM, by the kernel's account.
    private static var residentBytes: Int {
        guard let text = try? String(contentsOfFile: "/proc/self/statm", encoding: .utf8) else { return 0 }
        let pages = text.split(separator: " ").dropFirst().first.flatMap { Int($0) } ?? 0
        return pages * Int(sysconf(Int32(_SC_PAGESIZE)))
    }
}

/// The numbers of a queue, whatever its keys are.
struct QueueNumbers {
    let working: Int
    let workingCost: Int
    let waiting: Int
    let waitingCost: Int
    let refusals: Int
}

extension CostQueue.Statistics {
    var numbers: QueueNumbers {
        QueueNumbers(
            working: working, workingCost: workingCost, waiting: waiting, waitingCost: waitingCost, refusals: refusals)
    }
}
