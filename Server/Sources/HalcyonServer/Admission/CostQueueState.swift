import Foundation
import Halcyon

/// The bounds of a `CostQueue`. Costs are pixels where it stands before decodes, and one each before transfers.
public struct CostQueueLimits: Hashable, Sendable {
    /// The cost of all work at the same time. Work that costs more alone waits until there is no other, and then runs.
    public var working: Int
    /// The number of places that wait.
    public var waitingCount: Int
    /// The cost of all places that wait.
    public var waitingCost: Int
    /// The longest wait of one caller.
    public var waitingTime: Duration
    /// The cost of the places that wait once more has waited for longer than a burst; nil for no other bound than `waitingCost`.
    ///
    /// Work waits for about as long as it then takes, times the share of this cost in that at work: by Little's law both costs
    /// are times of the same throughput.
    public var standingCost: Int?
    /// The length of a burst, in which the other bounds hold alone. The next one may come once nobody has found more than
    /// `standingCost` for as long.
    public var burstTime: Duration

    /// Creates bounds.
    public init(
        working: Int, waitingCount: Int, waitingCost: Int, waitingTime: Duration, standingCost: Int? = nil,
        burstTime: Duration = .zero
    ) {
        (self.working, self.waitingCount, self.waitingCost) = (working, waitingCount, waitingCost)
        (self.waitingTime, self.standingCost, self.burstTime) = (waitingTime, standingCost, burstTime)
    }
}

/// The reason why a `CostQueue` has no place for a caller.
public enum CostQueueRefusal: Error, Hashable, Sendable {
    /// Too many places wait.
    case crowded
    /// The places that wait cost too much together.
    case expensive
    /// More is asked for than the machine can do, and has been for longer than a burst.
    case overloaded
    /// The caller has waited too long.
    case waitedTooLong
}

/// The books of a `CostQueue`, a value without clocks and threads.
///
/// Callers with the same key share one place: they wait together, and work once. A place is free when the last of them has left.
struct CostQueueState<Key: Hashable & Sendable> {
    enum Entry: Equatable {
        case admitted
        case waits
        case refused(CostQueueRefusal)
    }

    private struct Place {
        let cost: Int
        /// The number of its arrival, by which places of one priority are in order.
        let order: Int
        var priority: RequestPriority
        var members: Set<Int>
        var isWorking: Bool
    }

    let limits: CostQueueLimits
    private(set) var workingCost = 0
    private(set) var workingCount = 0
    private(set) var waitingCost = 0
    private(set) var waitingCount = 0
    /// The callers that have been told that there is room for them, and have not entered yet.
    private(set) var expectedCount = 0
    private var places: [Key: Place] = [:]
    private var keys: [Int: Key] = [:]
    private var arrivals = 0
    /// The time at which more waited than may stand, for the first and the last time in this burst.
    private var burst: (began: Date, last: Date)?

    init(limits: CostQueueLimits) {
        self.limits = limits
    }

    /// Lets a caller in, or gives it a place among those that wait.
    ///
    /// - Parameter isExpected: whether it has been told that there is room for it, which no lasting load takes back.
    mutating func enter(
        _ member: Int, _ key: Key, cost: Int, priority: RequestPriority, at now: Date, isExpected: Bool = false
    ) -> Entry {
        if var place = places[key] {
            place.members.insert(member)
            place.priority = max(place.priority, priority)
            places[key] = place
            keys[member] = key
            return place.isWorking ? .admitted : .waits
        }
        // Nothing overtakes those that wait with its priority or a higher one.
        let overtakes = places.values.contains { !$0.isWorking && $0.priority >= priority }
        let works = !overtakes && fits(cost)
        if !works, let refusal = refusal(cost, at: now), !isExpected || refusal != .overloaded {
            return .refused(refusal)
        }
        arrivals += 1
        places[key] = Place(cost: cost, order: arrivals, priority: priority, members: [member], isWorking: works)
        keys[member] = key
        count(cost, isWorking: works, by: 1)
        return works ? .admitted : .waits
    }

