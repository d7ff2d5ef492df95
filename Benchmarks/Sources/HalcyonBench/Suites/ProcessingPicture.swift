import Foundation
import Halcyon

/// A picture to process, opaque like a photograph.
struct ProcessingPicture: Sendable {
    let title: String
    /// The size that it is resized to.
    let target: PixelSize
    /// The number of times that a run processes it, so that a run is long enough to be timed.
    let repeats: Int
    let image: Image

    init(_ title: String, _ size: PixelSize, target: PixelSize, repeats: Int) throws {
        self.title = title
        self.target = target
        self.repeats = repeats
        image = try NoiseImage.make(size, seed: 7)
    }

    /// Loads the picture into the peers.
    func load(_ peers: PeerProgram, _ scratch: ScratchFolder) throws {
        let file = scratch.url.appending(path: "pixels")
        try image.bitmap.withPixels { try Data($0).write(to: file) }
        try peers.load(title, file, size: image.size, target: target)
    }
}
