import Foundation
import HalcyonImage
import HalcyonSystem

extension GIFCoder: AnimatedImageDecoder {
    package func frames(of data: Data, info: ImageInfo) throws -> any FrameReader {
        let entries = try data.read { try GIFHeader.wholeFrames($0) }
        guard !entries.isEmpty else { throw CodecError.damaged(.gif, reason: "its first frame was cut off") }
        return GIFFrameReader(data: data, entries: entries)
    }
}

/// The frames of a GIF, each decoded alone.
struct GIFFrameReader: FrameReader {
    let frames: [AnimationFrame]
    private let data: Data
    private let entries: [GIFFrameEntry]

    init(data: Data, entries: [GIFFrameEntry]) {
        self.data = data
        self.entries = entries
        frames = entries.map { entry in
            AnimationFrame(
                // A frame outside the canvas shows nothing for its duration.
                rect: entry.rect ?? PixelRect(x: 0, y: 0, width: 1, height: 1),
                duration: .milliseconds(entry.delay * 10), disposal: Self.disposal(entry), blend: .over)
        }
    }

    func pixels(at index: Int, context: WorkContext) throws -> Bitmap {
        let entry = entries[index]
        guard let rect = entry.rect else {
            return try Bitmap(size: PixelSize(1, 1), isOpaque: false, pixels: [0, 0, 0, 0])
        }
        return try data.read { try GIFFrame(entry, in: $0).atOrigin.draw(on: rect.size, context: context) }
    }

    /// Returns the disposal of a frame. Values that the format leaves undefined keep the frame, as in browsers.
    private static func disposal(_ entry: GIFFrameEntry) -> AnimationFrame.Disposal {
        guard entry.rect != nil else { return .keep }
        switch entry.disposal {
        case 2: return .clear
        case 3: return .restore
        default: return .keep
        }
    }
}
