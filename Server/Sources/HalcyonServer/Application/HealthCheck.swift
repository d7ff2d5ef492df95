import Foundation
import Halcyon
import NIOPosix
import Synchronization

/// The answer to whether the server can work: it decodes a picture of one pixel where files of strangers are decoded, at most once a
/// second.
final class HealthCheck: Sendable {
    private struct Last {
        var time: ContinuousClock.Instant
        var isHealthy: Bool
    }

    private let coders: CoderRegistry
    private let isolation: DecodeIsolation
    private let last = Mutex<Last?>(nil)
    private let stops = Atomic(false)

    init(_ pipeline: ImagePipeline) {
        (coders, isolation) = (pipeline.configuration.coders, pipeline.configuration.isolation)
    }

    /// Whether the server is to stop, and takes no new work.
    var isStopping: Bool { stops.load(ordering: .relaxed) }

    func stop() {
        stops.store(true, ordering: .relaxed)
    }

    /// Whether pictures can be decoded.
    func isHealthy() async -> Bool {
        let known = last.withLock { last in
            last.flatMap { ContinuousClock.now - $0.time < .seconds(1) ? $0.isHealthy : nil }
        }
        if let known { return known }
        let now = (try? await NIOThreadPool.singleton.runIfActive { self.decodes() }) ?? false
        last.withLock { $0 = Last(time: .now, isHealthy: now) }
        return now
    }

    private func decodes() -> Bool {
        let options = DecodeOptions(isolation: isolation)
        guard let image = try? coders.decode(Self.pixel, options: options) else { return false }
        return image.size == PixelSize(1, 1)
    }

    /// A GIF of one black pixel.
    private static let pixel = Data([
        0x47, 0x49, 0x46, 0x38, 0x39, 0x61, 1, 0, 1, 0, 0x80, 0, 0, 0, 0, 0, 0xff, 0xff, 0xff, 0x2c, 0, 0, 0, 0, 1, 0,
        1,
        0, 0, 2, 2, 0x44, 1, 0, 0x3b,
    ])
}
