import Foundation
import HalcyonImage
import HalcyonSystem

/// Worker processes for decoding, which hold no rights.
///
/// They start when they are needed and stay for later images. A worker that crashes, takes too long, or has made
/// `imagesPerWorker` images is replaced. All of them end with the program, and with the last reference to this object.
public final class DecodeWorkers: Sendable {
    /// The program that the workers run.
    public enum Program: Hashable, Sendable {
        /// The file that the environment variable `HALCYON_DECODE_WORKER` names, otherwise `halcyon-decode-worker` in the folder
        /// of the running program or in `../libexec` or `../libexec/halcyon`, otherwise the running program itself if it begins
        /// with `DecodeWorker.runIfAsked()`.
        case automatic
        /// The file at this path.
        case file(String)
        /// The running program, which begins with `DecodeWorker.runIfAsked()`.
        case itself
    }

    /// The counts of what the workers have done since they were created.
    public struct Statistics: Hashable, Sendable {
        /// The number of workers that are there now.
        public var workers = 0
        /// The number of workers that were started.
        public var started = 0
        /// The number of requests that were answered: plans, images and frames.
        public var answers = 0
        /// The number of requests that ended their worker: crashes, limits, forbidden calls, wrong answers.
        public var faults = 0
        /// The number of workers that were ended because a decode that nobody wanted any more did not stop.
        public var cancellations = 0
        /// The time of all requests together, the start of workers included.
        public var time: Duration = .zero

        /// Creates counts that are zero.
        public init() {}
    }

    private struct State {
        var idle: [WorkerProcess] = []
        /// The workers that answer a question.
        var busy: [WorkerProcess] = []
        var numbers = 0
        var statistics = Statistics()
        /// Whether the workers have the coder of a type.
        var coders: [ObjectIdentifier: Bool] = [:]
        /// The names of the coders that the workers have; nil before the first one has started.
        var names: Set<String>?
        /// The last errors of a start, for a moment: a program that loads a hundred images tries once. Loaders or fonts that keep a
        /// worker from its start are no reason for the others.
        var failures: [WorkerKind: (error: CodecError, watch: Stopwatch)] = [:]
    }

    /// The time for which a failed start is not tried again.
    private static let failureTime: Duration = .seconds(1)

    /// The workers that all pipelines share: as many as the system grants processors.
    public static let shared = DecodeWorkers()

    /// The maximum number of workers at a time.
    public let count: Int
    /// The program that the workers run.
    public let program: Program
    /// The longest time that a worker may take for one request; the worker is ended then.
    public let timeLimit: Duration
    /// The number of images after which a worker is replaced, so that a fault that adds up does not matter.
    public let imagesPerWorker: Int
    private let usesLandlock: Bool
    /// A place for each worker; callers wait for one in the order of their arrival.
    private let places: ByteBudget
    private let state = Lock(State())

    /// Creates workers, none of which is started yet.
    ///
    /// - Parameters:
    ///   - count: the maximum number of workers, at least 1; as many as the system grants processors by default.
    ///   - program: the program that they run.
    ///   - timeLimit: the longest time for one request: 30 seconds by default, a day at most.
    ///   - imagesPerWorker: the number of images after which a worker is replaced: 1,000 by default. 1 gives each image a worker of
    ///     its own.
    public convenience init(
        count: Int? = nil, program: Program = .automatic, timeLimit: Duration = .seconds(30),
        imagesPerWorker: Int = 1000
    ) {
        self.init(
            count: count, program: program, timeLimit: timeLimit, imagesPerWorker: imagesPerWorker, usesLandlock: true)
    }

    /// - Parameter usesLandlock: false tests that the list of system calls holds alone.
    package init(
        count: Int?, program: Program, timeLimit: Duration = .seconds(30), imagesPerWorker: Int = 1000,
        usesLandlock: Bool
    ) {
        self.count = max(1, count ?? SystemGrant.current.cores)
        self.program = program
        self.timeLimit = min(max(timeLimit, .milliseconds(1)), .seconds(86_400))
        self.imagesPerWorker = max(1, imagesPerWorker)
        self.usesLandlock = usesLandlock
        places = ByteBudget(capacity: self.count)
    }