    /// Returns why a place of this cost may not wait; nil if it may.
    ///
    /// - Parameter expectedCost: the cost of the places that will wait before it, which are a part of a lasting load alone: they wait
    ///   for their transfers first.
    private mutating func refusal(_ cost: Int, at now: Date, behind expectedCost: Int = 0) -> CostQueueRefusal? {
        if waitingCount >= limits.waitingCount { return .crowded }
        // A single place may cost more than the bounds, as it may among those at work.
        guard waitingCount > 0 || expectedCost > 0 else { return nil }
        let (sum, overflows) = waitingCost.addingReportingOverflow(cost)
        if waitingCount > 0, overflows || sum > limits.waitingCost { return .expensive }
        let (all, isMore) = sum.addingReportingOverflow(expectedCost)
        guard let standing = limits.standingCost, isMore || all > standing else { return nil }
        let length = limits.burstTime / .seconds(1)
        if let last = burst?.last, now.timeIntervalSince(last) >= length { burst = nil }
        let began = burst?.began ?? now
        burst = (began, now)
        return now.timeIntervalSince(began) >= length ? .overloaded : nil
    }

    /// Returns why a place of the average cost would neither work at once nor wait now, behind those that are expected and cost as
    /// much; nil if it would. Nobody who would work at once waits for those: their sources may say nothing for long.
    mutating func refusal(at now: Date) -> CostQueueRefusal? {
        let count = workingCount + waitingCount
        let cost = count > 0 ? max(1, workingCost / count + waitingCost / count) : 1
        if waitingCount == 0, fits(cost) { return nil }
        let (product, overflows) = expectedCount.multipliedReportingOverflow(by: cost)
        let free = max(0, limits.working - workingCost)
        return refusal(cost, at: now, behind: max(0, (overflows ? .max : product) - free))
    }

    /// Counts a caller for which there is room.
    mutating func expect() { expectedCount += 1 }

    /// Ends to expect a caller that enters, or does not.
    mutating func endExpecting() { expectedCount -= 1 }

    /// Whether a caller with this key has a place or waits for one.
    func has(_ key: Key) -> Bool { places[key] != nil }

    /// Takes a caller out, whether it works, waits or has left before.
    ///
    /// - Returns: the callers that are let in now.
    mutating func leave(_ member: Int) -> [Int] {
        guard let key = keys.removeValue(forKey: member), var place = places[key] else { return [] }
        place.members.remove(member)
        guard place.members.isEmpty else {
            places[key] = place
            return []
        }
        places[key] = nil
        count(place.cost, isWorking: place.isWorking, by: -1)
        return admit()
    }

    /// The callers that have places, at work or waiting.
    var memberCount: Int { keys.count }

    private func fits(_ cost: Int) -> Bool {
        if workingCount == 0 { return true }
        let (sum, overflows) = workingCost.addingReportingOverflow(cost)
        return !overflows && sum <= limits.working
    }

    private mutating func count(_ cost: Int, isWorking: Bool, by sign: Int) {
        if isWorking {
            workingCost += sign * cost
            workingCount += sign
        } else {
            waitingCost += sign * cost
            waitingCount += sign
        }
    }

    /// Lets in those that wait, in their order, up to the first for which there is no room: one that costs much gets its turn.
    private mutating func admit() -> [Int] {
        var admitted: [Int] = []
        while let (key, place) = next, fits(place.cost) {
            places[key]?.isWorking = true
            count(place.cost, isWorking: false, by: -1)
            count(place.cost, isWorking: true, by: 1)
            admitted += place.members.sorted()
        }
        return admitted
    }

    private var next: (Key, Place)? {
        guard waitingCount > 0 else { return nil }
        let waiting = places.lazy.filter { !$0.value.isWorking }
        return waiting.min { left, right in
            let (left, right) = (left.value, right.value)
            return left.priority == right.priority ? left.order < right.order : left.priority > right.priority
        }.map { ($0.key, $0.value) }
    }
}
