/// An operation of Halcyon and its floor, the same work done with as little as possible.
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
    /// The unit for the time of one operation.
    let unit: Unit
    /// The number of operations in a run.
    let operations: Int
    /// The number of images that an operation loads, if their rate is to be reported.
    var images: Int?
    let subject: @Sendable () async throws -> Sample
    /// The floor; nil if the rivals take its place.
    var floor: (@Sendable () async throws -> Sample)?
    /// Other programs that do the same. The fastest of those that do equivalent work is the floor.
    var rivals: [Rival] = []

    /// Runs both sides by turns, so that any other load of the machine affects both alike. The first turn warms up
    /// and does not count.
    func run(_ runs: Int) async throws -> Outcome {
        var subjects: [Sample] = []
        var floors: [Sample] = []
        let likenesses = try rivals.map { try $0.likeness() }
        var times: [[Sample]] = rivals.map { _ in [] }
        for turn in 0...runs {
            // The order alternates, as the second side benefits from the first one's traces in the processor's
            // caches.
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
        // Processor time decides, as other programs on the machine affect it less than wall time.
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