    /// The counts of what the workers have done.
    public var statistics: Statistics { state.withLock { $0.statistics } }

    /// Starts a worker unless one is there already, so that the first image does not wait for it.
    ///
    /// - Throws: `CodecError.isolationUnavailable`; `CancellationError`.
    public func prepare(context: WorkContext = .uncancellable) throws {
        guard state.withLock({ $0.idle.isEmpty && $0.statistics.workers == 0 }) else { return }
        try prepare(.plain, context)
    }

    private func prepare(_ kind: WorkerKind, _ context: WorkContext) throws {
        try withWorker(kind, context: context, preferring: { _ in true }) { _ in }
    }

    /// Ends all workers that are not in use. Later images start new ones.
    public func endIdle() {
        let ended = state.withLock { state in
            defer { state.idle = [] }
            state.statistics.workers -= state.idle.count
            return state.idle
        }
        withExtendedLifetime(ended) {}
    }

    // MARK: - Coders

    /// Returns whether the workers have the coder. False for a coder of the program's own that they do not have.
    ///
    /// - Parameter format: the format that they are about to decode: one that suits is started if there is none to ask.
    /// - Throws: `CodecError.isolationUnavailable` for a coder of the library that they do not have, and if none starts;
    ///   `CancellationError`.
    func have(_ coder: any ImageCoder, for format: ImageFormat, context: WorkContext) throws -> Bool {
        let type = type(of: coder) as any Any.Type
        if let known = state.withLock({ $0.coders[ObjectIdentifier(type)] }) { return known }
        let name = String(reflecting: type)
        if state.withLock({ $0.names == nil }) { try prepare(WorkerKind(for: format), context) }
        let isThere = state.withLock { $0.names?.contains(name) ?? false }
        guard isThere || !name.hasPrefix("Halcyon") else {
            throw CodecError.isolationUnavailable("the decode worker does not have the coder \(name)")
        }
        state.withLock { $0.coders[ObjectIdentifier(type)] = isThere }
        return isThere
    }

    // MARK: - Requests

    /// Asks a worker, and once more a new one if somebody else has ended the first, or if that had other files before: one of those
    /// may have taken it over.
    ///
    /// - Parameters:
    ///   - pixels: the memory for the pixels, if parts of them may come before the answer.
    ///   - deep: the memory for the deep pixels, if there are some and parts may come.
    ///   - finish: makes the result of the answer, and takes the pixels. A `WireError` ends the worker.
    /// - Throws: `CodecError`, `BitmapError`, `CancellationError`, `WorkerError`.
    func ask<Result>(
        _ question: WorkerQuestion, context: WorkContext, pixels: UnsafeMutableRawBufferPointer? = nil,
        deep: UnsafeMutableRawBufferPointer? = nil,
        _ finish: (WorkerAnswer, inout WorkerResult) throws -> Result
    ) throws -> Result {
        let watch = Stopwatch()
        defer { state.withLock { $0.statistics.time += watch.elapsed } }
        let format = question.file.format
        // Each idle worker may have been ended meanwhile.
        var (idleEnds, ends) = (0, 0)
        while true {
            do {
                return try withWorker(
                    WorkerKind(for: format), isNew: ends > 0, context: context,
                    preferring: { question.isKnown(to: $0) }
                ) { worker in
                    do {
                        // Another worker that keeps an older state of the file must not be taken for one that has this state.
                        if question.work == .preview, let session = question.session, !worker.keeps(session.number) {
                            end(session.number)
                        }
                        var result = worker.makeResult(pixels, deep: deep, of: question)
                        return try finish(
                            try worker.answer(to: question, within: timeLimit, &result, context: context), &result)
                    } catch {
                        throw worker.ended(error)
                    }
                }
            } catch let end as WorkerProcess.Ended {
                if end.wasIdle { idleEnds += 1 } else { ends += 1 }
                guard idleEnds <= count + 1, ends <= 1, end.wasIdle || end.hadOthers || end.stop.mayBeForeign else {
                    throw CodecError.stopped(format, end.stop)
                }
            }
        }
    }

