import Foundation

/// The result of a comparison. All times are of one operation, in `unit`.
struct Outcome: Encodable {
    let name: String
    let variant: String
    let unit: String
    let minimum: Double
    let median: Double
    let floorMinimum: Double?
    let floorMedian: Double?
    /// The ratio of the minima. Like all values that need a floor, it is nil without one.
    let ratio: Double?
    let cpuMinimum: Double
    let floorCpuMinimum: Double?
    let cpuRatio: Double?
    let runs: Int
    let imagesPerSecond: Double?
    let floorImagesPerSecond: Double?
    /// The growth of resident memory in bytes, the median of all runs.
    let residentGrowth: Int?
    let floorResidentGrowth: Int?
    /// The name of the rival that is the floor.
    var floor: String?
    var rivals: [RivalOutcome]?

    init(_ comparison: Comparison, subjects: [Sample], floors: [Sample]) {
        let scale = 1 / (comparison.unit.nanoseconds * Double(comparison.operations))
        func minimum(_ samples: [Sample], _ time: KeyPath<Sample, Double>) -> Double {
            (samples.map { $0[keyPath: time] }.min() ?? 0) * scale
        }
        func ofFloor(_ value: @autoclosure () -> Double) -> Double? {
            floors.isEmpty ? nil : Self.rounded(value())
        }
        name = comparison.name
        variant = comparison.variant
        unit = comparison.unit.rawValue
        self.minimum = Self.rounded(minimum(subjects, \.wall))
        median = Self.rounded(Self.median(subjects.map(\.wall)) * scale)
        floorMinimum = ofFloor(minimum(floors, \.wall))
        floorMedian = ofFloor(Self.median(floors.map(\.wall)) * scale)
        ratio = ofFloor(minimum(subjects, \.wall) / minimum(floors, \.wall))
        cpuMinimum = Self.rounded(minimum(subjects, \.cpu))
        floorCpuMinimum = ofFloor(minimum(floors, \.cpu))
        cpuRatio = ofFloor(minimum(subjects, \.cpu) / minimum(floors, \.cpu))
        runs = subjects.count
        func rate(_ samples: [Sample]) -> Double? {
            comparison.images.map { images in
                let seconds = minimum(samples, \.wall) * comparison.unit.nanoseconds / 1e9
                return (Double(images) / seconds).rounded()
            }
        }
        imagesPerSecond = rate(subjects)
        floorImagesPerSecond = rate(floors)
        residentGrowth = Self.medianGrowth(subjects)
        floorResidentGrowth = Self.medianGrowth(floors)
    }

    /// The outcome as one line of JSON.
    var json: String {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        return (try? encoder.encode(self)).map { String(decoding: $0, as: UTF8.self) } ?? "{}"
    }

    static func median(_ values: [Double]) -> Double {
        let sorted = values.sorted()
        guard let last = sorted.indices.last else { return 0 }
        return (sorted[last / 2] + sorted[(last + 1) / 2]) / 2
    }

    private static func medianGrowth(_ samples: [Sample]) -> Int? {
        let growths = samples.compactMap(\.residentGrowth)
        return growths.isEmpty ? nil : Int(median(growths.map(Double.init)))
    }

    /// Rounds to thousandths: further digits are noise and hard to read.
    static func rounded(_ value: Double) -> Double {
        (value * 1000).rounded() / 1000
    }
}
