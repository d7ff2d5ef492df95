import Foundation

/// Times and lifetimes as an entry's footer keeps them.
enum EntryTimes {
    /// Seconds as nanoseconds; what does not fit, 292 years, is for ever.
    static func nanoseconds(_ seconds: TimeInterval) -> Int64 {
        let nanoseconds = seconds * 1e9
        return nanoseconds < 9.2e18 ? max(0, Int64(max(0, nanoseconds))) : EntryFooter.neverEnds
    }

    static func seconds(_ nanoseconds: Int64) -> TimeInterval {
        nanoseconds < 0 ? .infinity : TimeInterval(nanoseconds) * 1e-9
    }
}
