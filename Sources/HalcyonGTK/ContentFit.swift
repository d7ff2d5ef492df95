import CHalcyonGTK

/// How an image fills its view.
public enum ContentFit: Sendable, Hashable, CaseIterable {
    /// As large as fits, all of it seen.
    case contain
    /// So large that the view is covered; what is beyond its edges is cut off.
    case cover
    /// Stretched to the view.
    case fill
    /// As `contain`, and never enlarged.
    case scaleDown

    var halcyonFit: HalcyonFit {
        switch self {
        case .contain: HALCYON_FIT_CONTAIN
        case .cover: HALCYON_FIT_COVER
        case .fill: HALCYON_FIT_FILL
        case .scaleDown: HALCYON_FIT_SCALE_DOWN
        }
    }
}
