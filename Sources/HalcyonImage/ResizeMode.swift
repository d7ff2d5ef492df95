/// How an image meets a box of another shape.
public enum ResizeMode: String, Sendable, Hashable, CaseIterable {
    /// Inside the box, the whole image, its own shape.
    case fit
    /// Covers the box and is cut to it, centred.
    case fill
    /// Exactly the box, whatever becomes of the shape.
    case stretch
}
