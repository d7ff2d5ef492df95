import CHalcyonWorker
import Foundation
import HalcyonImage
import HalcyonSystem

/// One worker, which a single thread uses at a time.
///
/// It ends with the object, and with the program: at the end of its channel it exits.
final class WorkerProcess: Sendable {
    /// The end of a worker while something was asked of it.
    struct Ended: Error {
        let stop: DecodeStop
        /// Whether the worker had ended before it took the request.
        var wasIdle = false
        /// Whether the worker has had other files before, one of which may be to blame.
        var hadOthers = false
    }

    /// The time that a worker may take to start.
    private static let longestStart = Duration.seconds(20)
    /// The address space beside what a decode reserves, in bytes: stacks of threads, tables of libraries, parts of the heap that
    /// are not full, and, in one that reads them, fonts.
    private static let spareAddressSpace = (plain: 256 << 20, fonts: 768 << 20)
    /// The time that a cancelled decode has to notice it.
    private static let grace = Duration.milliseconds(20)
    /// The time after which the limit of processor time is set anew.
    private static let timeInterval = Duration.seconds(10)

    private struct State {
        /// The number of animations that a worker keeps between two frames.
        static let mostSessions = 4

        /// The file of the last question, and the number of files.
        var file = 0
        var files = 0
        /// The number of the last request, if it was for a plan.
        var plan: Int?
        /// The limit of its address space in bytes.
        var addressSpace = 0
        /// Runs since its limit of processor time was set.
        var timeWatch: Stopwatch?
        /// The animations and arriving files that the worker keeps, the one that was used last at the end.
        var sessions: [WorkerSession] = []
        /// Those that it keeps until the next request says that nobody needs them.
        var endedSessions: [WorkerSession] = []

        /// Notes that the worker keeps an animation from now on, and gives up others for it.
        mutating func keep(_ session: WorkerSession) {
            sessions.removeAll { $0.number == session.number }
            sessions.append(session)
            while sessions.count > Self.mostSessions { endedSessions.append(sessions.removeFirst()) }
            endedSessions.removeAll { $0.number == session.number }
        }
    }

    let greeting: WorkerGreeting
    let kind: WorkerKind
    private let channel: WorkerChannel
    private let arena: WorkerArena
    private let process: ChildProcess
    private let state = Lock(State())

    /// Starts a worker and waits for its greeting.
    ///
    /// - Throws: `CodecError.isolationUnavailable`; `CancellationError`; `Ended` if somebody has ended it before its greeting.
    init(_ launch: WorkerLaunch, context: WorkContext) throws {
        var end: Int32 = -1
        channel = try WorkerChannel(otherEnd: &end)
        defer { close(end) }
        kind = launch.kind
        let memory = try SharedMemory(byteCount: WorkerArena.byteCount)
        guard let arena = WorkerArena(memory.file) else { throw SharedMemory.unavailable }
        self.arena = arena
        process = ChildProcess(try launch.start(channel: end, arena: memory.file))
        // The end of the channel must be the worker's alone by the time of its end.
        close(end)
        end = -1
        do {
            let greeting = try Self.greeting(on: channel, context: context)
            if let failure = greeting.failure { throw WireError.invalid(failure) }
            self.greeting = greeting
        } catch let error where !(error is CancellationError) {
            let stop = process.end()
            if error is WorkerChannel.Closed, stop?.mayBeForeign ?? true {
                throw Ended(stop: stop ?? .exited(DecodeStop.unknown), wasIdle: true)
            }
            throw CodecError.isolationUnavailable(Self.text(of: error, stop, launch))
        }
    }

    private static func greeting(on channel: WorkerChannel, context: WorkContext) throws -> WorkerGreeting {
        let watch = Stopwatch()
        while try !channel.waitForMessage() {
            try context.checkCancellation()
            guard watch.elapsed < longestStart else {
                throw WireError.invalid("it did not start within \(longestStart)")
            }
        }
        return try WorkerGreeting(try channel.receive())
    }

