/// One thing that Halcyon does, and the same done with as little as possible.
struct Comparison: Sendable {
    enum Unit: String, Sendable {
        case nanoseconds = "ns"
        case microseconds = "us"
        case milliseconds = "ms"

        var nanoseconds: Double {
            switch self {
            case .nanoseconds: 1
            case .microseconds: 1e3
            case .milliseconds: 1e6
            }
        }
    }

    let name: String
    let variant: String
    /// Of one operation.
    let unit: Unit
    /// How many a run does.
    let operations: Int
    /// Images that an operation loads, where that is worth a figure.
    var images: Int?
    let subject: @Sendable () async throws -> Sample
    /// Nil where rivals stand in its place.
    var floor: (@Sendable () async throws -> Sample)?
    /// Other programs that do the same. The fastest of those that do the same work is the floor.
    var rivals: [Rival] = []

    /// Runs both by turns, so that whatever else the machine does meets both alike. The first turn warms up and does
    /// not count.
    func run(_ runs: Int) async throws -> Outcome {
        var subjects: [Sample] = []
        var floors: [Sample] = []
        let likenesses = try rivals.map { try $0.likeness() }
        var times: [[Sample]] = rivals.map { _ in [] }
        for turn in 0...runs {
            // The one that comes second finds the other's traces in the processor's caches.
            let isSubjectFirst = turn.isMultiple(of: 2)
            if isSubjectFirst { subjects.append(try await subject()) }
            if let floor { floors.append(try await floor()) }
            for (index, rival) in rivals.enumerated() { times[index].append(try rival.run()) }
            if !isSubjectFirst { subjects.append(try await subject()) }
        }
        subjects.removeFirst()
        let outcomes = rivals.indices.map { index in
            RivalOutcome(
                rivals[index], Array(times[index].dropFirst()), unit: unit, operations: operations,
                likeness: likenesses[index])
        }
        // Of the two times, another program on the machine moves this one least.
        let fastest = rivals.indices.filter { rivals[$0].isAlike }.min {
            outcomes[$0].cpuMinimum < outcomes[$1].cpuMinimum
        }
        if let fastest { floors = times[fastest] }
        var outcome = Outcome(self, subjects: subjects, floors: Array(floors.dropFirst()))
        outcome.floor = fastest.map { rivals[$0].name }
        if !rivals.isEmpty { outcome.rivals = outcomes }
        return outcome
    }
}
