import HalcyonCodecs
import HalcyonImage
import HalcyonProcessing
import HalcyonSystem

/// The frames of one animation for all that play it: decoded ahead, one at a time, and dropped once nobody wants them.
final class FrameSupply: Sendable {
    /// Which frames these are; the supply keeps their source, so that no other can take its address.
    struct ID: Hashable {
        var source: ObjectIdentifier
        /// Its type and parameters.
        var transformer: [UInt8]?
    }

    /// What came of a frame so far.
    enum Frame {
        case ready(Bitmap)
        case failed(any Error)
        case missing
    }

    /// Where one that plays stands, for those that come after it.
    struct Lead {
        var playback: Playback
        var rate: Double
        var time: Duration
    }

    private struct State {
        var frames: [Int: Bitmap] = [:]
        var failures: [Int: any Error] = [:]
        /// The frames that players want, in their order, and how many want just these.
        var readings: [[Int]: Int] = [:]
        /// The players that look for a frame that was not there.
        var waiting: [ObjectIdentifier: @Sendable () -> Void] = [:]
        var lead: Lead?
        /// For as long as anybody plays.
        var session: Session?
        /// Whether there was no memory for a session. Those who want further frames try again.
        var lacksMemory = false
        /// That of the decode under way.
        var ticket: WorkTicket?

        /// What all want, the most urgent first: each one's first frame, then each one's second.
        var wanted: [Int] {
            if readings.count == 1, let only = readings.first { return only.key }
            var wanted: [Int] = []
            for rank in 0..<(readings.keys.map(\.count).max() ?? 0) {
                for reading in readings.keys where rank < reading.count && !wanted.contains(reading[rank]) {
                    wanted.append(reading[rank])
                }
            }
            return wanted
        }
    }

    /// The frames as they are decoded in turn, and the memory that this takes.
    private final class Session: Sendable {
        let frames: AnimatedImage
        private let memory: DecodeBudget.Hold?

        init(_ frames: AnimatedImage, memory: DecodeBudget.Hold?) {
            self.frames = frames
            self.memory = memory
        }
    }

    /// Bytes of one frame. A transformer's may be of another size, which is known too late to plan with.
    let frameBytes: Int
    private let image: Image
    private let animation: AnimatedImage
    private let transformer: (any ImageProcessor)?
    private let pool: FramePool
    private let id: ID?
    private let state = Lock(State())

    init(
        of image: Image, _ animation: AnimatedImage, transformer: (any ImageProcessor)?, pool: FramePool, id: ID?
    ) {
        self.image = image
        self.animation = animation
        self.transformer = transformer
        self.pool = pool
        self.id = id
        frameBytes = max(1, (animation.size.area ?? .max / 4) * 4)
    }

    deinit {
        if let id { pool.forget(id) }
    }

    var keptBytes: Int { state.withLock { $0.frames.values.reduce(0) { $0 + $1.byteCount } } }

    var lead: Lead? {
        get { state.withLock { $0.lead } }
        set { state.withLock { $0.lead = newValue } }
    }

    /// The frames that may be decoded ahead of the one that is due: at least one, and no more than a few megabytes, since
    /// frames are decoded faster than they play.
    func ahead(atMost count: Int) -> Int {
        max(1, min(count, min(Self.mostAhead, pool.share) / frameBytes))
    }

    private static let mostAhead = 6 << 20

    /// - Parameter waiter: who is told, by `notify`, once any frame has come where this one is missing.
    func frame(_ index: Int, for waiter: ObjectIdentifier, notify: (@Sendable () -> Void)?) -> Frame {
        state.withLock { state in
            let frame = frame(index, in: state)
            if case .missing = frame {
                state.waiting[waiter] = notify
            } else {
                state.waiting[waiter] = nil
            }
            return frame
        }
    }

    /// A frame that is there already.
    func kept(_ index: Int) -> Bitmap? { state.withLock { $0.frames[index] } }

    /// Replaces what a player wants; nothing where it wants nothing (any more).
    func want(_ new: [Int], insteadOf old: [Int]) {
        guard new != old else { return }
        let playing = replace(old, by: new)
        if playing != 0 { pool.changePlaying(by: playing) }
        decodeNext()
    }

    /// What is dropped is gone when this returns, and its memory is there for the frame that is decoded next.
    ///
    /// - Returns: 1 where it has begun to play, -1 where it has ended, 0 otherwise.
    private func replace(_ old: [Int], by new: [Int]) -> Int {
        let (playing, dropped, session) = state.withLock { state -> (Int, [Bitmap], Session?) in
            let wasIdle = state.readings.isEmpty
            if !new.isEmpty { state.readings[new, default: 0] += 1 }
            if !old.isEmpty, let count = state.readings[old] { state.readings[old] = count > 1 ? count - 1 : nil }
            let isIdle = state.readings.isEmpty
            let ended = isIdle ? state.session : nil
            if state.lacksMemory { (state.lacksMemory, state.failures) = (false, [:]) }
            if isIdle {
                state.session = nil
                state.lead = nil
                state.ticket?.cancel()
            }
            return ((wasIdle ? 1 : 0) - (isIdle ? 1 : 0), trim(&state), ended)
        }
        // Freed outside of the lock.
        withExtendedLifetime((dropped, session)) {}
        return playing
    }