    private static func text(of error: any Error, _ stop: DecodeStop?, _ launch: WorkerLaunch) -> String {
        var reason = "\(error)"
        if case WireError.invalid(let text) = error { reason = text }
        if error is WorkerChannel.Closed, let stop { reason = "\(stop)" }
        return "the decode worker \(launch.path) cannot be used: \(reason)"
    }

    /// Whether it has not been ended.
    var isAlive: Bool { process.isHeld }

    /// The number of files that it has had.
    var fileCount: Int { state.withLock { $0.files } }

    /// Whether its processor time is near what a worker may take in all.
    var isOld: Bool { process.processorTime.map { $0 > 1_800_000_000_000 } ?? true }

    /// Whether it has an animation of this number.
    func keeps(_ session: Int) -> Bool { state.withLock { $0.sessions.contains { $0.number == session } } }

    /// Whether its last request was for this plan.
    func hasPlanned(_ number: Int) -> Bool { state.withLock { $0.plan == number } }

    // MARK: - Questions

    /// Returns a result that is taken from this worker.
    func makeResult(
        _ pixels: UnsafeMutableRawBufferPointer?, deep: UnsafeMutableRawBufferPointer?, of question: WorkerQuestion
    ) -> WorkerResult {
        WorkerResult(arena, pixels, deep: deep, of: question)
    }

    /// Asks and waits for the answer.
    ///
    /// - Parameters:
    ///   - limit: the longest time that it may take.
    ///   - result: receives the parts of the result that come before the answer.
    /// - Throws: the error that the worker answers; `Ended`; `CancellationError`. After the last two the worker is of no more use,
    ///   unless `isAlive`.
    func answer(
        to question: WorkerQuestion, within limit: Duration, _ result: inout WorkerResult, context: WorkContext
    ) throws -> WorkerAnswer {
        let watch = Stopwatch()
        let hasFile = question.isKnown(to: self)
        let number = try send(question, hasFile: hasFile, isStreamed: result.isStreamed, limit)
        var cancelled: Stopwatch?
        do {
            while true {
                // Parts may come without a pause: this is looked at before each message.
                if cancelled == nil, context.isCancelled {
                    arena.cancelled = number
                    cancelled = Stopwatch()
                }
                if let cancelled, cancelled.elapsed > Self.grace { throw giveUp() }
                if watch.elapsed > limit {
                    _ = process.end()
                    throw Ended(stop: .timeLimit(limit))
                }
                if try channel.isSilent {
                    if result.hasMoreToPrepare { result.prepareMore() }
                    guard try channel.waitForMessage() else { continue }
                }
                switch try WorkerAnswer(try channel.receive(), to: number) {
                case .part(let part):
                    try result.take(part)
                    guard channel.send(PartTaken(number: number, part: part).bytes, []) else {
                        throw WireError.invalid("a channel that nobody reads")
                    }
                case _ where cancelled != nil: throw CancellationError()
                case .failure(is CancellationError):
                    throw WireError.invalid("a cancellation that nobody asked for")
                case .failure(let error): throw error
                case let answer: return answer
                }
            }
        } catch {
            // The worker may not have begun with the animation, or its decoder cannot go on.
            if let session = question.session { end(session.number) }
            throw ended(error)
        }
    }

    /// Sends a question, with the file unless the worker has it. Returns the number of the request.
    private func send(_ question: WorkerQuestion, hasFile: Bool, isStreamed: Bool, _ limit: Duration) throws -> Int {
        // Nothing is due from it: a message now, like the end of the channel, makes it useless.
        guard try channel.isSilent else { throw idleEnd }
        try restrict(question.file.data.count.adding(1, times: question.bytes), limit)
        let data = question.data(isKnown: hasFile)
        // First, as it may fail: what is noted of the worker must have been sent.
        let memory = try data.flatMap { try pass($0) }
        var request = request(for: question, isKnown: hasFile)
        (request.isStreamed, request.fileBytes) = (isStreamed, data?.count ?? question.file.data.count)
        guard channel.send(request.bytes, memory.map { [$0.file] } ?? []) else { throw idleEnd }
        return request.number
    }

