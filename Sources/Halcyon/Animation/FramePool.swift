import HalcyonCodecs
import HalcyonImage
import HalcyonProcessing
import HalcyonSystem

/// The memory of decoded frames: what all players of the process decode ahead and keep, together.
///
/// Players of one animation share its frames and its decoder. The limit is shared out evenly among the animations that
/// play; each may always have the frame that it shows and the one behind it. Those, and what the decoder of the animation
/// keeps, are held from a `DecodeBudget` for as long as it plays: all animations together never hold more than half of it,
/// and one for which there is no room fails, and is tried again with its next frame.
public final class FramePool: Sendable {
    /// The pool of all players that are given no other.
    public static let shared = FramePool()

    private struct State {
        var supplies: [FrameSupply.ID: Weak] = [:]
        var playing = 0
    }

    private struct Weak {
        weak var supply: FrameSupply?
    }

    private let state = Lock(State())
    private let limit: Int
    let budget: DecodeBudget
    /// Runs a decode; not on the caller's thread, unless a test does.
    let run: @Sendable (@escaping @Sendable () -> Void) -> Void

    /// - Parameter limit: bytes of decoded frames; by default 64 MiB, or a tenth of the memory that the system grants where
    ///   that is less.
    /// - Parameter budget: what playing animations hold their memory of.
    public convenience init(limit: Int? = nil, budget: DecodeBudget = .shared) {
        self.init(limit: limit ?? min(64 << 20, SystemGrant.current.memory / 10), budget: budget) {
            ExecutionDomains.cpu.submit($0)
        }
    }

    package init(
        limit: Int, budget: DecodeBudget = .shared, run: @escaping @Sendable (@escaping @Sendable () -> Void) -> Void
    ) {
        self.budget = budget
        self.limit = max(0, limit)
        self.run = run
    }

    /// Bytes of all frames that are kept now.
    public var keptBytes: Int {
        let supplies = state.withLock { $0.supplies.values.compactMap(\.supply) }
        return supplies.reduce(0) { $0 + $1.keptBytes }
    }

    /// The bytes that one of the playing animations may keep.
    var share: Int { state.withLock { limit / max(1, $0.playing) } }

    /// The supply of an animation's frames; the same one for as long as anybody has it.
    func supply(of image: Image, _ animation: AnimatedImage, transformer: (any ImageProcessor)?) -> FrameSupply {
        guard let identity = animation.identity else {
            return FrameSupply(of: image, animation, transformer: transformer, pool: self, id: nil)
        }
        let id = FrameSupply.ID(source: identity, transformer: transformer?.keyBytes)
        return state.withLock { state in
            if let supply = state.supplies[id]?.supply { return supply }
            let supply = FrameSupply(of: image, animation, transformer: transformer, pool: self, id: id)
            state.supplies[id] = Weak(supply: supply)
            return supply
        }
    }

    /// Called by a supply that nobody has any more.
    func forget(_ id: FrameSupply.ID) {
        // A new one may be in its place already; should this be its last holder, it ends outside of the lock.
        let other = state.withLock { state in
            let other = state.supplies[id]?.supply
            if other == nil { state.supplies[id] = nil }
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
