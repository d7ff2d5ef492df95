import ArgumentParser
import Foundation
import Halcyon

/// The table of all built-in processors, and the parser of their spellings.
enum ProcessorTable {
    static let entries = ProcessorTopic.allCases.flatMap(\.entries)

    /// The short forms for the help of `--process`.
    static let help = entries.map(\.brief).joined(separator: ", ")

    /// The list for a terminal: each processor's description and forms.
    static var text: String {
        let width = entries.map(\.name.count).max() ?? 0
        let margin = String(repeating: " ", count: width + 2)
        return entries.map { entry in
            let name = entry.name + margin.dropFirst(entry.name.count)
            let end = entry.text.range(of: ". ")?.lowerBound
            let sentence = end.map { entry.text[..<$0] + "." } ?? entry.text
            return ([name + sentence] + entry.forms.map { margin + $0 }).joined(separator: "\n")
        }.joined(separator: "\n")
    }

    /// Makes the processor of a spelling: `NAME[=PART[:PART]...]`.
    ///
    /// - Parameter images: Reads the file of a watermark.
    /// - Throws: `ValidationError` with the forms that the processor takes; the errors of `images`.
    static func processor(
        _ text: String, images: @escaping ProcessorParts.ImageReader
    ) throws -> any ImageProcessor {
        let pair = text.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
        guard let entry = entries.first(where: { $0.name == pair[0] }) else {
            throw ValidationError("no processor is called '\(pair[0])'; 'halcyon processors' lists them")
        }
        var parts = ProcessorParts(pair.count == 2 ? pair[1] : nil, images: images)
        do {
            let processor = try entry.read(&parts)
            if let part = parts.rest.first { throw ValidationError("'\(part)' does not belong there") }
            return processor
        } catch let error as ValidationError {
            throw ValidationError("\(error.message); \(entry.name) takes \(entry.forms.joined(separator: " or "))")
        }
    }
}

/// A group of processors in the documentation.
enum ProcessorTopic: String, CaseIterable, Sendable {
    case geometry = "Geometry"
    case shape = "Shape"
    case filter = "Filters"
    case color = "Colour"
    case composition = "Composition"

    var entries: [ProcessorEntry] {
        switch self {
        case .geometry: GeometryEntries.all
        case .shape: ShapeEntries.all
        case .filter: FilterEntries.all
        case .color: ColorEntries.all
        case .composition: CompositionEntries.all
        }
    }
}
