import Halcyon
import HalcyonProcessing

/// An operation of a processor, and its name in Peers/idioms.py.
struct ProcessingCase: Sendable {
    let variant: String
    let operation: String
    /// Makes the processor for a picture that would be resized to the given size.
    let processor: @Sendable (PixelSize) -> any ImageProcessor

    /// All cases.
    static let all = [
        ProcessingCase(variant: "resize", operation: "resize") {
            .resize(to: $0, mode: .stretch, filter: .lanczos)
        },
        ProcessingCase(variant: "blur 5 px", operation: "blur5") { _ in .blur(radius: 5) },
        ProcessingCase(variant: "blur 20 px", operation: "blur20") { _ in .blur(radius: 20) },
        ProcessingCase(variant: "rotate 30 degrees", operation: "rotate") { _ in .rotate(degrees: 30) },
        ProcessingCase(variant: "colour matrix", operation: "matrix") { _ in .colorMatrix(sepia) },
        ProcessingCase(variant: "round corners 40 px", operation: "round") { _ in .roundCorners(radius: 40) },
    ]

    /// The peers' sepia matrix, whose channels go to 255.
    private static let sepia = ColorMatrix(
        red: .init(0.393, 0.769, 0.189, bias: 6.0 / 255), green: .init(0.349, 0.686, 0.168, bias: 3.0 / 255),
        blue: .init(0.272, 0.534, 0.131, bias: -4.0 / 255))
}
