import CCairo

/// How what is drawn and what is there become one: all of Cairo's operators.
///
/// The first group is Porter and Duff's: which of the two remains where. From `multiply` on they are PDF's blend modes.
public enum BlendMode: String, Hashable, Sendable, CaseIterable {
    /// Nothing remains.
    case clear
    /// Only what is drawn.
    case source
    /// What is drawn, over what is there.
    case over
    /// What is drawn, where there is something.
    case sourceIn
    /// What is drawn, where there is nothing.
    case sourceOut
    /// What is drawn, over what is there and only there.
    case sourceAtop
    /// What is there stays.
    case destination
    /// What is there, over what is drawn.
    case destinationOver
    /// What is there, where something is drawn.
    case destinationIn
    /// What is there, where nothing is drawn.
    case destinationOut
    /// What is there, over what is drawn and only there.
    case destinationAtop
    /// Either of them, but not both.
    case xor
    /// The sum.
    case add
    /// As `over`, with coverages that are taken not to overlap.
    case saturate
    case multiply
    case screen
    case overlay
    case darken
    case lighten
    case colorDodge
    case colorBurn
    case hardLight
    case softLight
    case difference
    case exclusion
    case hue
    case saturation
    case color
    case luminosity

    var cairo: cairo_operator_t {
        // Declared in Cairo's order.
        cairo_operator_t(UInt32(Self.allCases.firstIndex(of: self) ?? 2))
    }

    /// Whether the result of two layers, of which these are opaque, is.
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
