import Foundation
import Halcyon

/// 500 frames of 1000 x 1000 pixels, shown one after the other, and then in any order.
struct ManyFrames {
    let folder: URL

    func measure() throws {
        let file = folder.appending(path: "frames.gif")
        if !FileManager.default.fileExists(atPath: file.path) { try make(file) }
        let data = try Data(contentsOf: file)
        _ = data.reduce(0) { $0 &+ Int($1) }
        let canvas = 1000 * 1000 * 4
        Resident.reset()
        let before = Resident.now
        let image = try CoderRegistry.shared.decode(data)
        guard let animation = image.animation, animation.frameCount == 500 else { throw MemoryFailure("no frames") }
        for index in 0..<500 { _ = try animation.frame(at: index) }
        for step in 0..<50 { _ = try animation.frame(at: step * 367 % 500) }
        let growth = Resident.peak - before
        let verdict = growth <= 4 * canvas ? "within" : "MORE THAN"
        print(
            "frames: file \(mebibytes(data.count)), grows by \(mebibytes(growth)), \(verdict) "
                + "\(mebibytes(4 * canvas)), a canvas and three frames")
    }

    /// Played once, each frame when it is due by a clock that is turned by hand.
    @MainActor func play() async throws {
        let file = folder.appending(path: "frames.gif")
        if !FileManager.default.fileExists(atPath: file.path) { try make(file) }
        let data = try Data(contentsOf: file)
        _ = data.reduce(0) { $0 &+ Int($1) }
        Resident.reset()
        let before = Resident.now
        let image = try CoderRegistry.shared.decode(data)
        guard let player = AnimatedImagePlayer(image, configuration: .init(repeatCount: .once)) else {
            throw MemoryFailure("no frames")
        }
        let (ready, continuation) = AsyncStream<Void>.makeStream(bufferingPolicy: .bufferingNewest(1))
        var (shown, time) = (0, Duration.zero)
        player.onFrame = { _, _ in shown += 1 }
        player.onFrameReady = { continuation.yield() }
        player.play()
        var waiting = ready.makeAsyncIterator()
        while player.isPlaying {
            player.advance(to: time)
            if let pause = player.timeToNextFrame { time += pause } else if player.isPlaying { await waiting.next() }
        }
        let growth = Resident.peak - before
        guard shown == 500 else { throw MemoryFailure("\(shown) frames were shown") }
        print(
            "player: 500 frames were shown, grows by \(mebibytes(growth)), "
                + (growth <= 16 << 20 ? "within 16 MiB" : "MORE THAN 16 MiB"))
    }

    /// A square that moves over a picture.
    private func make(_ file: URL) throws {
        let size = PixelSize(1000, 1000)
        let ground = try Picture.make(size)
        let frames = try (0..<500).map { index in (try frame(index, on: ground), Duration.milliseconds(40)) }
        let animation = try AnimatedImage(frames: frames)
        let image = Image(
            bitmap: try animation.frame(at: 0), info: ImageInfo(format: .gif, size: size, frameCount: 500),
            animation: animation)
        try CoderRegistry.shared.encode(image, as: .gif).write(to: file)
    }

    private func frame(_ index: Int, on ground: Image) throws -> Image {
        let (left, top) = (index * 37 % 900, index * 53 % 900)
        let bitmap = try Bitmap(size: ground.size, isOpaque: true) { bytes in
            ground.bitmap.withPixels { bytes.copyMemory(from: $0) }
            for y in top..<top + 100 {
                for x in left..<left + 100 {
                    let offset = (y * 1000 + x) * 4
                    (bytes[offset], bytes[offset + 1], bytes[offset + 2]) = (UInt8(index & 255), 40, 220)
                }
            }
        }
        return Image(bitmap: bitmap, info: ground.info)
    }
}