    /// Copies a file to where the worker reads it. A large one goes by descriptor, which is returned.
    private func pass(_ data: Data) throws -> SharedMemory? {
        guard data.count <= WorkerArena.fileBytes else { return try SharedMemory(of: data) }
        data.withUnsafeBytes { bytes in
            if let source = bytes.baseAddress { arena.file.copyMemory(from: source, byteCount: bytes.count) }
        }
        return nil
    }

    private var idleEnd: Ended { Ended(stop: process.end() ?? .exited(DecodeStop.unknown), wasIdle: true) }

    private func request(for question: WorkerQuestion, isKnown: Bool) -> WorkerRequest {
        var request = WorkerRequest(question.work, number: question.number, options: question.options)
        (request.mostBytes, request.frames) = (question.mostBytes, question.frames)
        (request.showsThumbnail, request.isArriving) = (question.showsThumbnail, question.isArriving)
        (request.target, request.effort) = (question.transcode?.format, question.transcode?.effort)
        state.withLock { state in
            if state.file != question.file.number { state.files += 1 }
            state.file = question.file.number
            state.plan = question.makesPlan ? request.number : nil
            if let session = question.session {
                request.session = session.number
                state.keep(session)
            }
            if isKnown { (request.plan, request.arrived) = (question.plan, question.arrived) }
            request.ended = state.endedSessions.map(\.number)
            state.endedSessions = []
        }
        return request
    }

    /// Ends the worker in the middle of a request that nobody wants any more.
    private func giveUp() -> CancellationError {
        _ = process.end()
        return CancellationError()
    }

    /// Ends the worker because of an error in what it sent, or because it has ended, and returns the error of the question.
    func ended(_ error: any Error) -> any Error {
        let hadOthers = state.withLock { $0.files > 1 }
        switch error {
        case WireError.invalid(let what):
            _ = process.end()
            return Ended(stop: .invalidAnswer(what), hadOthers: hadOthers)
        case is WorkerChannel.Closed:
            return Ended(stop: process.end() ?? .exited(DecodeStop.unknown), hadOthers: hadOthers)
        default: return error
        }
    }

    /// Gives the worker the limits of one request, if those that it has are not good enough.
    ///
    /// - Parameter bytes: the memory that it may take, that of the file included.
    private func restrict(_ bytes: Int, _ limit: Duration) throws {
        let base = greeting.addressSpace
        // A sanitizer reserves terabytes: its worker has no limit.
        let isLimited = base > 0 && base < 1 << 40
        let spare = kind == .fonts ? Self.spareAddressSpace.fonts : Self.spareAddressSpace.plain
        let (space, isDue) = state.withLock { state -> (Int, Bool) in
            let kept = (state.sessions + state.endedSessions).reduce(0) { $0.adding(1, times: $1.cost) }
            let needed = [bytes, kept, spare].reduce(base) { $0.adding(1, times: $1) }
            let fits = !isLimited || (state.addressSpace >= needed && state.addressSpace - needed < spare / 4)
            if !fits { state.addressSpace = needed }
            let isDue = state.timeWatch.map { $0.elapsed > Self.timeInterval } ?? true
            if isDue { state.timeWatch = Stopwatch() }
            return (fits ? 0 : needed, isDue)
        }
        guard space > 0 || isDue else { return }
        // The time limit of a request is kept by this process; that of the system is for a worker whose program has ended.
        let used = (process.processorTime ?? 0) / 1_000_000_000
        guard process.limit(addressSpace: space, processorSeconds: used + 60 + 2 * limit.components.seconds) else {
            throw idleEnd
        }
    }

    // MARK: - Sessions

    /// Notes that an animation or an arriving file is not needed any more.
    func end(_ session: Int) {
        state.withLock { state in
            guard let index = state.sessions.firstIndex(where: { $0.number == session }) else { return }
            state.endedSessions.append(state.sessions.remove(at: index))
        }
    }

    /// Tells a worker that is not asked anything now what it need not keep.
    func tellEnded() {
        let ended = state.withLock { state in
            defer { state.endedSessions = [] }
            return state.endedSessions.map(\.number)
        }
        guard !ended.isEmpty else { return }
        var request = WorkerRequest(.end, number: 0, options: DecodeOptions())
        request.ended = ended
        // A worker that does not read is ended at its next question.
        _ = channel.send(request.bytes, [])
    }
}
