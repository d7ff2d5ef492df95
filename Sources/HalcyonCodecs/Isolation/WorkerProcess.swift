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
    }

    /// The longest message of a worker, in bytes.
    private static let longestMessage = 64 << 10
    /// The time that a worker may take to start, in milliseconds.
    private static let longestStart = 20_000
    /// The time between two looks at whether the result is still wanted, in milliseconds.
    private static let pause: Int32 = 5
    /// The time between two parts of a result, of which the worker has all, in milliseconds.
    private static let longestPart: Int32 = 10_000
    /// The time that a cancelled decode has to notice it, in milliseconds.
    private static let grace: Int32 = 20
    /// The address space beside what a decode reserves, in bytes: stacks of threads, tables of libraries, parts of the heap that
    /// are not full.
    private static let spareAddressSpace = 256 << 20

    /// The time after which the limit of processor time is set anew.
    private static let timeInterval = Duration.seconds(10)
    /// The number of animations that a worker keeps between two frames.
    private static let mostSessions = 4

    private struct State {
        /// Nil once the process has been waited for: the number may be another's from then on.
        var id: pid_t?
        var requests = 0
        /// The number of the last request, if it was for a plan.
        var plan: Int?
        /// The limit of its address space in bytes.
        var addressSpace = 0
        /// Runs since its limit of processor time was set.
        var timeWatch: Stopwatch?
        /// The animations that the worker keeps, the one that was used last at the end.
        var sessions: [WorkerSession] = []
        var endedSessions: [Int] = []
    }

    let greeting: WorkerGreeting
    let readsFonts: Bool
    private let channel: Int32
    private let arena: WorkerArena
    private let state: Lock<State>

    /// Starts a worker and waits for its greeting.
    ///
    /// - Throws: `CodecError.isolationUnavailable`; `Ended` if somebody has ended it before its greeting.
    init(_ launch: WorkerLaunch) throws {
        var ends: [Int32] = [-1, -1]
        guard halcyon_channel_create(&ends) == 0 else {
            throw CodecError.isolationUnavailable("no channel: \(String(cString: strerror(errno)))")
        }
        channel = ends[0]
        readsFonts = launch.readsFonts
        do {
            defer { close(ends[1]) }
            let memory = try SharedMemory(byteCount: WorkerArena.byteCount)
            guard let arena = WorkerArena(memory.file) else { throw SharedMemory.unavailable }
            self.arena = arena
            state = Lock(State(id: try launch.start(channel: ends[1], arena: memory.file)))
        } catch {
            close(channel)
            throw error
        }
        do {
            guard halcyon_channel_wait(channel, Int32(Self.longestStart)) == 1 else {
                throw WireError.invalid("it did not start within \(Self.longestStart / 1000) seconds")
            }
            let greeting = try WorkerGreeting(try Self.message(on: channel))
            if let failure = greeting.failure { throw WireError.invalid(failure) }
            self.greeting = greeting
        } catch {
            close(channel)
            let stop = Self.end(state)
            if error is Ended, let stop, stop.mayBeForeign { throw Ended(stop: stop, wasIdle: true) }
            throw CodecError.isolationUnavailable(Self.text(of: error, stop, launch))
        }
    }

    private static func text(of error: any Error, _ stop: DecodeStop?, _ launch: WorkerLaunch) -> String {
        var reason = "\(error)"
        if case WireError.invalid(let text) = error { reason = text }
        if error is Ended, let stop { reason = "\(stop)" }
        return "the decode worker \(launch.path) cannot be used: \(reason)"
    }

    deinit {
        close(channel)
        _ = Self.end(state)
    }

    /// The number of the process; nil once it has ended.
    var id: pid_t? { state.withLock { $0.id } }

    /// The number of requests that it has answered.
    var requestCount: Int { state.withLock { $0.requests } }

    /// Whether its processor time is near what a worker may take in all.
    var isOld: Bool { id.map { halcyon_process_time($0) > 1_800_000_000_000 } ?? true }

    /// Whether it has an animation of this number.
    func keeps(_ session: Int) -> Bool { state.withLock { $0.sessions.contains { $0.number == session } } }

    /// Whether its last request was for this plan.
    func hasPlanned(_ number: Int) -> Bool { state.withLock { $0.plan == number } }

    // MARK: - Requests

    /// Asks and waits for the answer.
    ///
    /// - Parameters:
    ///   - limit: the longest time that it may take.
    ///   - prepare: called while the worker works.
    /// - Throws: the error that the worker answers; `Ended`; `CancellationError`. After the last two the worker is of no more use,
    ///   unless `isAlive`.
    func answer(
        to question: WorkerQuestion, within limit: Duration, context: WorkContext, prepare: () -> Void
    ) throws -> WorkerAnswer {
        // Nothing is due from it: a message now, like the end of the channel, makes it useless.
        guard halcyon_channel_wait(channel, 0) == 0 else {
            throw Ended(stop: Self.end(state) ?? .exited(0), wasIdle: true)
        }
        let file = question.file
        try restrict(file.data.count.adding(1, times: question.bytes), limit)
        let hasFile = question.isKnown(to: self)
        let request = request(for: question, hasFile: hasFile)
        if !hasFile, file.memory == nil { file.data.withUnsafeBytes { Self.copy($0, to: arena.file) } }
        guard send(request.bytes, hasFile ? [] : file.memory.map { [$0.file] } ?? []) else {
            throw Ended(stop: Self.end(state) ?? .exited(0), wasIdle: true)
        }
        prepare()
        do {
            let isCancelled = try waitForAnswer(to: request.number, within: limit, context: context)
            let answer = try self.answer(to: request.number)
            if isCancelled {
                // The result behind the answer is not taken.
                if answer.hasResult { _ = Self.end(state) }
                throw CancellationError()
            }
            if case .failure(let error) = answer { throw error }
            return answer
        } catch {
            // The worker may not have begun with the animation.
            if let session = question.session { end(session.number) }
            throw error
        }
    }

    private func request(for question: WorkerQuestion, hasFile: Bool) -> WorkerRequest {
        var request = WorkerRequest(
            question.work, number: question.number, options: question.options, fileBytes: question.file.data.count)
        if let session = question.session {
            (request.session, request.frame) = (session.number, question.frame)
            request.ended = keep(session)
        } else if hasFile {
            request.plan = question.plan
        }
        state.withLock { state in
            state.requests += 1
            state.plan = request.work == .plan ? request.number : nil
        }
        return request
    }

    private func answer(to number: Int) throws -> WorkerAnswer {
        do {
            return try WorkerAnswer(try Self.message(on: channel), to: number)
        } catch {
            throw ended(error)
        }
    }

    /// Receives the result behind an answer, which comes through the two windows: two parts are there with the answer, and each
    /// further one follows when a window is free.
    ///
    /// - Parameters:
    ///   - pixels: the memory for the pixels.
    ///   - extraBytes: the number of bytes behind the pixels, which are returned.
    /// - Throws: `Ended`, `WireError`.
    func receive(_ pixels: UnsafeMutableRawBufferPointer, extraBytes: Int) throws -> Data {
        let byteCount = pixels.count + extraBytes
        var extras = Data(count: extraBytes)
        let parts = WorkerArena.parts(of: byteCount)
        for part in 0..<parts {
            if part > 1 {
                guard halcyon_channel_wait(channel, Self.longestPart) == 1 else {
                    throw WireError.invalid("no next part")
                }
                do {
                    var reader = WireReader(try Self.message(on: channel))
                    guard try reader.int() == part, reader.isAtEnd else { throw WireError.invalid("another part") }
                } catch {
                    throw ended(error)
                }
            }
            let range = WorkerArena.range(of: part, byteCount)
            let window = UnsafeRawBufferPointer(start: arena.window(part), count: range.count)
            // Copied once, and only then looked at: the worker may change a window at any time.
            let own = range.clamped(to: 0..<pixels.count)
            if !own.isEmpty {
                UnsafeMutableRawBufferPointer(rebasing: pixels[own]).copyMemory(
                    from: UnsafeRawBufferPointer(rebasing: window[..<own.count]))
            }
            let rest = range.clamped(to: pixels.count..<byteCount)
            if !rest.isEmpty {
                let from = UnsafeRawBufferPointer(rebasing: window[(range.count - rest.count)...])
                extras.replaceSubrange(rest.lowerBound - pixels.count..<rest.upperBound - pixels.count, with: from)
            }
            if part + 2 < parts {
                var encoder = KeyEncoder()
                encoder.encode(part)
                guard send(encoder.bytes) else { throw ended(Ended(stop: .exited(0))) }
            }
        }
        return extras
    }

    private func send(_ bytes: [UInt8], _ files: [Int32] = []) -> Bool {
        halcyon_channel_send(channel, bytes, bytes.count, files, Int32(files.count)) == 0
    }

    private static func copy(_ bytes: UnsafeRawBufferPointer, to memory: UnsafeMutableRawPointer) {
        if let source = bytes.baseAddress { memory.copyMemory(from: source, byteCount: bytes.count) }
    }

    /// Whether the process has not been ended.
    var isAlive: Bool { id != nil }

    /// Ends the worker because of an error in what it sent, and returns the error of the request.
    func ended(_ error: any Error) -> Ended {
        if case WireError.invalid(let what) = error {
            _ = Self.end(state)
            return Ended(stop: .invalidAnswer(what))
        }
        return Ended(stop: Self.end(state) ?? .exited(0))
    }

    /// Gives the worker the limits of one request, if those that it has are not good enough.
    ///
    /// - Parameter bytes: the memory that it may take, that of the file included.
    private func restrict(_ bytes: Int, _ limit: Duration) throws {
        guard let id else { throw Ended(stop: .exited(0), wasIdle: true) }
        let base = greeting.addressSpace
        let (space, isDue) = state.withLock { state -> (Int?, Bool) in
            let kept = state.sessions.reduce(0) { $0.adding(1, times: $1.cost) }
            let needed = [bytes, kept, Self.spareAddressSpace].reduce(base) { $0.adding(1, times: $1) }
            // A sanitizer reserves terabytes: its worker has no limit.
            let isLimited = base > 0 && base < 1 << 40
            let fits = state.addressSpace >= needed && state.addressSpace - needed < Self.spareAddressSpace / 4
            if isLimited, !fits { state.addressSpace = needed }
            let isDue = state.timeWatch.map { $0.elapsed > Self.timeInterval } ?? true
            if isDue { state.timeWatch = Stopwatch() }
            return (isLimited && !fits ? needed : nil, isDue)
        }
        // The time limit of a request is kept by this process; that of the system is for a worker whose program has ended.
        let seconds = isDue ? max(0, halcyon_process_time(id)) / 1_000_000_000 + 60 + 2 * limit.components.seconds : 0
        if space != nil || isDue { _ = halcyon_process_limit(id, UInt64(space ?? 0), UInt64(seconds)) }
    }

    /// Waits for a message. Returns whether the request was cancelled meanwhile.
    private func waitForAnswer(to number: Int, within limit: Duration, context: WorkContext) throws -> Bool {
        let watch = Stopwatch()
        while halcyon_channel_wait(channel, Self.pause) == 0 {
            if context.isCancelled {
                arena.cancelled = number
                if halcyon_channel_wait(channel, Self.grace) == 1 { return true }
                _ = Self.end(state)
                throw CancellationError()
            }
            if watch.elapsed > limit {
                _ = Self.end(state)
                throw Ended(stop: .timeLimit(limit))
            }
        }
        return false
    }

    private static func message(on channel: Int32) throws -> [UInt8] {
        var files = [Int32](repeating: -1, count: Int(HALCYON_CHANNEL_FILES))
        var count: Int32 = 0
        var found = 0
        let bytes = [UInt8](unsafeUninitializedCapacity: longestMessage) { buffer, length in
            found = halcyon_channel_receive(channel, buffer.baseAddress, buffer.count, &files, &count)
            length = max(0, found)
        }
        let error = errno
        for file in files.prefix(Int(count)) { close(file) }
        guard count == 0 else { throw WireError.invalid("a descriptor") }
        // The channel of a process that ends with a message unread is reset.
        if found == 0 || (found < 0 && error == ECONNRESET) { throw Ended(stop: .exited(0)) }
        guard found > 0 else { throw WireError.invalid(String(cString: strerror(error))) }
        return bytes
    }

    // MARK: - Animations

    /// Notes that a request keeps an animation in the worker from now on.
    ///
    /// - Returns: the animations that the worker must give up for it.
    private func keep(_ session: WorkerSession) -> [Int] {
        state.withLock { state in
            state.sessions.removeAll { $0.number == session.number }
            state.sessions.append(session)
            while state.sessions.count > Self.mostSessions {
                state.endedSessions.append(state.sessions.removeFirst().number)
            }
            defer { state.endedSessions = [] }
            return state.endedSessions
        }
    }

    /// Notes that an animation is not needed any more; the worker hears of it with the next frame that it makes.
    func end(_ session: Int) {
        state.withLock { state in
            guard state.sessions.contains(where: { $0.number == session }) else { return }
            state.sessions.removeAll { $0.number == session }
            state.endedSessions.append(session)
        }
    }

    // MARK: - The end

    /// Ends the process and returns the reason; nil if it had ended before, or if the program has waited for all of its children.
    ///
    /// A process whose end has begun keeps its own reason. One that has only closed its channel does not go on.
    private static func end(_ state: Lock<State>) -> DecodeStop? {
        let id = state.withLock { state in
            defer { state.id = nil }
            return state.id
        }
        guard let id else { return nil }
        kill(id, SIGKILL)
        var status: Int32 = 0
        var found = waitpid(id, &status, 0)
        while found < 0, errno == EINTR { found = waitpid(id, &status, 0) }
        guard found == id else { return nil }
        switch status & 0x7F {
        case 0: return .exited((status >> 8) & 0xFF)
        case SIGSYS: return .forbiddenCall
        case SIGXCPU: return .processorTime
        case let signal: return .signal(signal)
        }
    }
}

/// A question to a worker, whichever it is.
struct WorkerQuestion {
    let work: WorkerRequest.Work
    let file: IsolatedFile
    let options: DecodeOptions
    /// The number of the request.
    let number: Int
    /// The memory that the work may take, in bytes.
    var bytes = 0
    /// The number of the request that has planned a decode; 0 for none.
    var plan = 0
    /// The animation of a frame.
    var session: WorkerSession?
    var frame = 0

    init(_ work: WorkerRequest.Work, _ file: IsolatedFile, _ options: DecodeOptions) {
        (self.work, self.file, self.options) = (work, file, options)
        number = file.workers.nextNumber()
    }

    /// Whether the worker has the file from an earlier question, with its plan or its frames.
    func isKnown(to worker: WorkerProcess) -> Bool {
        if let session { return worker.keeps(session.number) }
        return plan > 0 && worker.hasPlanned(plan)
    }
}

/// An animation that a worker keeps between two frames.
struct WorkerSession {
    let number: Int
    /// The bytes that it keeps.
    let cost: Int
}
