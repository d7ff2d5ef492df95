import Foundation
import Halcyon

/// A drawing that is decoded to measure the machine: a time that is granted in seconds would be that of one machine alone.
enum ReferenceDrawing {
    /// Returns the processor time of one decode in seconds, the least of five.
    static func seconds() throws -> Double {
        let elements = (0..<500).map { "<rect x='\($0 % 100)' y='\($0 / 10)' width='3' height='3'/>" }.joined()
        let file = Data(
            "<svg xmlns='http://www.w3.org/2000/svg' width='100' height='100'>\(elements)</svg>".utf8)
        return try (0..<5).map { _ in
            let start = ProcessTime.seconds
            _ = try CoderRegistry.standard().decode(file)
            return ProcessTime.seconds - start
        }.min() ?? 0
    }
}
