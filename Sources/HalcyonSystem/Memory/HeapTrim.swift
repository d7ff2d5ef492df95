import CHalcyonSystem

/// The return of free pages of the heap to the system.
///
/// glibc keeps memory that a library has freed, and its threshold grows with the size of the freed blocks: in a container, a
/// few decodes that use tens of megabytes in a library would stay resident for good.
package struct HeapTrim {
    /// The bytes below which a piece of work does not count.
    private static let minimumBytes = 4 << 20
    /// The bytes that work may have used since the last trim. No more than that is free and resident, on however many threads
    /// the work was done. A trim costs about a millisecond, and the next work as much again to have its pages cleared: after
    /// each decode of a megapixel it would be a tenth of its time.
    private static let allowance = 32 << 20

    private static let shared = Lock(HeapTrim())

    private var usedBytes = 0

    /// Trims the heap after work that used this many bytes of it, if such work has used 32 MiB since the last trim; below 4 MiB
    /// it does not count.
    package static func after(_ bytes: Int) {
        if shared.withLock({ $0.isDue(after: bytes) }) { halcyon_trim_heap() }
    }

    /// Counts a piece of work, and returns whether a trim is due, which starts the count anew.
    mutating func isDue(after bytes: Int) -> Bool {
        guard bytes >= Self.minimumBytes else { return false }
        let (sum, overflow) = usedBytes.addingReportingOverflow(bytes)
        usedBytes = overflow ? .max : sum
        guard usedBytes >= Self.allowance else { return false }
        usedBytes = 0
        return true
    }
}
