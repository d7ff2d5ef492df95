import BenchSupport
import Foundation
import Halcyon

/// Shows 500 frames of 1000 x 1000 pixels, one after the other and then in any order.
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

    /// Plays the animation once, each frame when it is due by a manual clock.
    @MainActor func play() async throws {
        let file = folder.appending(path: "frames.gif")
        if !FileManager.default.fileExists(atPath: file.path) { try make(file) }
        let data = try Data(contentsOf: file)
        _ = data.reduce(0) { $0 &+ Int($1) }
        // A first animation loads the program's own pages, which do not count as the animation's memory.
        _ = try await play(try small())
        Resident.reset()
        let before = Resident.now
        let shown = try await play(data)
        let growth = Resident.peak - before
        guard shown == 500 else { throw MemoryFailure("\(shown) frames were shown") }
        print(
            "player: 500 frames were shown, grows by \(mebibytes(growth)), "
                + (growth <= 16 << 20 ? "within 16 MiB" : "MORE THAN 16 MiB"))
    }

    /// - Returns: The number of frames that were shown.
    @MainActor private func play(_ data: Data) async throws -> Int {
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
        return shown
    }

    /// Returns a GIF of a hundred frames of 10 x 10 pixels.
    private func small() throws -> Data {
        let frames = try (0..<100).map { index in
            let pixels: [UInt8] = (0..<100).flatMap { place -> [UInt8] in [UInt8(index), UInt8(place), 90, 255] }
            return (try Image(width: 10, height: 10, pixels: pixels), Duration.milliseconds(40))
        }
        return try data(of: frames)
    }

    /// Writes a GIF with a square that moves over a picture.
    private func make(_ file: URL) throws {
        let size = PixelSize(1000, 1000)
        let ground = try Picture.make(size)
        try data(of: try (0..<500).map { (try frame($0, on: ground), .milliseconds(40)) }).write(to: file)
    }

    private func data(of frames: [(Image, Duration)]) throws -> Data {
        let animation = try AnimatedImage(frames: frames)
        let info = ImageInfo(format: .gif, size: animation.size, frameCount: frames.count)
        return try CoderRegistry.shared.encode(
            Image(bitmap: try animation.frame(at: 0), info: info, animation: animation), as: .gif)
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
