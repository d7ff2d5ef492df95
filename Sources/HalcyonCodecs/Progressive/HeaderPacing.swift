/// When a header that was not whole is looked at again: with each part up to 64 KiB, then each time that it has grown by
/// an eighth, so that a header without end costs no more than nine looks at all of it.
struct HeaderPacing {
    private static let always = 1 << 16

    private var next = 0

    mutating func isDue(_ byteCount: Int) -> Bool {
        guard byteCount >= next else { return false }
        if byteCount >= Self.always { next = byteCount + byteCount / 8 }
        return true
    }
}
