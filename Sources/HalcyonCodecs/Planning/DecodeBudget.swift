import HalcyonSystem

/// The memory that all decodes together may take, those of an animation's frames among them.
///
/// A frame that is asked for alone reserves what it takes until it is there; encoding an animation, and playing it, reserve
/// it once for all frames. The canvas that an `AnimatedImage` keeps from one frame to the next is not among it: it is part
/// of its `cost`, as the pixels of an image are.
///
/// A decode reserves what its plan says before it begins, and waits where others hold too much: it is never overdrawn,
/// whatever is asked for at once. Who waits longest is served first, within a priority.
public final class DecodeBudget: Sendable {
    /// The one of the process: a quarter of the memory that the system grants it, a container's limit included.
    public static let shared = DecodeBudget(capacity: SystemGrant.current.memory / 4)

    package let bytes: ByteBudget
    /// Called when a decode waits for what is held.
    private let giveBack: (@Sendable () -> Void)?

    /// - Parameter capacity: bytes, at least 1.
    public convenience init(capacity: Int) { self.init(ByteBudget(capacity: max(1, capacity)), giveBack: nil) }

    private init(_ bytes: ByteBudget, giveBack: (@Sendable () -> Void)?) {
        self.bytes = bytes
        self.giveBack = giveBack
    }

    /// The same budget for work that may hold bytes for as long as a server likes.
    ///
    /// - Parameter giveBack: called, on any thread, when a decode waits: whatever holds bytes of this budget lets go of them.
    package func lent(giveBack: @escaping @Sendable () -> Void) -> DecodeBudget {
        DecodeBudget(bytes, giveBack: giveBack)
    }

    /// Bytes in all.
    public var capacity: Int { bytes.capacity }

    /// Bytes that nobody holds.
    public var available: Int { bytes.available }

    /// Reserves bytes for as long as `body` runs, which must not decode anything that reserves for itself. This thread waits for them, at most 20 ms beyond a cancellation.
    ///
    /// - Throws: `CodecError.limitExceeded` for more than the capacity; `CancellationError`; what `body` throws.
    public func withReservation<Result>(
        of count: Int, context: WorkContext = .uncancellable, _ body: () throws -> Result
    ) throws -> Result {
        try check(count)
        try bytes.waitForReservation(of: count, context: context)
        defer { bytes.release(count) }
        return try body()
    }

    package typealias Hold = ByteBudget.Hold

    /// Bytes that are held until the object goes; nil where they are not there now, or others wait for them.
    ///
    /// Half of the budget is left to decodes that end by themselves: what is held lasts as long as a download, or for as
    /// long as an animation plays.
    ///
    /// - Parameter giveBack: called, on any thread, when a decode waits, which what is held for ever would stop for ever.
    package func hold(_ count: Int, giveBack: (@Sendable () -> Void)? = nil) -> Hold? {
        bytes.holdNow(count, leaving: capacity / 2, giveBack: giveBack ?? self.giveBack)
    }

    /// Whether a decode waits for bytes.
    package var isWaitedFor: Bool { bytes.waitingCount > 0 }

    /// The bytes that `hold` may still take.
    package var holdable: Int { max(0, available - capacity / 2) }

    /// - Throws: `CodecError.limitExceeded` for more than the capacity.
    package func check(_ count: Int) throws {
        guard count <= capacity else {
            throw CodecError.limitExceeded("bytes of memory for the decode", value: count, limit: capacity)
        }
    }
}
