import Glibc
import HalcyonSystem

/// The mapping of a bitmap that went last, kept for the next one of its size: it is warm, and the system has neither to
/// clear it nor to fault its pages in, which for a few megabytes costs as much as decoding a quarter of them.
///
/// One mapping, of at most 4 MiB; above, clearing huge pages costs little, and memory is better given back.
///
/// `@unchecked Sendable`: a pointer changes hands under the lock only, and whoever takes it owns it.
final class SpareMapping: @unchecked Sendable {
    static let shared = SpareMapping()

    private static let largest = 4 << 20

    private let slot = Lock<(base: UnsafeMutableRawPointer, byteCount: Int)?>(nil)

    /// Nil where none of exactly this size is there.
    func take(_ byteCount: Int) -> UnsafeMutableRawPointer? {
        slot.withLock { slot in
            guard let spare = slot, spare.byteCount == byteCount else { return nil }
            slot = nil
            return spare.base
        }
    }

    /// Takes a mapping over, and unmaps the one that was there; one that is too large at once.
    func put(_ base: UnsafeMutableRawPointer, _ byteCount: Int) {
        guard byteCount <= Self.largest else {
            munmap(base, byteCount)
            return
        }
        let old = slot.withLock { slot in
            defer { slot = (base, byteCount) }
            return slot
        }
        if let old { munmap(old.base, old.byteCount) }
    }
}
