import Glibc
import HalcyonSystem

/// The mapping of the last released bitmap, kept for the next bitmap of its size: its pages are mapped already, so that the
/// system neither clears nor faults them in, which for a few megabytes costs as much as decoding a quarter of them.
///
/// It holds one mapping of at most 4 MiB. Above that, clearing huge pages costs little, and the memory is better returned
/// to the system.
///
/// `@unchecked Sendable`: the pointer is exchanged under the lock only, and the caller that takes it owns it.
final class SpareMapping: @unchecked Sendable {
    static let shared = SpareMapping()

    private static let largest = 4 << 20

    private let slot = Lock<(base: UnsafeMutableRawPointer, byteCount: Int)?>(nil)

    /// Returns the mapping and gives up ownership; nil if there is none of exactly this size.
    func take(_ byteCount: Int) -> UnsafeMutableRawPointer? {
        slot.withLock { slot in
            guard let spare = slot, spare.byteCount == byteCount else { return nil }
            slot = nil
            return spare.base
        }
    }

    /// Takes ownership of a mapping and unmaps the previous one. A mapping that is too large is unmapped at once.
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
