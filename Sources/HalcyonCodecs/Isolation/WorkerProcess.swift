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
    /// The time that a cancelled decode has to notice it, in milliseconds.
    private static let grace: Int32 = 20
    /// The address space beside what a decode reserves, in bytes: stacks of threads, tables of libraries, parts of the heap that
    /// are not full.
    private static let spareAddressSpace = 256 << 20

    private struct State {
        /// Nil once the process has been waited for: the number may be another's from then on.
        var id: pid_t?
        var requests = 0
        /// The animations that the worker keeps, the one that was used last at the end.
        var sessions: [WorkerSession] = []
        var endedSessions: [Int] = []
    }

    let greeting: WorkerGreeting
    let readsFonts: Bool
    private let channel: Int32
    private let control: WorkerControl
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
            control = try WorkerControl()
            state = Lock(State(id: try launch.start(channel: ends[1], control: control.memory.file)))
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

    // MARK: - Requests

    /// Sends a request with memory beside it, and waits for the answer.
    ///
    /// - Parameters:
    ///   - bytes: the memory that the work may take beside the file and its result.
    ///   - limit: the longest time that it may take.
    /// - Throws: `Ended`; `CancellationError`. After either the worker is of no more use, unless `isAlive`.
    func answer(
        to request: WorkerRequest, _ files: [SharedMemory], reserving bytes: Int, within limit: Duration,
        context: WorkContext
    ) throws -> WorkerAnswer {
        // Nothing is due from it: a message now, like the end of the channel, makes it useless.
        guard halcyon_channel_wait(channel, 0) == 0 else {
            throw Ended(stop: Self.end(state) ?? .exited(0), wasIdle: true)
        }
        try restrict(files, bytes, limit)
        guard
            halcyon_channel_send(channel, request.bytes, request.bytes.count, files.map(\.file), Int32(files.count))
                == 0
        else {
            let stop = Self.end(state) ?? .exited(0)
            throw Ended(stop: stop, wasIdle: true)
        }
        state.withLock { $0.requests += 1 }
        let isCancelled = try waitForAnswer(to: request.number, within: limit, context: context)
        let answer: WorkerAnswer
        do {
            answer = try WorkerAnswer(try Self.message(on: channel), to: request.number)
        } catch {
            throw ended(error)
        }
        if isCancelled { throw CancellationError() }
        return answer
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

    /// Gives the worker the limits of one request.
    private func restrict(_ files: [SharedMemory], _ bytes: Int, _ limit: Duration) throws {
        guard let id else { throw Ended(stop: .exited(0), wasIdle: true) }
        let kept = state.withLock { state in state.sessions.reduce(0) { $0.adding(1, times: $1.cost) } }
        let base = greeting.addressSpace
        // A sanitizer reserves terabytes: its worker has no limit.
        let isLimited = base > 0 && base < 1 << 40
        let space = files.reduce(base.adding(1, times: bytes).adding(1, times: kept)) {
            $0.adding(2, times: $1.byteCount)
        }.adding(1, times: Self.spareAddressSpace)
        let seconds = max(0, halcyon_process_time(id)) / 1_000_000_000 + 2 + limit.components.seconds
        _ = halcyon_process_limit(id, isLimited ? UInt64(space) : 0, UInt64(seconds))
    }

    /// Waits for a message. Returns whether the request was cancelled meanwhile.
    private func waitForAnswer(to number: Int, within limit: Duration, context: WorkContext) throws -> Bool {
        let watch = Stopwatch()
        while halcyon_channel_wait(channel, Self.pause) == 0 {
            if context.isCancelled {
                control.cancel(number)
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
    func keep(_ session: WorkerSession, atMost count: Int) -> [Int] {
        state.withLock { state in
            state.sessions.removeAll { $0.number == session.number }
            state.sessions.append(session)
            while state.sessions.count > count { state.endedSessions.append(state.sessions.removeFirst().number) }
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

/// An animation that a worker keeps between two frames.
struct WorkerSession {
    let number: Int
    /// The bytes that it keeps.
    let cost: Int
}

/// The page by which a program tells a worker that it does not want a result any more.
///
/// `@unchecked Sendable`: the pointer is never changed, and its only word is written atomically.
final class WorkerControl: @unchecked Sendable {
    let memory: SharedMemory
    private let word: UnsafeMutablePointer<Int>

    init() throws {
        memory = try SharedMemory(byteCount: 4096)
        guard let page = mmap(nil, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, memory.file, 0), page != MAP_FAILED else {
            throw CodecError.isolationUnavailable("no memory to share: \(String(cString: strerror(errno)))")
        }
        word = page.assumingMemoryBound(to: Int.self)
    }

    deinit {
        munmap(word, 4096)
    }

    func cancel(_ number: Int) { halcyon_control_write(word, number) }
}
