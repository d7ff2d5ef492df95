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
public final class FramePool: Sendable {
    /// The pool of all players that are not given another.
    public static let shared = FramePool()

    private struct State {
        var buffers: [FrameBuffer.ID: Weak] = [:]
        var playing = 0
    }

    private struct Weak {
        weak var buffer: FrameBuffer?
    }

    private let state = Lock(State())
    private let limit: Int
    let budget: DecodeBudget
    /// Runs a decode; not on the caller's thread, except in tests.
    let run: @Sendable (@escaping @Sendable () -> Void) -> Void

    /// Creates a pool.
    ///
    /// - Parameters:
    ///   - limit: the bytes of decoded frames; by default 64 MiB, or a tenth of the memory that the system grants if that is
    ///     less.
    ///   - budget: the budget from which playing animations hold their memory.
    public convenience init(limit: Int? = nil, budget: DecodeBudget = .shared) {
        self.init(limit: limit ?? min(64 << 20, SystemGrant.current.memory / 10), budget: budget) {
            ThreadPools.cpu.submit($0)
        }
    }

    package init(
        limit: Int, budget: DecodeBudget = .shared, run: @escaping @Sendable (@escaping @Sendable () -> Void) -> Void
    ) {
        self.budget = budget
        self.limit = max(0, limit)
        self.run = run
    }

    /// The number of bytes of all kept frames.
    public var keptBytes: Int {
        let buffers = state.withLock { $0.buffers.values.compactMap(\.buffer) }
        return buffers.reduce(0) { $0 + $1.keptBytes }
    }

    /// The number of bytes that each playing animation may keep.
    var share: Int { state.withLock { limit / max(1, $0.playing) } }

    /// Returns the buffer of an animation's frames; the same one as long as it has any owner.
    func buffer(of image: Image, _ animation: AnimatedImage, transformer: (any ImageProcessor)?) -> FrameBuffer {
        guard let identity = animation.identity else {
            return FrameBuffer(of: image, animation, transformer: transformer, pool: self, id: nil)
        }
        let id = FrameBuffer.ID(source: identity, transformer: transformer?.keyBytes)
        return state.withLock { state in
            if let buffer = state.buffers[id]?.buffer { return buffer }
            let buffer = FrameBuffer(of: image, animation, transformer: transformer, pool: self, id: id)
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

    func changePlaying(by count: Int) {
        state.withLock { $0.playing += count }
    }
}

extension ImageProcessor {
    fileprivate var keyBytes: [UInt8] {
        var key = KeyEncoder()
        encode(into: &key)
        return key.bytes
    }
}
