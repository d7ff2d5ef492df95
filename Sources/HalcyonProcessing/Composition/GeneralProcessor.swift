import HalcyonImage
import HalcyonSystem

/// A processor made of a closure and identified by a name.
///
///     let invert = GeneralProcessor("org.example.invert") { image, context in ... }
///
/// Two with the same identifier and version are treated as equal: anything that changes the closure's output,
/// including captured values, must be part of the identifier.
public struct GeneralProcessor: ImageProcessor {
    /// A closure that receives an image, or one frame of an animation, and returns the processed one.
    package typealias Work = @Sendable (_ image: Image, _ context: WorkContext) throws -> Image

    /// The name of the closure, which is part of the cache key.
    package let identifier: String
    /// The version of the closure's output, which is part of the cache key.
    package let version: Int
    public let appliesPerFrame: Bool
    private let work: Work

    /// Creates a processor from a closure and the name that identifies it.
    ///
    /// - Parameters:
    ///   - identifier: The name of the closure, such as `org.example.invert`.
    ///   - version: The version, to be raised when the output changes for the same identifier. 1 by default.
    ///   - appliesPerFrame: Whether the frames of an animation are processed too. True by default.
    package init(
        _ identifier: String, version: Int = 1, appliesPerFrame: Bool = true,
        _ work: @escaping @Sendable (_ image: Image, _ context: WorkContext) throws -> Image
    ) {
        self.identifier = identifier
        self.version = version
        self.appliesPerFrame = appliesPerFrame
        self.work = work
    }

    public func encode(into key: inout KeyEncoder) {
        key.encode(type: "halcyon.general", version: 1)
        key.encode(identifier)
        key.encode(version)
        key.encode(appliesPerFrame)
    }

    public func process(_ image: Image, context: WorkContext) throws -> Image { try work(image, context) }

    public static func == (left: GeneralProcessor, right: GeneralProcessor) -> Bool {
        left.identifier.utf8.elementsEqual(right.identifier.utf8) && left.version == right.version
            && left.appliesPerFrame == right.appliesPerFrame
    }

    public func hash(into hasher: inout Hasher) {
        hasher.combine(version)
        for byte in identifier.utf8 { hasher.combine(byte) }
    }
}

extension ImageProcessor where Self == GeneralProcessor {
    /// A processor made of a closure and identified by a name.
    public static func general(
        _ identifier: String, version: Int = 1, appliesPerFrame: Bool = true,
        _ work: @escaping @Sendable (_ image: Image, _ context: WorkContext) throws -> Image
    ) -> Self {
        GeneralProcessor(identifier, version: version, appliesPerFrame: appliesPerFrame, work)
    }
}
