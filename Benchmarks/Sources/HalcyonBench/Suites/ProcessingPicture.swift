import Foundation
import Halcyon

/// What is processed: opaque, as a photograph is.
struct ProcessingPicture: Sendable {
    let title: String
    /// What it is resized to.
    let target: PixelSize
    /// How often a run processes it, so that a run is long enough to be timed.
    let repeats: Int
    let image: Image

    init(_ title: String, _ size: PixelSize, target: PixelSize, repeats: Int) throws {
        self.title = title
        self.target = target
        self.repeats = repeats
        image = try NoiseImage.make(size, seed: 7)
    }

    /// Gives it to the peers.
    func load(_ peers: PeerProgram, _ scratch: ScratchFolder) throws {
        let file = scratch.url.appending(path: "pixels")
        try image.bitmap.withPixels { try Data($0).write(to: file) }
        try peers.load(title, file, size: image.size, target: target)
    }
}
