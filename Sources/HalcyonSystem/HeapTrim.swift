import CHalcyonSystem

/// Gives the free pages of the heap back to the system.
///
/// glibc keeps what a library has freed, and keeps larger and larger blocks the larger those are that go through it: in a
/// container a few decodes with tens of megabytes of a library's own would stay resident for good.
package enum HeapTrim {
    private static let leastBytes = 4 << 20

    /// Trims after work that took this much of the heap: below 4 MiB not at all, since it costs about a millisecond.
    package static func after(_ bytes: Int) {
        if bytes >= leastBytes { halcyon_trim_heap() }
    }
}
