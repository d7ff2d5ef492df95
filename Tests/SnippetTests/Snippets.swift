// The examples of README.md and docs/, compiled. SnippetTests looks for each of their Swift blocks in this file.

import Foundation
import Halcyon
import HalcyonCodecs
import Logging

func firstLine(url: URL) async throws {
    let image = try await ImagePipeline.shared.image(for: url)
    _ = image
}

func sizes(url: URL, pipeline: ImagePipeline) async throws {
    let request = ImageRequest(
        url, processors: [.resize(to: PixelSize(320, 240), mode: .fill), .roundCorners(radius: 20)])
    let response = try await pipeline.response(for: request)
    print(response.image.size, response.origin, response.metrics.total)
}

func follow(pipeline: ImagePipeline, request: ImageRequest, show: (Bitmap) -> Void) async throws {
    for try await event in pipeline.events(for: request) {
        switch event {
        case .progress(let progress): print(progress.received, progress.expected ?? 0)
        case .preview(let preview): show(preview.bitmap)
        case .finished(let response): show(response.image.bitmap)
        }
    }
}

func handle(pipeline: ImagePipeline, request: ImageRequest) {
    let task = pipeline.task(for: request)
    task.priority = .high
    task.cancel()

    pipeline.load(request, callbackQueue: .mainAsync) { result in
        if case .failure(let error as ImagePipelineError) = result { print(error.code, error) }
    }
}

/// Some provider's.
struct ShelfIsEmpty: Error {}

func errors(
    pipeline: ImagePipeline, request: ImageRequest, logger: Logger, show: (Image) -> Void, showEmptyShelf: () -> Void
) async throws {
    do {
        show(try await pipeline.image(for: request))
    } catch is CancellationError {
        // Nobody waits for the image any more.
    } catch let error as ImagePipelineError where error.underlying is ShelfIsEmpty {
        showEmptyShelf()
    } catch let error as ImagePipelineError {
        logger.warning("\(error)", metadata: ["stage": "\(error.stage.rawValue)", "code": "\(error.code)"])
    }
}

func ownPipeline(folder: URL) {
    let disk = DiskCache(folder: folder, configuration: .init(sizeLimit: 256 << 20, expiration: .days(30)))
    let memory = MemoryCacheConfiguration(costLimit: 64 << 20)
    let pipeline = ImagePipeline(configuration: .init(cache: ImageCache(memory: memory, disk: disk)))
    _ = pipeline
}

func ownCoder() throws {
    CoderRegistry.shared.add(FarbfeldCoder())
    let image = try Image(contentsOf: URL(filePath: "sky.ff"))
    try image.write(to: URL(filePath: "sky.png"))
}
