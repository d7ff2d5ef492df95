/// The result of a rival. All times are of one operation, in the comparison's unit.
struct RivalOutcome: Encodable {
    let name: String
    let note: String
    let isAlike: Bool
    let minimum: Double
    let median: Double
    let cpuMinimum: Double
    /// The similarity to Halcyon's result in decibels.
    let likeness: Double?

    init(_ rival: Rival, _ samples: [Sample], unit: Comparison.Unit, operations: Int, likeness: Double?) {
        let scale = 1 / (unit.nanoseconds * Double(operations))
        name = rival.name
        note = rival.note
        isAlike = rival.isAlike
        minimum = Outcome.rounded((samples.map(\.wall).min() ?? 0) * scale)
        median = Outcome.rounded(Outcome.median(samples.map(\.wall)) * scale)
        cpuMinimum = Outcome.rounded((samples.map(\.cpu).min() ?? 0) * scale)
        self.likeness = likeness.map { Outcome.rounded($0) }
    }
}
