import CHalcyonPixels

/// The filter that computes the pixels of a resized image from those of its source.
public enum ResizeFilter: String, Sendable, Hashable, CaseIterable {
    /// The nearest source pixel: blocky, exact colours.
    case nearest
    /// The average of the source area that a pixel covers: soft, the fastest for a strong reduction.
    case area
    /// A triangle filter: smooth, no ringing.
    case bilinear
    /// Lanczos with three lobes: the sharpest, and the default.
    case lanczos

    var kernel: halcyon_filter {
        switch self {
        case .nearest: HALCYON_FILTER_NEAREST
        case .area: HALCYON_FILTER_AREA
        case .bilinear: HALCYON_FILTER_BILINEAR
        case .lanczos: HALCYON_FILTER_LANCZOS
        }
    }
}
