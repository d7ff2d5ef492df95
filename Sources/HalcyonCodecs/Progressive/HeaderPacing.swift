/// The pacing of the attempts to read an incomplete header: with each part up to 64 KiB, then each time that it has
/// grown by an eighth, so that all attempts on a header without end together cost no more than reading it nine times.
struct HeaderPacing {
    private static let always = 1 << 16

    private var next = 0

    mutating func isDue(_ byteCount: Int) -> Bool {
        guard byteCount >= next else { return false }
        if byteCount >= Self.always { next = byteCount + byteCount / 8 }
        return true
    }
}
