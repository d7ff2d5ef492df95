import Foundation
import HalcyonCodecs
import HalcyonImage
import TestSupport
import Testing

@testable import DecodeBox

/// Drawings that crash librsvg, hold it for ever or take all memory, which the library refuses by a look at them: without that look,
/// in a worker, they end no more than the worker.
@Suite(.timeLimit(.minutes(10))) struct UnguardedTests {
    static let drawings: [(name: String, text: String)] = {
        let root =
            "<svg xmlns='http://www.w3.org/2000/svg' xmlns:xlink='http://www.w3.org/1999/xlink' width='200' height='200'>"
        func nested(_ start: String, _ end: String, _ count: Int) -> String {
            root + String(repeating: start, count: count) + String(repeating: end, count: count) + "</svg>"
        }
        let doubling = (1..<30).map { "<g id='d\($0)'><use href='#d\($0 - 1)'/><use href='#d\($0 - 1)'/></g>" }
        let masks = (1..<4000).map { "<mask id='m\($0)' mask='url(#m\($0 - 1))'><rect width='9' height='9'/></mask>" }
        return [
            ("groups without end", nested("<g>", "</g>", 200_000)),
            ("spans without end", nested("<text><tspan>", "</tspan></text>", 100_000)),
            (
                "doubled drawings",
                "\(root)<g id='d0'><rect width='9' height='9'/></g>\(doubling.joined())<use href='#d29'/></svg>"
            ),
            (
                "a chain of masks",
                "\(root)<mask id='m0'/>\(masks.joined())<rect mask='url(#m3999)' width='9' height='9'/></svg>"
            ),
            (
                "a blur without end",
                "\(root)<filter id='f'>\(String(repeating: "<feGaussianBlur stdDeviation='90'/>", count: 3000))</filter>"
                    + "<rect filter='url(#f)' width='200' height='200'/></svg>"
            ),
            (
                "a pattern of great tiles",
                "\(root)<pattern id='p' width='30000' height='30000' patternUnits='userSpaceOnUse'><rect width='9' height='9'/>"
                    + "</pattern><rect fill='url(#p)' width='30000' height='30000'/></svg>"
            ),
        ]
    }()

    private func end(of data: Data, _ workers: DecodeWorkers) -> String {
        let options = DecodeOptions(isolation: .isolated(workers: workers))
        do {
            _ = try CoderRegistry([UnguardedCoder()]).decode(UnguardedCoder.mark + data, options: options)
            return "drawn"
        } catch CodecError.stopped(.svg, let stop) {
            return "\(stop)"
        } catch {
            return "\(error)"
        }
    }

    /// A sanitizer handles the signals of faults itself.
    @Test(.disabled(if: Sanitizer.isOn)) func drawingsThatNobodyLooksAtEndTheirWorkersAlone() throws {
        let limit = Duration.seconds(1)
        let workers = DecodeWorkers(count: 1, program: .file(Worker.attacking), timeLimit: limit)
        var ends: [String: String] = [:]
        for (name, text) in Self.drawings { ends[name] = end(of: Data(text.utf8), workers) }
        for name in ["refused-attribute", "dashes-without-end", "text-of-entities"] {
            ends[name] = end(of: try TestFiles.data("hostile/\(name).svg"), workers)
        }
        #expect(ends["a chain of masks"] == "\(DecodeStop.signal(SIGSEGV))")
        for name in ["doubled drawings", "a blur without end", "dashes-without-end"] {
            #expect(ends[name] == "\(DecodeStop.timeLimit(limit))", "\(name)")
        }
        #expect(workers.statistics.faults >= 4)
        let drawing = Data("<svg xmlns='http://www.w3.org/2000/svg'><rect width='9' height='9'/></svg>".utf8)
        #expect(end(of: drawing, workers) == "drawn")
    }

    @Test(arguments: drawings.map(\.name))
    func theLibraryRefusesThemInTime(_ name: String) throws {
        let text = try #require(Self.drawings.first { $0.name == name }?.text)
        do {
            _ = try CoderRegistry.standard().decode(Data(text.utf8))
        } catch let error as CodecError {
            #expect(error.code == "limitExceeded" || error.code == "damagedImage")
        }
    }
}
