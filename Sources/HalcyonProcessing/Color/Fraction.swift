import HalcyonImage

/// The check of a parameter from 0 to 1.
enum Fraction {
    /// - Throws: `ProcessingError.invalidArgument` if the value is not in 0...1.
    static func validate(_ value: Double, processor: String) throws {
        guard (0...1).contains(value) else {
            throw ProcessingError.invalidArgument(processor: processor, reason: "\(value) is not between 0 and 1")
        }
    }
}
