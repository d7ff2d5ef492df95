import Glibc
import HalcyonSystem

/// The memory of one bitmap.
///
/// Large bitmaps use a mapping of their own, aligned to 2 MiB and with huge pages requested: the first touch of 24 MB then
/// costs about 1 ms instead of 12, and the memory returns to the system with the end of the bitmap, which the heap does not
/// promise. One mapping of a few megabytes is kept for the next bitmap.
///
/// `@unchecked Sendable`: the memory is written while one owner fills it and only read from then on.
final class PixelStorage: @unchecked Sendable {
    /// The least size of a mapping, in bytes: for less, its page granularity and system calls cost more than they save.
    private static let mappingThreshold = 1 << 20
    private static let hugePage = 1 << 21
    /// The page size: 4 KiB on most machines, up to 64 KiB on some ARM machines.
    private static let page = max(4096, sysconf(Int32(_SC_PAGESIZE)))

    let base: UnsafeMutableRawPointer
    let byteCount: Int
    private let mappedBytes: Int

    /// - Throws: `BitmapError.outOfMemory`.
    init(byteCount: Int) throws {
        self.byteCount = byteCount
        if byteCount >= Self.mappingThreshold {
            let bytes = (byteCount + Self.page - 1) & ~(Self.page - 1)
            guard let mapping = SpareMapping.shared.take(bytes) ?? Self.map(bytes) else {
                throw BitmapError.outOfMemory(bytes: byteCount)
            }
            base = mapping
            mappedBytes = bytes
        } else {
            var pointer: UnsafeMutableRawPointer?
            // 64 bytes are the size of a cache line and of the widest vector.
            guard posix_memalign(&pointer, 64, max(byteCount, 1)) == 0, let pointer else {
                throw BitmapError.outOfMemory(bytes: byteCount)
            }
            base = pointer
            mappedBytes = 0
        }
    }

    deinit {
        if mappedBytes > 0 { SpareMapping.shared.put(base, mappedBytes) } else { free(base) }
    }

    /// Maps `bytes` at an address that is a multiple of a huge page, by mapping more and unmapping both ends.
    private static func map(_ bytes: Int) -> UnsafeMutableRawPointer? {
        let (total, overflow) = bytes.addingReportingOverflow(hugePage)
        guard !overflow else { return nil }
        let raw = mmap(nil, total, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0)
        guard let raw, raw != MAP_FAILED else { return nil }
        let address = Int(bitPattern: raw)
        let head = ((address + hugePage - 1) & ~(hugePage - 1)) - address
        if head > 0 { munmap(raw, head) }
        let tail = total - head - bytes
        if tail > 0 { munmap(raw + head + bytes, tail) }
        madvise(raw + head, bytes, MADV_HUGEPAGE)
        // The rest behind the last huge page is populated at once, instead of by a fault for each small page: every byte of
        // a bitmap is written anyway. A kernel before 5.14 refuses, which does no harm.
        let rest = bytes % hugePage
        if rest > 0 { madvise(raw + head + bytes - rest, rest, MADV_POPULATE_WRITE) }
        return raw + head
    }
}

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
