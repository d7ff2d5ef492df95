import HalcyonCodecs
import HalcyonImage
import HalcyonProcessing
import HalcyonSystem

/// A pool of memory for the frames that all players of the process decode ahead and keep.
///
/// Players of one animation share its frames and its decoder. The limit is divided evenly among the playing animations; each
/// may always have the frame that it shows and the next one. Those two, and the memory of the animation's decoder, are held
/// from a `DecodeBudget` while the animation plays. All animations together never hold more than half of that budget; frames of
/// an animation for which there is no room fail, and the next frame tries again.
///
/// Under memory pressure the limit is halved, and from `MemoryPressure.high` on, the pool keeps nothing but the frame that
/// each player shows and the next one. This ends 20 s after the last report.
public final class FramePool: Sendable {
    /// The pool of all players that are not given another.
    public static let shared = FramePool()

    private struct State {
        var buffers: [FrameBuffer.ID: Weak] = [:]
        var playing = 0
        /// The number that the limit is divided by under memory pressure, nil for a limit of 0, and the end of that.
        var relief: (divisor: Int?, until: Duration)?
        /// Whether an animation has played, so that pressure is watched.
        var hasPlayed = false
        var subscription: MemoryPressureSubscription?
    }

    private struct Weak {
        weak var buffer: FrameBuffer?
    }

    private let state = Lock(State())
    private let limit: Int
    private let memoryPressure: (any MemoryPressureSource)?
    private let time: TimeSource
    let budget: DecodeBudget
    /// Runs a decode; not on the caller's thread, except in tests.
    let run: @Sendable (@escaping @Sendable () -> Void) -> Void

    /// Creates a pool.
    ///
    /// - Parameters:
    ///   - limit: the bytes of decoded frames; by default 64 MiB, or a tenth of the memory that the system grants if that is
    ///     less.
    ///   - budget: the budget from which playing animations hold their memory.
    ///   - memoryPressure: the source of memory pressure, to which the pool subscribes when the first animation plays; nil for
    ///     none.
    ///   - threads: the threads that decode the frames of its animations. Those of a pipeline are not taken by themselves: an
    ///     animation outlives its load, and its player may have any pool.
    public convenience init(
        limit: Int? = nil, budget: DecodeBudget = .shared,
        memoryPressure: (any MemoryPressureSource)? = SystemMemoryPressure.shared,
        threads: ProcessingThreads = .shared
    ) {
        let limit = limit ?? min(64 << 20, SystemGrant.current.memory / 10)
        self.init(limit: limit, budget: budget, memoryPressure: memoryPressure) { threads.pool.submit($0) }
    }

    package init(
        limit: Int, budget: DecodeBudget = .shared, memoryPressure: (any MemoryPressureSource)? = nil,
        time: TimeSource = .system, run: @escaping @Sendable (@escaping @Sendable () -> Void) -> Void
    ) {
        self.budget = budget
        self.limit = max(0, limit)
        self.memoryPressure = memoryPressure
        self.time = time
        self.run = run
    }

    /// The number of bytes of all kept frames.
    public var keptBytes: Int {
        let buffers = state.withLock { $0.buffers.values.compactMap(\.buffer) }
        return buffers.reduce(0) { $0 + $1.keptBytes }
    }

    /// The number of bytes that each playing animation may keep.
    var share: Int {
        state.withLock { state in
            let share = limit / max(1, state.playing)
            guard let relief = state.relief, time.steady < relief.until else { return share }
            return relief.divisor.map { share / $0 } ?? 0
        }
    }

    /// Releases frames, and keeps fewer of them for 20 s.
    package func relieve(_ pressure: MemoryPressure) {
        // As long as pressure lasts, it is reported every 10 s.
        let until = time.steady + .seconds(20)
        let buffers = state.withLock { state in
            state.relief = (pressure == .warning ? 2 : nil, until)
            return state.buffers.values.compactMap(\.buffer)
        }
        for buffer in buffers { buffer.shrink() }
    }

    /// Returns the buffer of an animation's frames; the same one as long as it has any owner.
    func buffer(of image: Image, _ animation: AnimatedImage, transformer: (any ImageProcessor)?) -> FrameBuffer {
        let identity = FrameBuffer.Identity()
        let id = FrameBuffer.ID(
            source: animation.identity ?? ObjectIdentifier(identity), transformer: transformer?.keyBytes)
        return state.withLock { state in
            if let buffer = state.buffers[id]?.buffer { return buffer }
            let buffer = FrameBuffer(
                of: image, animation, transformer: transformer, pool: self, id: id, identity: identity)
            state.buffers[id] = Weak(buffer: buffer)
            return buffer
        }
    }

    /// Removes a buffer that has no owner any more.
    func forget(_ id: FrameBuffer.ID) {
        // A new buffer may have replaced it already. If this is the last reference to that one, it is released outside the
        // lock.
        let other = state.withLock { state in
            let other = state.buffers[id]?.buffer
            if other == nil { state.buffers[id] = nil }
            return other
        }
        withExtendedLifetime(other) {}
    }

    /// Notes that animations have begun to play, or have ended if `count` is negative.
    func changePlaying(by count: Int) {
        let isFirst = state.withLock { state in
            state.playing += count
            defer { if count > 0 { state.hasPlayed = true } }
            return count > 0 && !state.hasPlayed
        }
        // A program that plays nothing has no thread that watches.
        guard isFirst, let memoryPressure else { return }
        let subscription = memoryPressure.subscribe { [weak self] in self?.relieve($0) }
        state.withLock { $0.subscription = subscription }
    }
}

extension ImageProcessor {
    fileprivate var keyBytes: [UInt8] {
        var key = KeyEncoder()
        encode(into: &key)
        return key.bytes
    }
}
