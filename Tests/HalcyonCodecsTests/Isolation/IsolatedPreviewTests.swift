import Foundation
import HalcyonCodecs
import HalcyonImage
import HalcyonSystem
import TestSupport
import Testing

@testable import DecodeBox

/// Files that arrive, whose previews workers make.
@Suite(.timeLimit(.minutes(5))) struct IsolatedPreviewTests {
    private let registry = CoderRegistry.standard()

    private func workers(_ count: Int = 1) -> DecodeWorkers {
        DecodeWorkers(count: count, program: .file(Worker.path))
    }

    private func decoding(
        _ data: Data, _ workers: DecodeWorkers?, target: Int? = nil, budget: DecodeBudget? = nil
    ) throws -> any ProgressiveDecoding {
        var options = DecodeOptions(isolation: workers.map { .isolated(workers: $0) } ?? .inProcess)
        options.target = target.map { TargetSize(PixelSize($0, $0)) }
        let coders = budget.map { CoderRegistry(registry.coders.reversed(), budget: $0) } ?? registry
        return try #require(coders.makeProgressive(for: data.prefix(64), options: options))
    }

    private static let files = [
        "jpeg/progressive.jpg", "jpeg/baseline-420.jpg", "jpeg/orientation-6.jpg", "png/rgb8.png", "png/adam7-rgba.png",
        "png/apng.png", "gif/animated.gif", "gif/still.gif", "webp/lossless.webp", "webp/animated.webp",
    ]

    @Test(arguments: files)
    func previewsAreThoseOfThisProcess(_ file: String) throws {
        let (data, workers) = (try TestFiles.data(file), workers())
        let (own, other) = (try decoding(data, nil, target: 30), try decoding(data, workers, target: 30))
        var shown = 0
        for part in 0..<9 {
            let bytes = data[data.count * part / 9..<data.count * (part + 1) / 9]
            try own.append(bytes)
            try other.append(bytes)
            let (one, two) = (try own.preview(context: .uncancellable), try other.preview(context: .uncancellable))
            #expect(one?.bitmap.bytes == two?.bitmap.bytes, "part \(part)")
            #expect(one?.info == two?.info, "part \(part)")
            #expect(one?.animation?.durations == two?.animation?.durations, "part \(part)")
            for frame in 0..<(one?.animation?.frameCount ?? 0) {
                #expect(try one?.animation?.frame(at: frame).bytes == two?.animation?.frame(at: frame).bytes)
            }
            if one != nil { shown += 1 }
            #expect(own.shownScans == other.shownScans)
        }
        #expect(shown > 0)
        let (one, two) = (try own.finish(context: .uncancellable), try other.finish(context: .uncancellable))
        #expect(one.bitmap.bytes == two.bitmap.bytes)
        #expect(one.info == two.info)
        #expect(workers.statistics.started == 1)
        #expect(workers.statistics.faults == 0)
    }

    @Test func anotherWorkerGoesOnFromTheBeginning() throws {
        let (data, workers) = (try TestFiles.data("jpeg/progressive.jpg"), workers())
        let (own, other) = (try decoding(data, nil), try decoding(data, workers))
        for part in 0..<4 {
            let bytes = data[data.count * part / 4..<data.count * (part + 1) / 4]
            try own.append(bytes)
            try other.append(bytes)
            let preview = try other.preview(context: .uncancellable)
            #expect(try own.preview(context: .uncancellable)?.bitmap.bytes == preview?.bitmap.bytes)
            workers.endIdle()
        }
        #expect(workers.statistics.started == 4)
    }

    @Test func manyArriveAtATime() throws {
        let (data, workers) = (try TestFiles.data("jpeg/progressive.jpg"), workers())
        let own = try decoding(data, nil)
        let others = try (0..<7).map { _ in try decoding(data, workers) }
        for part in 0..<3 {
            let bytes = data[data.count * part / 3..<data.count * (part + 1) / 3]
            try own.append(bytes)
            let expected = try own.preview(context: .uncancellable)
            for other in others {
                try other.append(bytes)
                #expect(try other.preview(context: .uncancellable)?.bitmap.bytes == expected?.bitmap.bytes)
            }
        }
        #expect(workers.statistics.started == 1)
    }

    /// A worker that was busy keeps an older state, which must not be gone on with.
    @Test func workersTakeTurns() throws {
        let data = try TestFiles.data("jpeg/progressive.jpg")
        let workers = DecodeWorkers(count: 2, program: .file(Worker.attacking))
        let (own, other) = (try decoding(data, nil), try decoding(data, workers))
        for part in 0..<8 {
            let bytes = data[data.count * part / 8..<data.count * (part + 1) / 8]
            try own.append(bytes)
            try other.append(bytes)
            let expected = try own.preview(context: .uncancellable)
            // With every other part, the worker that has the file is not to be had.
            let preview = try whileWorking(part % 2 == 1, workers) { try other.preview(context: .uncancellable) }
            #expect(preview?.bitmap.bytes == expected?.bitmap.bytes, "part \(part)")
        }
        #expect(workers.statistics.faults == 0)
    }

    /// Runs `body` while the worker that was used last is busy with another file.
    private func whileWorking<Result>(_ isBusy: Bool, _ workers: DecodeWorkers, _ body: () throws -> Result) rethrows
        -> Result
    {
        guard isBusy else { return try body() }
        let (begun, ended) = (DispatchSemaphore(value: 0), DispatchSemaphore(value: 0))
        let state = Lock((looks: 0, isOver: false))
        // The program looks at it every few milliseconds once the worker works, and a few times before.
        let context = WorkContext {
            state.withLock { state in
                state.looks += 1
                if state.looks == 10 { begun.signal() }
                return state.isOver
            }
        }
        Thread.detachNewThread {
            let options = DecodeOptions(isolation: .isolated(workers: workers))
            _ = try? CoderRegistry([AttackCoder()]).decode(Attack.drawsSlowly.file, options: options, context: context)
            ended.signal()
        }
        begun.wait()
        defer {
            state.withLock { $0.isOver = true }
            ended.wait()
        }
        return try body()
    }

    /// The first bytes of a PNG do not tell its orientation yet.
    @Test func aHeaderThatWasNotCompleteIsPlannedAgain() throws {
        let file = try TestFiles.data("variants/orientation-6.png")
        let text = CraftedFile.chunk("tEXt", Data("Comment\0".utf8) + Data(count: 4000))
        let data = file.prefix(33) + text + file.dropFirst(33)
        let workers = workers()
        let other = try decoding(data, workers)
        try other.append(data.prefix(2000))
        #expect(try other.preview(context: .uncancellable) == nil)
        try other.append(data.dropFirst(2000).dropLast(20))
        let previews = try (0..<2).map { _ in try other.preview(context: .uncancellable) }
        #expect(previews[0] == nil)
        #expect(previews[1]?.info.orientation == .right)
        #expect(try previews[1]?.size == registry.decode(data).size)
        #expect(workers.statistics.faults == 0)
        #expect(workers.statistics.started == 1)
    }

    /// An animation whose first bytes declare more pixels for each of them than a whole file may.
    @Test func limitsByTheLengthAreForWholeFiles() throws {
        let data = CraftedFile.apngBeginning(side: 2000, frames: 600)
        #expect(throws: CodecError.self) { try registry.plan(data) }
        let (own, other) = (try decoding(data, nil), try decoding(data, workers()))
        for decoding in [own, other] {
            try decoding.append(data)
            #expect(try decoding.preview(context: .uncancellable) == nil)
        }
    }

    @Test func thereAreNoPreviewsWithoutMemory() throws {
        let data = try TestFiles.data("jpeg/progressive.jpg")
        let decoding = try decoding(data, workers(), budget: DecodeBudget(capacity: 4096))
        try decoding.append(data.dropLast(10))
        #expect(try decoding.preview(context: .uncancellable) == nil)
    }

    @Test func memoryIsReservedWhileAFileArrives() throws {
        let (data, budget) = (try TestFiles.data("jpeg/progressive.jpg"), DecodeBudget(capacity: 1 << 30))
        var decoding: (any ProgressiveDecoding)? = try decoding(data, workers(), budget: budget)
        try decoding?.append(data.prefix(data.count / 2))
        #expect(try decoding?.preview(context: .uncancellable) != nil)
        #expect(budget.available < budget.capacity)
        decoding = nil
        #expect(budget.available == budget.capacity)
    }

    @Test func aFileThatStopsItsDecoderEndsItsPreviews() throws {
        let workers = DecodeWorkers(count: 1, program: .file(Worker.attacking))
        for attack in [Attack.segfault, .opens] {
            let options = DecodeOptions(isolation: .isolated(workers: workers))
            let made = CoderRegistry([AttackCoder()]).makeProgressive(for: attack.file, options: options)
            let decoding = try #require(made)
            try decoding.append(attack.file)
            let stop = attack == .opens ? DecodeStop.forbiddenCall : .signal(SIGSEGV)
            #expect(throws: CodecError.stopped(.attack, stop)) { try decoding.preview(context: .uncancellable) }
        }
        #expect(workers.statistics.faults == 2)
    }

    @Test func aCoderThatTheWorkersLackDecodesInTheProcess() throws {
        let options = DecodeOptions(isolation: .isolated(workers: workers()))
        let made = CoderRegistry([AttackCoder()]).makeProgressive(for: Attack.draws.file, options: options)
        let decoding = try #require(made)
        try decoding.append(Attack.draws.file)
        #expect(try decoding.preview(context: .uncancellable)?.size == AttackCoder.size)
    }

    @Test func damageIsAnErrorHereAndThere() throws {
        let data = try TestFiles.data("jpeg/progressive.jpg")
        let decoding = try decoding(data, workers())
        try decoding.append(data.prefix(data.count / 2))
        #expect(throws: CodecError.self) { try decoding.finish(context: .uncancellable) }
    }
}
