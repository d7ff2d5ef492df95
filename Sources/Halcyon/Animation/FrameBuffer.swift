import HalcyonCodecs
import HalcyonImage
import HalcyonProcessing
import HalcyonSystem

/// The frames of one animation for all of its players: decoded ahead, one at a time, and dropped once no player wants them.
final class FrameBuffer: Sendable {
    /// The identity of the frames. The buffer retains their source, so that no other object can take its address.
    struct ID: Hashable {
        /// The source, or an `Identity` for one that is not an object.
        var source: ObjectIdentifier
        /// The transformer's type and parameters.
        var transformer: [UInt8]?
    }

    /// The identity of a buffer whose frames no other one can have.
    final class Identity: Sendable {}

    /// The state of a frame.
    enum Frame {
        case ready(Bitmap)
        case failed(any Error)
        case missing
    }

    /// The position of a player, for those that start after it.
    struct Lead {
        var playback: Playback
        var rate: Double
        var time: Duration
    }

    private struct State {
        var frames: [Int: Bitmap] = [:]
        var failures: [Int: any Error] = [:]
        /// The lists of frames that players want, in their order, each with the number of players that want this list.
        var requests: [[Int]: Int] = [:]
        /// The callbacks of players that wait for a missing frame.
        var waiting: [ObjectIdentifier: @Sendable () -> Void] = [:]
        var lead: Lead?
        /// The decoding session, kept while any player wants frames.
        var session: Session?
        /// Whether there was no memory for a session. Players that want further frames try again.
        var lacksMemory = false
        /// The ticket of the decode in progress.
        var ticket: WorkTicket?

        /// All wanted frames, the most urgent first: the first frame of each player, then the second of each.
        var wanted: [Int] {
            if requests.count == 1, let only = requests.first { return only.key }
            var wanted: [Int] = []
            for rank in 0..<(requests.keys.map(\.count).max() ?? 0) {
                for requested in requests.keys where rank < requested.count && !wanted.contains(requested[rank]) {
                    wanted.append(requested[rank])
                }
            }
            return wanted
        }
    }

    /// The frames as they are decoded in sequence, and the memory that this takes.
    private final class Session: Sendable {
        let frames: AnimatedImage
        private let memory: DecodeBudget.Hold?

        init(_ frames: AnimatedImage, memory: DecodeBudget.Hold?) {
            self.frames = frames
            self.memory = memory
        }
    }

    /// The bytes of one frame. A transformer may change the size, which is known too late to plan with.
    let frameBytes: Int
    private let image: Image
    private let animation: AnimatedImage
    private let transformer: (any ImageProcessor)?
    private let pool: FramePool
    private let id: ID
    private let identity: Identity
    private let state = Lock(State())

    init(
        of image: Image, _ animation: AnimatedImage, transformer: (any ImageProcessor)?, pool: FramePool, id: ID,
        identity: Identity
    ) {
        self.image = image
        self.animation = animation
        self.transformer = transformer
        self.pool = pool
        self.id = id
        self.identity = identity
        frameBytes = max(1, (animation.size.area ?? .max / 4) * 4)
    }

    deinit {
        pool.forget(id)
    }

    var keptBytes: Int { state.withLock { $0.frames.values.reduce(0) { $0 + $1.byteCount } } }

    var lead: Lead? {
        get { state.withLock { $0.lead } }
        set { state.withLock { $0.lead = newValue } }
    }

    /// Returns the number of frames that may be decoded ahead of the due one: at least one, and no more than a few megabytes,
    /// since frames are decoded faster than they play.
    func ahead(atMost count: Int, bytes: Int) -> Int {
        max(1, min(count, min(bytes, pool.share) / frameBytes))
    }

    /// Returns the state of a frame.
    ///
    /// - Parameter waiter: the player to call by `notify` once any frame has been decoded, if this one is missing.
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

    /// Returns a frame if it is already decoded.
    func decoded(_ index: Int) -> Bitmap? { state.withLock { $0.frames[index] } }

    /// Replaces the list of frames that a player wants; an empty list means none (any more).
    func request(_ new: [Int], insteadOf old: [Int]) {
        guard new != old else {
            // Frames that were released for others' memory are decoded again.
            if !new.isEmpty { decodeNext() }
            return
        }
        let playing = replace(old, by: new)
        if playing != 0 { pool.changePlaying(by: playing) }
        decodeNext()
    }

    /// Replaces a player's list. Dropped frames are released when this returns, and their memory is available for the next
    /// decode.
    ///
    /// - Returns: 1 if the animation has begun to play, -1 if it has ended, 0 otherwise.
    private func replace(_ old: [Int], by new: [Int]) -> Int {
        let (playing, dropped, session) = state.withLock { state -> (Int, [Bitmap], Session?) in
            let wasIdle = state.requests.isEmpty
            if !new.isEmpty { state.requests[new, default: 0] += 1 }
            if !old.isEmpty, let count = state.requests[old] { state.requests[old] = count > 1 ? count - 1 : nil }
            let isIdle = state.requests.isEmpty
            let ended = isIdle ? state.session : nil
            if state.lacksMemory { (state.lacksMemory, state.failures) = (false, [:]) }
            if isIdle {
                state.session = nil
                state.lead = nil
                state.ticket?.cancel()
            }
            return ((wasIdle ? 1 : 0) - (isIdle ? 1 : 0), trim(&state), ended)
        }
        // Released outside the lock.
        withExtendedLifetime((dropped, session)) {}
        return playing
    }

