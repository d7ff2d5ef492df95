import CCairo

/// The way in which a source layer is combined with a destination layer: all of Cairo's operators.
///
/// The first group is Porter and Duff's operators. The modes from `multiply` on are PDF's blend modes.
public enum BlendMode: String, Hashable, Sendable, CaseIterable {
    /// Neither layer.
    case clear
    /// Only the source.
    case source
    /// The source over the destination.
    case over
    /// The source, where the destination is.
    case sourceIn
    /// The source, where the destination is not.
    case sourceOut
    /// The source over the destination, and only where the destination is.
    case sourceAtop
    /// The destination, unchanged.
    case destination
    /// The destination over the source.
    case destinationOver
    /// The destination, where the source is.
    case destinationIn
    /// The destination, where the source is not.
    case destinationOut
    /// The destination over the source, and only where the source is.
    case destinationAtop
    /// Either layer, but not where both are.
    case xor
    /// The sum of both layers.
    case add
    /// As `over`, with coverages that are assumed not to overlap.
    case saturate
    /// The product of both colours, which is never lighter than either.
    case multiply
    /// The inverse of the product of both inverses, which is never darker than either.
    case screen
    /// A `multiply` where the destination is dark, and a `screen` where it is light.
    case overlay
    /// The darker of both colours, for each component.
    case darken
    /// The lighter of both colours, for each component.
    case lighten
    /// The destination, brightened by the source; a black source changes nothing.
    case colorDodge
    /// The destination, darkened by the source; a white source changes nothing.
    case colorBurn
    /// A `multiply` where the source is dark, and a `screen` where it is light.
    case hardLight
    /// The destination, gently darkened where the source is dark and lightened where it is light.
    case softLight
    /// The absolute difference of both colours; a white source inverts the destination.
    case difference
    /// The difference of both colours with a lower contrast.
    case exclusion
    /// The source's hue, with the destination's saturation and luminosity.
    case hue
    /// The source's saturation, with the destination's hue and luminosity.
    case saturation
    /// The source's hue and saturation, with the destination's luminosity.
    case color
    /// The source's luminosity, with the destination's hue and saturation.
    case luminosity

    var cairo: cairo_operator_t {
        // The cases are declared in Cairo's order.
        cairo_operator_t(UInt32(Self.allCases.firstIndex(of: self) ?? 2))
    }

    /// Whether the result is opaque, given whether each of the two layers is.
    func isOpaque(source: Bool, destination: Bool) -> Bool {
        switch self {
        case .clear, .sourceOut, .destinationOut, .xor: false
        case .source, .destinationAtop: source
        case .destination, .sourceAtop: destination
        case .sourceIn, .destinationIn: source && destination
        default: source || destination
        }
    }
}
