import CoreMetrics
import NIOConcurrencyHelpers

/// The kind of a metric, as Prometheus names it.
enum PrometheusKind: String {
    case counter, gauge, histogram
}

/// One series of a metric.
protocol PrometheusSeries: AnyObject, Sendable {
    var kind: PrometheusKind { get }
    /// Returns the lines of the series.
    ///
    /// - Parameter labels: the labels between the braces; empty if there are none.
    func lines(name: String, labels: String) -> [String]
}

extension PrometheusSeries {
    fileprivate func line(_ name: String, _ labels: String, _ value: Double) -> String {
        "\(name)\(labels.isEmpty ? "" : "{\(labels)}") \(PrometheusRegistry.number(value))"
    }
}

/// A sum that only grows.
final class PrometheusCounter: PrometheusSeries, CounterHandler, FloatingPointCounterHandler {
    private let sum = NIOLockedValueBox(0.0)

    var kind: PrometheusKind { .counter }

    func increment(by amount: Int64) {
        increment(by: Double(amount))
    }

    func increment(by amount: Double) {
        guard amount > 0, amount.isFinite else { return }
        sum.withLockedValue { $0 += amount }
    }

    func reset() {
        sum.withLockedValue { $0 = 0 }
    }

    func lines(name: String, labels: String) -> [String] {
        [line(name, labels, sum.withLockedValue { $0 })]
    }
}

/// A value that goes up and down.
final class PrometheusGauge: PrometheusSeries, MeterHandler, RecorderHandler {
    private let value = NIOLockedValueBox(0.0)

    var kind: PrometheusKind { .gauge }

    func set(_ value: Int64) { set(Double(value)) }
    func set(_ value: Double) { self.value.withLockedValue { $0 = value } }
    func increment(by amount: Double) { value.withLockedValue { $0 += amount } }
    func decrement(by amount: Double) { value.withLockedValue { $0 -= amount } }
    func record(_ value: Int64) { set(Double(value)) }
    func record(_ value: Double) { set(value) }

    func lines(name: String, labels: String) -> [String] {
        [line(name, labels, value.withLockedValue { $0 })]
    }
}

/// Values, counted by the first of some bounds that is not below them.
final class PrometheusHistogram: PrometheusSeries, TimerHandler, RecorderHandler {
    /// Bounds for durations, from a look-up in memory to a slow source.
    static let seconds = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30]
    /// Bounds for lengths and numbers.
    static let sizes = (0...12).map { Double(1 << (2 * $0)) * 64 }

    private struct Counts {
        var buckets: [Int]
        var sum = 0.0
        var count = 0
    }

    private let bounds: [Double]
    private let counts: NIOLockedValueBox<Counts>

    init(bounds: [Double]) {
        self.bounds = bounds
        counts = NIOLockedValueBox(Counts(buckets: Array(repeating: 0, count: bounds.count)))
    }

    var kind: PrometheusKind { .histogram }

    func recordNanoseconds(_ duration: Int64) { record(Double(duration) / 1e9) }
    func record(_ value: Int64) { record(Double(value)) }

    func record(_ value: Double) {
        guard value.isFinite else { return }
        let bucket = bounds.firstIndex { value <= $0 }
        counts.withLockedValue { counts in
            if let bucket { counts.buckets[bucket] += 1 }
            counts.sum += value
            counts.count += 1
        }
    }

    func lines(name: String, labels: String) -> [String] {
        let counts = counts.withLockedValue { $0 }
        let separator = labels.isEmpty ? "" : ","
        var sum = 0
        var lines = zip(bounds, counts.buckets).map { bound, count in
            sum += count
            return line(
                "\(name)_bucket", "\(labels)\(separator)le=\"\(PrometheusRegistry.number(bound))\"", Double(sum))
        }
        lines.append(line("\(name)_bucket", "\(labels)\(separator)le=\"+Inf\"", Double(counts.count)))
        lines.append(line("\(name)_sum", labels, counts.sum))
        lines.append(line("\(name)_count", labels, Double(counts.count)))
        return lines
    }
}