    /// Removes the callback of a player.
    func forget(_ waiter: ObjectIdentifier) {
        state.withLock { $0.waiting[waiter] = nil }
    }

    /// Removes the frames that are not wanted, unless all frames fit into the share. Returns them to be released outside the
    /// lock.
    private func trim(_ state: inout State) -> [Bitmap] {
        if state.requests.isEmpty {
            defer { (state.frames, state.failures) = ([:], [:]) }
            return Array(state.frames.values)
        }
        if animation.frameCount <= pool.share / frameBytes { return [] }
        let wanted = Set(state.wanted)
        let unwanted = state.frames.keys.filter { !wanted.contains($0) }
        return unwanted.compactMap { state.frames.removeValue(forKey: $0) }
    }

    /// Releases the frames that do not fit into the share, except for the first one of each player, which it shows or is about
    /// to.
    func shrink() {
        let dropped = state.withLock { state -> [Bitmap] in
            let kept = Set(state.requests.keys.compactMap(\.first) + state.wanted.prefix(pool.share / frameBytes))
            return state.frames.keys.filter { !kept.contains($0) }.compactMap { state.frames.removeValue(forKey: $0) }
        }
        // Released outside the lock.
        withExtendedLifetime(dropped) {}
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
        // Players at different positions want many frames between them: the later ones then wait until there is room.
        let room = max(pool.share / frameBytes, 2 * state.requests.count)
        return state.wanted.prefix(room).first { state.frames[$0] == nil && state.failures[$0] == nil }
    }

    private func decode(_ index: Int, ticket: WorkTicket) {
        for notify in decodeAndKeep(index, ticket: ticket) { notify() }
        decodeNext()
    }

    /// Decodes a frame and keeps it if it is still wanted. When this returns, only the buffer retains the frame.
    ///
    /// - Returns: the callbacks of the waiting players.
    private func decodeAndKeep(_ index: Int, ticket: WorkTicket) -> [@Sendable () -> Void] {
        let result = Result { try makeFrame(index, of: try session().frames, context: ticket.context) }
        return state.withLock { state in
            state.ticket = nil
            // The players that wanted it have stopped; it is decoded again for any that have started since.
            guard !ticket.isCancelled else { return [] }
            keep(result, at: index, in: &state)
            defer { state.waiting = [:] }
            return Array(state.waiting.values)
        }
    }

    /// Returns a frame that other players have, or decodes it on the caller's thread without keeping it.
    func decodedNow(_ index: Int) -> Frame {
        if let kept = decoded(index) { return .ready(kept) }
        do {
            return .ready(try makeFrame(index, of: animation, context: .uncancellable))
        } catch {
            return .failed(error)
        }
    }

    private func frame(_ index: Int, in state: State) -> Frame {
        state.frames[index].map { .ready($0) } ?? state.failures[index].map { .failed($0) } ?? .missing
    }

    private func keep(_ result: Result<Bitmap, any Error>, at index: Int, in state: inout State) {
        guard !state.requests.isEmpty else { return }
        switch result {
        case .success(let bitmap): state.frames[index] = bitmap
        case .failure(let error): state.failures[index] = error
        }
    }

    /// Returns the session, and begins one if there is none.
    ///
    /// It never waits for memory: an animation that plays for ever would make it wait for ever.
    ///
    /// - Throws: `CodecError.limitExceeded` if half of the budget has no room for it beside the other animations.
    private func session() throws -> Session {
        if let session = state.withLock({ $0.session }) { return session }
        let session = Session(animation.makeReader(), memory: try memory())
        state.withLock { state in
            if !state.requests.isEmpty { state.session = session }
        }
        // A decode that began to wait before this session was stored found nothing to release.
        if pool.budget.isWaitedFor { giveBack() }
        return session
    }

    /// Returns the memory for the session; nil if all frames are preloaded.
    private func memory() throws -> DecodeBudget.Hold? {
        if animation.isPreloaded { return nil }
        // Two frames are kept in addition to those that the pool has room for.
        let bytes = animation.workingBytes.adding(2, times: animation.frameBytes)
        if let memory = pool.budget.hold(bytes, giveBack: { [weak self] in self?.giveBack() }) { return memory }
        state.withLock { $0.lacksMemory = true }
        throw CodecError.limitExceeded(
            "bytes of memory to play the animation", value: bytes, limit: pool.budget.holdable)
    }

    /// Releases the memory that a decode waits for. Playing animations begin a new session once there is memory again.
    private func giveBack() {
        let dropped = state.withLock { state in
            defer { (state.session, state.frames) = (nil, [:]) }
            return (state.session, state.frames)
        }
        withExtendedLifetime(dropped) {}
    }

    private func makeFrame(_ index: Int, of animation: AnimatedImage, context: WorkContext) throws -> Bitmap {
        let frame = try animation.frame(at: index, context: context)
        guard let transformer else { return frame }
        return try transformer.process(image.replacing(frame), context: context).bitmap
    }
}
