import Foundation
import Halcyon

/// Loads pictures at the size at which they are shown, several at a time, and hands them over in their order.
struct ShowLoader: Sendable {
    /// The maximum bytes of a file that the terminal plays itself.
    static let maximumFile = 8 << 20

    let pipeline: ImagePipeline
    let options: RequestOptions
    /// The processors of the user; the reduction to `box` follows them.
    let processors: [any ImageProcessor]
    let box: PixelSize
    /// Whether a small picture is enlarged to the box.
    let enlarges: Bool
    /// Whether animations are decoded with their frames.
    let plays: Bool
    /// Whether the terminal plays GIF files itself.
    let sendsFiles: Bool
    let concurrency: Int

    /// Loads the sources. At most `concurrency` pictures are in memory beside the one that is handed over.
    func run(
        _ entries: [SourceList.Entry],
        tell: (SourceList.Entry, Result<ShowTile, FailureReport>) async throws -> Void
    ) async throws {
        var running: [(SourceList.Entry, Task<Result<ShowTile, FailureReport>, Never>)] = []
        defer { for (_, task) in running { task.cancel() } }
        for entry in entries {
            if running.count == concurrency {
                let (first, task) = running.removeFirst()
                try await tell(first, await task.value)
            }
            running.append((entry, Task { await load(entry) }))
        }
        while !running.isEmpty {
            let (first, task) = running.removeFirst()
            try await tell(first, await task.value)
        }
    }

    private func load(_ entry: SourceList.Entry) async -> Result<ShowTile, FailureReport> {
        let fitted = processors + [.resize(to: box, mode: .fit, upscale: enlarges)]
        var request = options.request(for: entry.source, processors: fitted)
        request.decode.firstFrameOnly = !plays
        do {
            let response = try await pipeline.response(for: request)
            return .success(ShowTile(response.image, name: entry.text, file: await file(of: response)))
        } catch {
            return .failure(FailureReport(error))
        }
    }

    /// Returns the bytes of an animation that nothing but its size has changed.
    private func file(of response: ImageResponse) async -> Data? {
        guard sendsFiles, processors.isEmpty, response.image.animation != nil, response.image.info.format == .gif,
            let data = try? await response.data(), data.count <= Self.maximumFile
        else { return nil }
        return data
    }
}
