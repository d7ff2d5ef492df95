import Halcyon

/// Something that a processor does, and what it is called in Peers/idioms.py.
struct ProcessingCase: Sendable {
    let variant: String
    let operation: String
    /// Makes it for a picture that would be resized to such a size.
    let processor: @Sendable (PixelSize) -> any ImageProcessor

    /// One line each.
    static let all = [
        ProcessingCase(variant: "resize", operation: "resize") {
            ResizeProcessor($0, mode: .stretch, filter: .lanczos)
        },
        ProcessingCase(variant: "round corners 40 px", operation: "round") { _ in RoundCornersProcessor(radius: 40) },
    ]
}