    /// Ends an animation or an arriving file, for which nobody will ask any more. A worker that is busy hears of it afterwards.
    func end(_ session: Int) {
        state.withLock { state in
            for worker in state.busy { worker.end(session) }
            for worker in state.idle {
                worker.end(session)
                worker.tellEnded()
            }
        }
    }

    /// Returns a number that no other question or animation has.
    func nextNumber() -> Int {
        state.withLock { state in
            state.numbers += 1
            return state.numbers
        }
    }

    // MARK: - Workers

    /// Lends a worker to `body`.
    ///
    /// - Parameter isNew: whether it must be one that has had no file yet.
    private func withWorker<Result>(
        _ kind: WorkerKind, isNew: Bool = false, context: WorkContext, preferring isPreferred: (WorkerProcess) -> Bool,
        _ body: (WorkerProcess) throws -> Result
    ) throws -> Result {
        try places.waitForReservation(of: 1, context: context)
        defer { places.release(1) }
        let worker = try idleWorker(kind, isNew, isPreferred) ?? start(kind, context)
        do {
            let result = try body(worker)
            putBack(worker, error: nil)
            return result
        } catch {
            putBack(worker, error: error)
            throw error
        }
    }

    private func idleWorker(
        _ kind: WorkerKind, _ isNew: Bool, _ isPreferred: (WorkerProcess) -> Bool
    ) -> WorkerProcess? {
        let most = isNew ? 1 : imagesPerWorker
        return state.withLock { state in
            let preferred = isNew ? nil : state.idle.lastIndex { $0.kind == kind && isPreferred($0) }
            let index = preferred ?? state.idle.lastIndex { $0.kind == kind && $0.fileCount < most }
            guard let index else { return nil }
            state.busy.append(state.idle.remove(at: index))
            return state.busy.last
        }
    }

    private func start(_ kind: WorkerKind, _ context: WorkContext) throws -> WorkerProcess {
        let (failure, surplus) = state.withLock { state -> (CodecError?, WorkerProcess?) in
            if let failure = state.failures[kind], failure.watch.elapsed < Self.failureTime {
                return (failure.error, nil)
            }
            // Those that have had their images, and those for other formats, hold a place in vain.
            guard state.statistics.workers >= count, !state.idle.isEmpty else { return (nil, nil) }
            state.statistics.workers -= 1
            return (nil, state.idle.removeFirst())
        }
        withExtendedLifetime(surplus) {}
        if let failure { throw failure }
        do {
            let launch = WorkerLaunch(
                path: try WorkerLaunch.path(of: program), kind: kind, usesLandlock: usesLandlock)
            let worker = try Self.process(launch, context)
            state.withLock { state in
                state.busy.append(worker)
                state.statistics.workers += 1
                state.statistics.started += 1
                state.names = state.names ?? Set(worker.greeting.coders)
            }
            return worker
        } catch let error as CodecError {
            state.withLock { $0.failures[kind] = (error, Stopwatch()) }
            throw error
        } catch let end as WorkerProcess.Ended {
            // Not remembered: it says nothing about the program.
            throw CodecError.isolationUnavailable("the decode worker was ended before it began: \(end.stop)")
        }
    }

    /// Starts a process, and another one if somebody has ended it before its greeting.
    private static func process(_ launch: WorkerLaunch, _ context: WorkContext) throws -> WorkerProcess {
        for _ in 0..<2 {
            do {
                return try WorkerProcess(launch, context: context)
            } catch is WorkerProcess.Ended {}
        }
        return try WorkerProcess(launch, context: context)
    }

    /// Takes a worker back, unless it has ended or is due for replacement.
    private func putBack(_ worker: WorkerProcess, error: (any Error)?) {
        let stays = worker.isAlive && !worker.isOld
        state.withLock { state in
            state.busy.removeAll { $0 === worker }
            if stays {
                // Under the lock: a session that ends now is told here, or finds the worker among the idle ones.
                worker.tellEnded()
                state.idle.append(worker)
            } else {
                state.statistics.workers -= 1
            }
            switch error {
            case let end as WorkerProcess.Ended where !end.wasIdle: state.statistics.faults += 1
            case is CancellationError where !stays: state.statistics.cancellations += 1
            case is WorkerProcess.Ended: break
            default: state.statistics.answers += 1
            }
        }
    }
}
