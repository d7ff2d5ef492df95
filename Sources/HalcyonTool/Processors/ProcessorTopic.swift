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
