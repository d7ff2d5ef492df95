import Foundation
import HalcyonCodecs
import HalcyonImage
import HalcyonSystem

/// An animation made up for a test, and how often its frames were decoded. Its files are the four bytes `STRY`.
final class StoryCoder: AnimatedImageDecoder, FrameReader {
    static let format = ImageFormat("story", fileExtension: "story", mimeType: "image/x-story")
    static var file: Data { Data("STRY".utf8) }

    let size: PixelSize
    let frames: [AnimationFrame]
    private let patches: [Bitmap]
    private let decoded = Lock<[Int]>([])

    /// The indices of the frames that were decoded, in order.
    var decodes: [Int] { decoded.withLock { $0 } }

    init(size: PixelSize, _ frames: [(AnimationFrame, Bitmap)]) {
        self.size = size
        self.frames = frames.map(\.0)
        patches = frames.map(\.1)
    }

    var formats: [ImageFormat] { [Self.format] }
    func canDecode(_ data: Data) -> Bool { data == Self.file }

    func probe(_ data: Data) throws -> ImageInfo {
        ImageInfo(format: Self.format, size: size, frameCount: frames.count, loopCount: 3, hasAlpha: true)
    }

    func decode(_ data: Data, plan: DecodePlan, context: WorkContext) throws -> Bitmap {
        try Bitmap(size: size, isOpaque: false) { $0.initializeMemory(as: UInt8.self, repeating: 0) }
    }

    func frames(of data: Data, info: ImageInfo) throws -> any FrameReader { self }

    func pixels(at index: Int, context: WorkContext) throws -> Bitmap {
        decoded.withLock { $0.append(index) }
        return patches[index]
    }
}