    /// Nobody calls the waiter any more.
    func forget(_ waiter: ObjectIdentifier) {
        state.withLock { $0.waiting[waiter] = nil }
    }

    /// Drops what is not wanted, unless all frames fit into the share. They are freed outside of the lock.
    private func trim(_ state: inout State) -> [Bitmap] {
        if state.readings.isEmpty {
            defer { (state.frames, state.failures) = ([:], [:]) }
            return Array(state.frames.values)
        }
        if animation.frameCount <= pool.share / frameBytes { return [] }
        let wanted = Set(state.wanted)
        let unwanted = state.frames.keys.filter { !wanted.contains($0) }
        return unwanted.compactMap { state.frames.removeValue(forKey: $0) }
    }

    /// Decodes the most urgent missing frame, then the next, until none is missing.
    private func decodeNext() {
        let next = state.withLock { state -> (Int, WorkTicket)? in
            guard state.ticket == nil, let index = nextMissing(state) else { return nil }
            let ticket = WorkTicket()
            state.ticket = ticket
            return (index, ticket)
        }
        guard let (index, ticket) = next else { return }
        pool.run { [weak self] in
            self?.decode(index, ticket: ticket)
        }
    }

    private func nextMissing(_ state: State) -> Int? {
        // Players that are apart have many frames between them: then the later ones wait until there is room.
        let room = max(pool.share / frameBytes, 2 * state.readings.count)
        return state.wanted.prefix(room).first { state.frames[$0] == nil && state.failures[$0] == nil }
    }

    private func decode(_ index: Int, ticket: WorkTicket) {
        for notify in decodeAndKeep(index, ticket: ticket) { notify() }
        decodeNext()
    }

    /// When this returns the frame is kept for those who want it, and by nobody else.
    ///
    /// - Returns: how to tell those who wait for it.
    private func decodeAndKeep(_ index: Int, ticket: WorkTicket) -> [@Sendable () -> Void] {
        let result = Result { try made(index, of: try session().frames, context: ticket.context) }
        return state.withLock { state in
            state.ticket = nil
            // Whoever wanted it has gone; if somebody has come since, it is decoded anew.
            guard !ticket.isCancelled else { return [] }
            keep(result, at: index, in: &state)
            defer { state.waiting = [:] }
            return Array(state.waiting.values)
        }
    }

    /// A frame that others have, or that is decoded on the caller's thread and not kept.
    func decodedNow(_ index: Int) -> Frame {
        if let kept = kept(index) { return .ready(kept) }
        do {
            return .ready(try made(index, of: animation, context: .uncancellable))
        } catch {
            return .failed(error)
        }
    }

    private func frame(_ index: Int, in state: State) -> Frame {
        state.frames[index].map { .ready($0) } ?? state.failures[index].map { .failed($0) } ?? .missing
    }

    private func keep(_ result: Result<Bitmap, any Error>, at index: Int, in state: inout State) {
        guard !state.readings.isEmpty else { return }
        switch result {
        case .success(let bitmap): state.frames[index] = bitmap
        case .failure(let error): state.failures[index] = error
        }
    }

    /// The session, begun where there is none.
    ///
    /// Memory is never waited for here: who plays for ever would be waited for for ever.
    ///
    /// - Throws: `CodecError.limitExceeded` where half of the budget does not have room for it beside the others.
    private func session() throws -> Session {
        if let session = state.withLock({ $0.session }) { return session }
        let session = Session(animation.makeReader(), memory: try memory())
        state.withLock { state in
            if !state.readings.isEmpty { state.session = session }
        }
        // A decode that began to wait before this session was kept found nothing to take back.
        if pool.budget.isWaitedFor { giveBack() }
        return session
    }

    /// Nil where the frames are there already.
    private func memory() throws -> DecodeBudget.Hold? {
        if animation.isPreloaded { return nil }
        // Two frames are kept beside those that the pool has room for.
        let bytes = animation.workingBytes.adding(2, times: animation.frameBytes)
        if let memory = pool.budget.hold(bytes, giveBack: { [weak self] in self?.giveBack() }) { return memory }
        state.withLock { $0.lacksMemory = true }
        throw CodecError.limitExceeded(
            "bytes of memory to play the animation", value: bytes, limit: pool.budget.holdable)
    }

    /// Lets go of the memory that a decode waits for. What plays begins anew once there is some.
    private func giveBack() {
        let dropped = state.withLock { state in
            defer { (state.session, state.frames) = (nil, [:]) }
            return (state.session, state.frames)
        }
        withExtendedLifetime(dropped) {}
    }

    private func made(_ index: Int, of animation: AnimatedImage, context: WorkContext) throws -> Bitmap {
        let frame = try animation.frame(at: index, context: context)
        guard let transformer else { return frame }
        return try transformer.process(image.replacing(frame), context: context).bitmap
    }
}
