import CoreMetrics
import NIOConcurrencyHelpers

/// The metrics of a program, for swift-metrics, and their text for Prometheus (its exposition format, version 0.0.4).
///
/// Counters and meters are kept as they are; timers and recorders become histograms, timers in seconds. A metric exists from its
/// first use to the end of the program. The values of labels must be few: each set of them is a series of its own, and after
/// `maximumSeries` of them new ones are counted nowhere.
public final class PrometheusRegistry: MetricsFactory {
    /// The number of series after which new ones are not kept: 4,096.
    public static let maximumSeries = 4096

    struct SeriesKey: Hashable {
        let name: String
        let labels: String
    }

    private struct Books {
        var series: [SeriesKey: any PrometheusSeries] = [:]
        var readings: [(name: String, kind: PrometheusKind, read: @Sendable () -> Double)] = []
    }

    private let books = NIOLockedValueBox(Books())

    /// Creates a registry without metrics.
    public init() {}

    /// Adds a gauge that is read when the text is made, such as the length of a queue.
    public func addGauge(_ name: String, _ read: @escaping @Sendable () -> Double) {
        books.withLockedValue { $0.readings.append((Self.name(name), .gauge, read)) }
    }

    /// Adds a counter that is read when the text is made.
    public func addCounter(_ name: String, _ read: @escaping @Sendable () -> Double) {
        books.withLockedValue { $0.readings.append((Self.name(name), .counter, read)) }
    }

    /// The text of all metrics, in the order of their names.
    public var text: String {
        let (series, readings) = books.withLockedValue { ($0.series, $0.readings) }
        var families: [String: (kind: PrometheusKind, lines: [(order: String, lines: [String])])] = [:]
        for (key, series) in series {
            // A name has one kind: that of the series which is seen first.
            guard families[key.name]?.kind ?? series.kind == series.kind else { continue }
            families[key.name, default: (series.kind, [])].lines.append(
                (key.labels, series.lines(name: key.name, labels: key.labels)))
        }
        // Read outside of the lock, since a reading may take others.
        for reading in readings {
            families[reading.name, default: (reading.kind, [])].lines.append(
                ("", ["\(reading.name) \(Self.number(reading.read()))"]))
        }
        var text = ""
        for (name, family) in families.sorted(by: { $0.key < $1.key }) {
            text += "# TYPE \(name) \(family.kind.rawValue)\n"
            for (_, lines) in family.lines.sorted(by: { $0.order < $1.order }) {
                for line in lines { text += line + "\n" }
            }
        }
        return text
    }

    // MARK: - MetricsFactory

    public func makeCounter(label: String, dimensions: [(String, String)]) -> any CounterHandler {
        series(label, dimensions) { PrometheusCounter() }
    }

    public func makeFloatingPointCounter(
        label: String, dimensions: [(String, String)]
    ) -> any FloatingPointCounterHandler {
        series(label, dimensions) { PrometheusCounter() }
    }

    public func makeMeter(label: String, dimensions: [(String, String)]) -> any MeterHandler {
        series(label, dimensions) { PrometheusGauge() }
    }

    public func makeRecorder(label: String, dimensions: [(String, String)], aggregate: Bool) -> any RecorderHandler {
        if aggregate {
            series(label, dimensions) { PrometheusHistogram(bounds: PrometheusHistogram.sizes) }
        } else {
            series(label, dimensions) { PrometheusGauge() } as PrometheusGauge
        }
    }

    public func makeTimer(label: String, dimensions: [(String, String)]) -> any TimerHandler {
        series(label, dimensions) { PrometheusHistogram(bounds: PrometheusHistogram.seconds) }
    }

    public func destroyCounter(_ handler: any CounterHandler) {}
    public func destroyFloatingPointCounter(_ handler: any FloatingPointCounterHandler) {}
    public func destroyMeter(_ handler: any MeterHandler) {}
    public func destroyRecorder(_ handler: any RecorderHandler) {}
    public func destroyTimer(_ handler: any TimerHandler) {}

    private func series<Series: PrometheusSeries>(
        _ label: String, _ dimensions: [(String, String)], _ make: () -> Series
    ) -> Series {
        let key = SeriesKey(name: Self.name(label), labels: Self.labels(dimensions))
        return books.withLockedValue { books in
            if let known = books.series[key] as? Series { return known }
            let made = make()
            if books.series[key] == nil, books.series.count < Self.maximumSeries { books.series[key] = made }
            return made
        }
    }

    // MARK: - Text

    /// Returns a name of letters, digits, `_` and `:` that begins with no digit.
    static func name(_ label: String) -> String {
        let name = String(
            label.map { $0.isASCII && ($0.isLetter || $0.isNumber || $0 == "_" || $0 == ":") ? $0 : "_" })
        return name.first.map(\.isNumber) ?? true ? "_" + name : name
    }

    static func labels(_ dimensions: [(String, String)]) -> String {
        dimensions.map { name, value in
            let escaped = value.replacing("\\", with: "\\\\").replacing("\"", with: "\\\"").replacing("\n", with: "\\n")
            return "\(Self.name(name).replacing(":", with: "_"))=\"\(escaped)\""
        }.joined(separator: ",")
    }

    static func number(_ value: Double) -> String {
        if value.isNaN { return "NaN" }
        if value.isInfinite { return value < 0 ? "-Inf" : "+Inf" }
        return value == value.rounded() && abs(value) < 1e15 ? String(Int(value)) : String(value)
    }
}
