import HalcyonSystem

/// The budget of memory that all decodes share, those of an animation's frames included.
///
/// A frame that is requested on its own reserves its memory until it is decoded; encoding an animation, and playing it,
/// reserve the memory once for all frames. The canvas that an `AnimatedImage` keeps from one frame to the next does not
/// count: it is part of its `cost`, as the pixels of an image are.
///
/// Before it begins, a decode reserves the bytes that its plan states, and waits while others hold too many: the budget
/// is never exceeded, whatever is requested at once. Waiters are served by priority, and those of equal priority in the
/// order of arrival.
public final class DecodeBudget: Sendable {
    /// The budget of the process: a quarter of the memory that the system grants it, where a container's limit is taken
    /// into account.
    public static let shared = DecodeBudget(capacity: SystemGrant.current.memory / 4)

    package let bytes: ByteBudget
    /// The callback for when a decode waits for bytes that are held.
    private let giveBack: (@Sendable () -> Void)?

    /// Creates a budget that is separate from `shared`.
    ///
    /// - Parameter capacity: the number of bytes; less than 1 counts as 1.
    public convenience init(capacity: Int) { self.init(ByteBudget(capacity: max(1, capacity)), giveBack: nil) }

    private init(_ bytes: ByteBudget, giveBack: (@Sendable () -> Void)?) {
        self.bytes = bytes
        self.giveBack = giveBack
    }

    /// Returns the same budget for work that may hold bytes for as long as a server takes.
    ///
    /// - Parameter giveBack: called, on any thread, when a decode waits: whatever holds bytes of this budget must
    ///   release them.
    package func lent(giveBack: @escaping @Sendable () -> Void) -> DecodeBudget {
        DecodeBudget(bytes, giveBack: giveBack)
    }

    /// The total number of bytes.
    public var capacity: Int { bytes.capacity }

    /// The number of bytes that are not reserved.
    public var available: Int { bytes.available }

    /// Reserves bytes while `body` runs, which must not decode anything that makes a reservation of its own. The
    /// calling thread waits for the bytes; after a cancellation, it stops waiting within 20 ms.
    ///
    /// - Throws: `CodecError.limitExceeded` for more than the capacity; `CancellationError`; the errors of `body`.
    public func withReservation<Result>(
        of count: Int, context: WorkContext = .uncancellable, _ body: () throws -> Result
    ) throws -> Result {
        try check(count)
        try bytes.waitForReservation(of: count, context: context)
        defer { bytes.release(count) }
        return try body()
    }

    package typealias Hold = ByteBudget.Hold

    /// Returns a hold on bytes that lasts until the object is deallocated, or nil if the bytes are not available now or
    /// a decode waits for bytes.
    ///
    /// Half of the budget stays free for decodes, which end by themselves: a hold lasts as long as a download, or for
    /// as long as an animation plays.
    ///
    /// - Parameter giveBack: called, on any thread, when a decode waits, because a hold without end would block that
    ///   decode for ever. The callback of `lent(giveBack:)` by default.
    package func hold(_ count: Int, giveBack: (@Sendable () -> Void)? = nil) -> Hold? {
        bytes.holdNow(count, leaving: capacity / 2, giveBack: giveBack ?? self.giveBack)
    }

    /// Whether a decode waits for bytes.
    package var isWaitedFor: Bool { bytes.waitingCount > 0 }

    /// The number of bytes that `hold` may still take.
    package var holdable: Int { max(0, available - capacity / 2) }

    /// Checks that a reservation can ever be granted.
    ///
    /// - Throws: `CodecError.limitExceeded` for more than the capacity.
    package func check(_ count: Int) throws {
        guard count <= capacity else {
            throw CodecError.limitExceeded("bytes of memory for the decode", value: count, limit: capacity)
        }
    }
}
