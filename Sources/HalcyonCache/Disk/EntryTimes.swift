import Foundation

/// The conversion of times and lifetimes to and from those in an entry's footer.
enum EntryTimes {
    /// Returns seconds as nanoseconds. More than fits, 292 years, becomes `EntryFooter.neverEnds`.
    static func nanoseconds(_ seconds: TimeInterval) -> Int64 {
        let nanoseconds = seconds * 1e9
        return nanoseconds < 9.2e18 ? max(0, Int64(max(0, nanoseconds))) : EntryFooter.neverEnds
    }

    static func seconds(_ nanoseconds: Int64) -> TimeInterval {
        nanoseconds < 0 ? .infinity : TimeInterval(nanoseconds) * 1e-9
    }
}
