import Foundation
import ImageURLs

/// The time for which an answer may be kept, and by whom: the strictest of what the servers of its sources said.
struct CacheControl: Hashable, Sendable {
    private(set) var isNotStored = false
    private(set) var isPrivate = false
    private var requiresRevalidation = false
    private var mustRevalidate = false
    /// In seconds.
    private var maximumAge: Int

    /// The rule of an answer that no server has a say in.
    init(maximumAge: Int, isPrivate: Bool = false) {
        (self.maximumAge, self.isPrivate) = (maximumAge, isPrivate)
    }

    /// - Parameters:
    ///   - ttl: the seconds of a source whose server says nothing.
    ///   - now: the time of the answer; what has passed since the servers answered is taken off.
    init(_ sources: [SourceFacts], ttl: Int, now: Date) {
        let ages = sources.map { facts in
            let elapsed = Int(max(0, now.timeIntervalSince(facts.time)))
            return facts.freshness.maximumAge.map { max(0, $0 - elapsed) } ?? ttl
        }
        maximumAge = ages.min() ?? ttl
        isNotStored = sources.contains { $0.freshness.isNotStored }
        isPrivate = sources.contains { $0.freshness.isPrivate }
        requiresRevalidation = sources.contains { $0.freshness.requiresRevalidation }
        mustRevalidate = sources.contains { $0.freshness.mustRevalidate }
    }

    /// Returns the rule for the answer to a job, whose URL may end to be valid before.
    func limited(by job: ImageJob, now: Date) -> CacheControl {
        guard let expires = job.expires, expires > 0 else { return self }
        var limited = self
        let (left, overflows) = expires.subtractingReportingOverflow(Int64(now.timeIntervalSince1970))
        if !overflows { limited.maximumAge = Int(min(Int64(maximumAge), max(0, left))) }
        return limited
    }

    /// The value of the field.
    var text: String {
        if isNotStored { return "no-store" }
        var words = [isPrivate ? "private" : "public"]
        if requiresRevalidation { words.append("no-cache") }
        words.append("max-age=\(maximumAge)")
        if mustRevalidate { words.append("must-revalidate") }
        return words.joined(separator: ", ")
    }
}
