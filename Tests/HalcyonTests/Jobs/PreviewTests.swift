import HalcyonSystem
import Foundation
import Halcyon
import HalcyonNetwork
import HalcyonTesting
import TestSupport
import Testing

@testable import Halcyon

/// The cost of previews, and the memory that they leave for the load itself.
@Suite(.timeLimit(.minutes(5))) struct PreviewTests {
    /// The memory of the previews and of the decode together is more than there is: the load must not wait for itself.
    @Test(arguments: ["jpeg/progressive.jpg", "jpeg/baseline-444.jpg", "png/rgb8.png", "webp/lossless.webp"])
    func previewsLeaveTheirMemoryToTheLoad(file: String) async throws {
        let data = try TestFiles.data(file)
        let plan = try CoderRegistry.shared.plan(data)
        // Room for the previews, or for the decode.
        let budget = DecodeBudget(capacity: plan.workingBytes + plan.finalSize.width * plan.finalSize.height * 8)
        let coders = CoderRegistry(CoderRegistry.standard().coders.reversed(), budget: budget)
        let fixture = PipelineFixture(disk: false) { $0.coders = coders }
        let url = try fixture.serve(file)
        try await withThrowingTaskGroup { group in
            for index in 0..<4 {
                var request = ImageRequest(url)
                request.wantsPreviews = true
                request.wantsEveryPreview = true
                request.cachePolicy = .reload
                // Loads of their own, which share nothing.
                request.network.headers.set("X-Load", "\(index)")
                group.addTask { [request] in
                    let image = try await fixture.pipeline.image(for: request)
                    #expect(image.size == plan.finalSize)
                }
            }
            try await group.waitForAll()
        }
        #expect(budget.available == budget.capacity)
    }

    /// A server that keeps the rest of an image back takes no memory from a decode that needs more than is left.
    @Test(arguments: ["jpeg/progressive.jpg", "png/rgb8.png", "webp/lossless.webp", "gif/animated.gif"])
    func previewsOfABodyThatNeverEndsHoldUpNoDecode(file: String) async throws {
        let data = try TestFiles.data(file)
        let budget = DecodeBudget(capacity: try CoderRegistry.shared.plan(data).workingBytes * 8)
        let coders = CoderRegistry(CoderRegistry.standard().coders.reversed(), budget: budget)
        let fixture = PipelineFixture(disk: false) { $0.coders = coders }
        let url = PipelineFixture.url("endless")
        let steps: [ScriptedTransport.Answer.Step] = [.chunk(data.dropLast(20)), .wait(ScriptedTransportGate())]
        fixture.transport.answer(url, with: .init(headers: ["Content-Length": "\(data.count)"], steps: steps))
        var request = ImageRequest(url)
        (request.wantsPreviews, request.wantsEveryPreview) = (true, true)
        let task = fixture.pipeline.task(for: request)
        for try await event in task.events {
            if case .preview = event { break }
        }
        // As a decode that takes all of it would.
        try await Task.detached { try budget.withReservation(of: budget.capacity) {} }.value
        #expect(budget.available == budget.capacity)
        task.cancel()
    }

    private func allowance(reading: Int, previews: [Int]) -> PreviewAllowance {
        var allowance = PreviewAllowance()
        allowance.add(reading: .milliseconds(reading), preview: .zero)
        for preview in previews { allowance.add(reading: .zero, preview: .milliseconds(preview)) }
        return allowance
    }

    @Test func theFirstPreviewIsAlwaysAllowed() {
        #expect(allowance(reading: 1000, previews: []).allowsPreview(received: 1, expected: 1_000_000))
        #expect(PreviewAllowance().allowsPreview(received: 0, expected: nil))
    }

    @Test func previewsAreAllowedUpToOneAndAHalfDecodes() {
        // Half is there, read in 50 ms: a decode reads for 100 and draws for 40, so that 210 are allowed.
        for (count, isAllowed) in [(1, true), (2, false)] {
            let allowance = allowance(reading: 50, previews: Array(repeating: 40, count: count))
            #expect(allowance.allowsPreview(received: 500, expected: 1000) == isAllowed, "\(count)")
        }
        // Cheap ones may be many.
        let cheap = self.allowance(reading: 50, previews: Array(repeating: 1, count: 40))
        #expect(cheap.allowsPreview(received: 500, expected: 1000))
        // A body of unknown length counts as twice the bytes that are there.
        #expect(!self.allowance(reading: 50, previews: [40, 40]).allowsPreview(received: 500, expected: nil))
    }

    @Test(arguments: [150, 40, 2000])
    @JobActor func aPreviewIsDueWhenTheBytesDoubledOrTimePassed(milliseconds: Int) throws {
        var previews = PreviewOptions()
        #expect(previews.interval == .milliseconds(150))
        previews.interval = .milliseconds(milliseconds)
        let clock = ManualClock()
        let data = try TestFiles.data("jpeg/baseline-444.jpg")
        let previewer = Previewer(
            coders: .shared, options: DecodeOptions(), processors: [], previews: previews, showsAll: false,
            clock: clock.timeSource)
        let body = ReceivedBody()
        previewer.take(body)
        func arrive(_ range: Range<Int>) -> Bool {
            body.append(data[range])
            return previewer.nextStep() != nil
        }
        #expect(!arrive(0..<1000))
        #expect(arrive(1000..<1100))
        #expect(!arrive(1100..<1200))
        clock.advance(by: .milliseconds(milliseconds - 1))
        #expect(!arrive(1200..<1201))
        clock.advance(by: .milliseconds(2))
        #expect(arrive(1201..<1202))
        clock.advance(by: .seconds(10))
        #expect(previewer.nextStep() == nil)
        #expect(arrive(1202..<min(data.count, 2600)))
        previewer.end()
        clock.advance(by: .seconds(10))
        #expect(previewer.nextStep() == nil)
    }

    /// An interval below zero is always over; one that no clock reaches leaves the doubling of the bytes.
    @Test(arguments: [
        (Duration.zero, true), (.seconds(-1), true), (.seconds(Int64.min), true), (.seconds(Int64.max), false),
    ])
    @JobActor func anyIntervalIsTaken(interval: Duration, isDue: Bool) throws {
        var previews = PreviewOptions()
        previews.interval = interval
        let clock = ManualClock()
        let data = try TestFiles.data("jpeg/baseline-444.jpg")
        let previewer = Previewer(
            coders: .shared, options: DecodeOptions(), processors: [], previews: previews, showsAll: false,
            clock: clock.timeSource)
        let body = ReceivedBody()
        previewer.take(body)
        body.append(data[0..<1100])
        #expect(previewer.nextStep() != nil)
        body.append(data[1100..<1101])
        clock.advance(by: .seconds(86_400))
        #expect((previewer.nextStep() != nil) == isDue)
    }

    @Test func firstScansAreBlurred() async throws {
        let data = try TestFiles.data("jpeg/progressive.jpg")
        let decoding = try #require(CoderRegistry.shared.makeProgressive(for: data))
        var sharp: [Image] = []
        for byte in data {
            try decoding.append(Data([byte]))
            if let image = try decoding.preview(context: .uncancellable) { sharp.append(image) }
        }
        try #require(sharp.count > 6)
        let radii: [Double] = [10, 6, 2, 2, 2]
        let blurred = try await steps(of: data, blurs: true)
        #expect(blurred.count == sharp.count)
        for (scan, (shown, image)) in zip(blurred, sharp).enumerated() {
            let expected = scan < radii.count ? try image.processed(by: [.blur(radius: radii[scan])]) : image
            #expect(shown.hasSamePixels(as: expected), "scan \(scan + 1)")
            #expect(shown.hasSamePixels(as: image) == (scan >= radii.count), "scan \(scan + 1)")
        }
        // Neither without the option, nor rows.
        let unblurred = try await steps(of: data, blurs: false)
        #expect(zip(unblurred, sharp).allSatisfy { $0.hasSamePixels(as: $1) })
        let rows = try TestFiles.data("jpeg/baseline-444.jpg")
        let (shown, sharpRows) = try await (steps(of: rows, blurs: true), steps(of: rows, blurs: false))
        #expect(!shown.isEmpty && shown.count == sharpRows.count)
        #expect(zip(shown, sharpRows).allSatisfy { $0.hasSamePixels(as: $1) })
    }

    /// A program's own decoding may report any number.
    @Test func anyNumberOfScansIsTaken() {
        var previews = PreviewOptions()
        #expect(previews.blurRadius(scans: 1) == nil)
        previews.blursFirstScans = true
        let radii = [Int.min, 0, 1, 5, 6, Int.max, nil].map(previews.blurRadius(scans:))
        #expect(radii == [10, 10, 10, 2, nil, nil, nil])
    }

    /// The previews of a body that arrives byte by byte, after a beginning that has its format.
    @JobActor private func steps(of data: Data, blurs: Bool) throws -> [Image] {
        var previews = PreviewOptions()
        previews.blursFirstScans = blurs
        let previewer = Previewer(
            coders: .shared, options: DecodeOptions(), processors: [], previews: previews, showsAll: true,
            clock: TimeSource { Date(timeIntervalSince1970: 0) })
        let body = ReceivedBody()
        previewer.take(body)
        var shown: [Image] = []
        for end in 64...data.count {
            body.append(data[(end == 64 ? 0 : end - 1)..<end])
            guard let image = try previewer.nextStep()?.make(.uncancellable).image else { continue }
            shown.append(image.image)
        }
        return shown
    }

    /// The options of the configuration reach the previews of a load.
    @Test func aLoadBlursItsFirstScan() async throws {
        let data = try TestFiles.data("jpeg/progressive.jpg")
        // Up to the third scan: the first one is there as a whole.
        let part = data[..<data.indices.dropLast().filter { data[$0] == 0xFF && data[$0 + 1] == 0xDA }[2]]
        let decoding = try #require(CoderRegistry.shared.makeProgressive(for: part))
        try decoding.append(part)
        let sharp = try #require(try decoding.preview(context: .uncancellable))
        let scan = try #require(decoding.shownScans)
        try #require((1...2).contains(scan))
        let fixture = PipelineFixture(disk: false) {
            $0.coders = .standard()
            $0.previews.blursFirstScans = true
        }
        let url = PipelineFixture.url("scans")
        let steps: [ScriptedTransport.Answer.Step] = [.chunk(part), .wait(ScriptedTransportGate())]
        fixture.transport.answer(url, with: .init(headers: ["Content-Length": "\(data.count)"], steps: steps))
        var request = ImageRequest(url)
        (request.wantsPreviews, request.wantsEveryPreview) = (true, true)
        let task = fixture.pipeline.task(for: request)
        var shown: Image?
        for try await event in task.events {
            guard case .preview(let preview) = event else { continue }
            shown = preview.image
            break
        }
        task.cancel()
        let blurred = try #require(shown)
        #expect(try blurred.hasSamePixels(as: sharp.processed(by: [.blur(radius: Double(14 - 4 * scan))])))
        #expect(!blurred.hasSamePixels(as: sharp))
    }

    /// Every scan on request.
    @Test @JobActor func everyScanIsShownWhereThatIsWanted() throws {
        let data = try TestFiles.data("jpeg/progressive.jpg")
        @JobActor func previews(all: Bool) throws -> Int {
            let previewer = Previewer(
                coders: .shared, options: DecodeOptions(), processors: [], previews: PreviewOptions(), showsAll: all,
                clock: TimeSource { Date(timeIntervalSince1970: 0) })
            let body = ReceivedBody()
            previewer.take(body)
            var count = 0
            for start in stride(from: 0, to: data.count, by: 50) {
                body.append(data[start..<min(data.count, start + 50)])
                guard let step = previewer.nextStep() else { continue }
                if try step.make(.uncancellable).image != nil { count += 1 }
            }
            return count
        }
        let scans = data.indices.dropLast().filter { data[$0] == 0xFF && data[$0 + 1] == 0xDA }.count
        #expect(try previews(all: true) == scans)
        #expect(try previews(all: false) < scans)
    }
}
