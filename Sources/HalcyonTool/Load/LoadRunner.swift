import Foundation
import Halcyon

/// Loads a list of sources, several at a time, and reports them in their order.
struct LoadRunner: Sendable {
    let pipeline: ImagePipeline
    let entries: [SourceList.Entry]
    let options: LoadOptions
    let processors: [any ImageProcessor]
    let writer: OutputWriter
    let concurrency: Int

    /// Loads the list once. Calls `tell` in the list's order, as soon as all sources before are done.
    func run(pass: Int, tell: (LoadReport) -> Void) async {
        await withTaskGroup(of: (Int, LoadReport).self) { group in
            var started = 0
            func startNext() {
                guard started < entries.count else { return }
                let index = started
                started += 1
                group.addTask { (index, await load(index, pass: pass)) }
            }
            for _ in 0..<concurrency { startNext() }
            var waiting: [Int: LoadReport] = [:]
            var told = 0
            while let (index, report) = await group.next() {
                startNext()
                waiting[index] = report
                while let next = waiting.removeValue(forKey: told) {
                    tell(next)
                    told += 1
                }
            }
        }
    }

    private func load(_ index: Int, pass: Int) async -> LoadReport {
        let entry = entries[index]
        let started = ContinuousClock.now
        var report = LoadReport(source: entry.text, pass: pass, milliseconds: 0)
        do {
            let request = options.request(for: entry.source, processors: processors)
            let response = try await pipeline.response(for: request)
            report.milliseconds = (ContinuousClock.now - started).milliseconds
            report.origin = response.origin
            report.format = response.image.info.format.name
            report.width = response.image.width
            report.height = response.image.height
            report.frames = response.image.info.frameCount
            report.bytes = response.metrics.bytes
            // The first pass writes the file; the others only measure.
            if pass == 1 {
                report.output = try await writer.write(
                    response, isUntouched: request.processors.isEmpty, index: index, source: entry)
            }
        } catch {
            report.milliseconds = (ContinuousClock.now - started).milliseconds
            report.error = FailureReport(error)
        }
        return report
    }
}

extension Duration {
    var milliseconds: Double {
        Double(components.seconds) * 1000 + Double(components.attoseconds) / 1e15
    }
}
