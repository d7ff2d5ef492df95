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
    let floor: @Sendable () async throws -> Sample

    /// Runs both by turns, so that whatever else the machine does meets both alike. The first turn warms up and does
    /// not count.
    func run(_ runs: Int) async throws -> Outcome {
        var subjects: [Sample] = []
        var floors: [Sample] = []
        for turn in 0...runs {
            // The one that comes second finds the other's traces in the processor's caches.
            let isSubjectFirst = turn.isMultiple(of: 2)
            if isSubjectFirst { subjects.append(try await subject()) }
            floors.append(try await floor())
            if !isSubjectFirst { subjects.append(try await subject()) }
        }
        return Outcome(self, subjects: Array(subjects.dropFirst()), floors: Array(floors.dropFirst()))
    }
}
