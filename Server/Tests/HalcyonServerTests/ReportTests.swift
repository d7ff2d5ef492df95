import CoreMetrics
import Foundation
import Logging
import NIOConcurrencyHelpers
import Testing

@testable import HalcyonServer

@Suite struct PrometheusTests {
    @Test func countersGaugesAndHistograms() {
        let registry = PrometheusRegistry()
        Counter(label: "requests_total", dimensions: [("status", "200")], factory: registry).increment(by: 3)
        Counter(label: "requests_total", dimensions: [("status", "200")], factory: registry).increment()
        Counter(label: "requests_total", dimensions: [("status", "404")], factory: registry).increment()
        Gauge(label: "held", dimensions: [], factory: registry).record(2.5)
        let timer = Timer(label: "seconds", dimensions: [], factory: registry)
        timer.recordNanoseconds(3_000_000)
        timer.recordNanoseconds(40_000_000_000)
        registry.addGauge("length") { 7 }
        let lines = registry.text.split(separator: "\n").map(String.init)
        #expect(lines.prefix(4) == ["# TYPE held gauge", "held 2.5", "# TYPE length gauge", "length 7"])
        #expect(
            lines[4...6] == [
                "# TYPE requests_total counter", "requests_total{status=\"200\"} 4", "requests_total{status=\"404\"} 1",
            ])
        #expect(lines[7] == "# TYPE seconds histogram")
        #expect(lines.contains("seconds_bucket{le=\"0.0025\"} 0"))
        #expect(lines.contains("seconds_bucket{le=\"0.005\"} 1"))
        #expect(lines.contains("seconds_bucket{le=\"30\"} 1"))
        #expect(lines.suffix(3) == ["seconds_bucket{le=\"+Inf\"} 2", "seconds_sum 40.003", "seconds_count 2"])
    }

    @Test func textOfOthersBreaksNoLine() {
        let registry = PrometheusRegistry()
        Counter(label: "a.b-c", dimensions: [("x", "say \"no\"\\\nor")], factory: registry).increment()
        #expect(registry.text == "# TYPE a_b_c counter\na_b_c{x=\"say \\\"no\\\"\\\\\\nor\"} 1\n")
    }

    @Test func seriesAreBounded() {
        let registry = PrometheusRegistry()
        for number in 0..<5000 {
            Counter(label: "many", dimensions: [("n", "\(number)")], factory: registry).increment()
        }
        #expect(registry.text.split(separator: "\n").count == PrometheusRegistry.maximumSeries + 1)
    }
}

@Suite struct JSONLogTests {
    @Test func aLineIsOneObject() throws {
        let lines = NIOLockedValueBox<[Data]>([])
        var logger = Logger(label: "x") { label in
            JSONLogHandler(label: label) { line in lines.withLockedValue { $0.append(line) } }
        }
        logger[metadataKey: "request_id"] = "7"
        logger.info("a \"quoted\"\nline", metadata: ["bytes": .stringConvertible(5), "list": ["a", "b"]])
        logger.debug("not this one")
        let written = lines.withLockedValue { $0 }
        #expect(written.count == 1)
        let line = try #require(written.first)
        #expect(line.last == 0x0a)
        #expect(line.count { $0 == 0x0a } == 1)
        let object = try #require(try JSONSerialization.jsonObject(with: line) as? [String: Any])
        #expect(object["message"] as? String == "a \"quoted\"\nline")
        #expect(object["level"] as? String == "info")
        #expect(object["label"] as? String == "x")
        #expect(object["request_id"] as? String == "7")
        #expect(object["bytes"] as? Int == 5)
        #expect(object["list"] as? [String] == ["a", "b"])
    }
}
