import Foundation
import HalcyonCache

@testable import CacheStress

/// The possible contents of a folder after the process that worked in it was killed, derived from that process's messages.
struct KillModel {
    /// For each key the version that was confirmed last, then those that were begun since, the oldest first; 0 is none.
    private var versions = [[Int]](repeating: [0], count: KillRun.keys)
    /// Whether anything may have been trimmed.
    let isTight: Bool
    private(set) var confirmations = 0
    /// Confirmed entries that were read back, byte for byte.
    private(set) var checked = 0
    /// Entries whose last write was not confirmed, and that were whole.
    private(set) var whole = 0
    private(set) var problems: [String] = []
    /// The calls in which processes ended themselves.
    private(set) var deaths: [String: Int] = [:]

    init(isTight: Bool) {
        self.isTight = isTight
    }

    mutating func take(_ output: Data) {
        for line in StressReport.lines(output) {
            switch StressReport(line) {
            case .begun(let key, let version): versions[key].append(version)
            case .removing(let key): versions[key].append(0)
            case .done(let key): confirm(key)
            case .flushed(let worker):
                for key in stride(from: worker, to: KillRun.keys, by: KillRun.workers) { confirm(key) }
            case .dying(let call): deaths[call, default: 0] += 1
            case .wrong(let text): problems.append(text)
            case .finished, nil: problems.append("a line that should not be: \(line)")
            }
        }
    }

    private mutating func confirm(_ key: Int) {
        confirmations += 1
        versions[key].removeFirst(versions[key].count - 1)
    }

    /// Reads every key. Blocks.
    mutating func check(_ cache: DiskCache) {
        for key in 0..<KillRun.keys {
            let expected = versions[key]
            var found = 0
            if let entry = cache.entrySynchronously(for: StressContent.key(key)) {
                guard let version = StressContent.version(of: entry, key: key, largest: KillRun.largest) else {
                    problems.append("key \(key): other bytes than were stored")
                    continue
                }
                found = version
            }
            if !expected.contains(found), !(isTight && found == 0) {
                problems.append("key \(key): version \(found), not one of \(expected)")
            } else if found != 0 {
                if expected.count == 1 { checked += 1 } else { whole += 1 }
            }
            // Nobody else is at it: this is how the next process finds it.
            versions[key] = [found]
        }
        if cache.statistics.damaged > 0 { problems.append("\(cache.statistics.damaged) files not whole") }
    }
}
