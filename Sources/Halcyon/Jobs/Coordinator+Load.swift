import Foundation
import HalcyonCache
import HalcyonCodecs
import HalcyonImage
import HalcyonSystem

extension Coordinator {
    /// The whole way of a request, as one of possibly many who ask.
    func response(for request: ImageRequest, demand: Demand) async throws -> ImageResponse {
        let started = ContinuousClock.now
        let key = ImageKey(request)
        try validate(request)
        // Looked up again: the job that was under way when this request was made may have ended since.
        let loaded: LoadedImage
        if let cached = configuration.cache.image(for: key, policy: request.cache) {
            loaded = LoadedImage(
                image: cached.image, origin: .memory, encodedBytes: cached.encodedBytes, fetched: nil)
        } else {
            loaded = try await loads.value(for: LoadKey(request, image: key), demand: demand, isolation: self) {
                coordinator, demand in
                try await coordinator.load(request, key: key, demand: demand)
            }
        }
        return response(to: request, loaded, started: started)
    }

    private func validate(_ request: ImageRequest) throws {
        if case .malformed(let text, let reason) = request.source {
            throw ImagePipelineError.invalidRequest(
                source: text.isEmpty ? "(no URL)" : request.source.description, reason: reason)
        }
        // Before anything is fetched for it.
        for case let resize as ResizeProcessor in request.processors { try resize.validate() }
    }

    private func response(
        to request: ImageRequest, _ loaded: LoadedImage, started: ContinuousClock.Instant
    ) -> ImageResponse {
        var metrics = LoadMetrics()
        metrics.total = ContinuousClock.now - started
        metrics.decode = loaded.decode
        metrics.process = loaded.process
        metrics.bytes = loaded.encodedBytes
        metrics.transfer = loaded.fetched?.transfer
        return ImageResponse(
            image: loaded.image, origin: loaded.origin, source: request.source, originalSource: request.source,
            metrics: metrics, encoded: encodedBytes(of: request, fetched: loaded.fetched))
    }

    /// A load that nobody has under way: the finished image from disk, else the steps to it.
    private func load(_ request: ImageRequest, key: ImageKey, demand: Demand) async throws -> LoadedImage {
        if let finished = try await finishedImageOnDisk(request, key: key, demand: demand) {
            configuration.cache.remember(finished, for: key, policy: request.cache)
            return LoadedImage(
                image: finished.image, origin: .disk, encodedBytes: finished.encodedBytes, fetched: nil)
        }
        let made = try await image(for: request, demand: demand)
        let fetched = made.fetched
        if fetched.http?.noStore != true {
            let cached = CachedImage(
                image: made.image, encodedBytes: fetched.data.count, freshUntil: fetched.freshUntil)
            configuration.cache.remember(cached, for: key, policy: request.cache)
            storeFinished(made, request: request, key: key)
        }
        return LoadedImage(
            image: made.image, origin: fetched.origin, encodedBytes: fetched.data.count, fetched: fetched,
            decode: made.decode, process: made.process)
    }

    // MARK: - Steps

    /// The image after its processors. Each step is a job, so that two requests whose first steps are equal share them.
    private func image(for request: ImageRequest, demand: Demand) async throws -> DecodedImage {
        let (options, rest) = Self.fuse(request)
        guard request.wantsPreviews else {
            return try await step(request, options: options, processors: rest[...], demand: demand)
        }
        let previewer = Previewer(options: options, processors: rest)
        return try await withPreviews(previewer, for: demand) { coordinator, inner in
            try await coordinator.step(request, options: options, processors: rest[...], demand: inner)
        }
    }

    /// Moves a resize that comes first into the decode, which then reads no more of the image than it needs.
    private static func fuse(_ request: ImageRequest) -> (DecodeOptions, [any ImageProcessor]) {
        guard request.decode.target == nil, let resize = request.processors.first as? ResizeProcessor,
            resize.filter == .lanczos
        else { return (request.decode, request.processors) }
        var options = request.decode
        options.target = TargetSize(resize.size, mode: resize.mode, upscale: resize.upscale)
        return (options, Array(request.processors.dropFirst()))
    }

    private func step(
        _ request: ImageRequest, options: DecodeOptions, processors: ArraySlice<any ImageProcessor>, demand: Demand
    ) async throws -> DecodedImage {
        guard let processor = processors.last else {
            return try await decoded(request, options: options, demand: demand)
        }
        let key = StepKey(
            image: ImageKey(source: request.source.key, decode: options, processors: Array(processors)),
            fetch: FetchKey(request))
        return try await steps.value(for: key, demand: demand, isolation: self) { coordinator, demand in
            var image = try await coordinator.step(
                request, options: options, processors: processors.dropLast(), demand: demand)
            let input = image.image
            let started = ContinuousClock.now
            image.image = try await coordinator.compute(for: demand) { try processor.process(input, context: $0) }
            image.process = (image.process ?? .zero) + (ContinuousClock.now - started)
            return image
        }
    }

    // MARK: - The finished image on disk

    private func finishedImageOnDisk(
        _ request: ImageRequest, key: ImageKey, demand: Demand
    ) async throws -> CachedImage? {
        guard request.cache.reads.contains(.diskProcessed), !key.processors.isEmpty || key.decode.target != nil,
            case .remote = request.source, let disk = configuration.cache.disk
        else { return nil }
        let diskKey = key.processedDiskKey
        guard let entry = await disk.entry(for: diskKey) else { return nil }
        try Task.checkCancellation()
        guard let stored = FinishedImage(entry) else { return nil }
        if request.cache.freshness == .respect, let end = stored.freshUntil, end <= configuration.clock.now {
            return nil
        }
        let coders = configuration.coders
        do {
            let pixels = try await compute(for: demand) { try coders.decode(entry.data, context: $0) }
            let image = Image(bitmap: pixels.bitmap, info: stored.info)
            return CachedImage(image: image, encodedBytes: entry.data.count, freshUntil: stored.freshUntil)
        } catch is CodecError {
            await disk.remove(diskKey)
            return nil
        }
    }

    private func storeFinished(_ made: DecodedImage, request: ImageRequest, key: ImageKey) {
        guard request.cache.writes.contains(.diskProcessed), case .remote = request.source,
            let disk = configuration.cache.disk
        else { return }
        let coders = configuration.coders
        let metadata = FinishedImage(info: made.image.info, freshUntil: made.fetched.freshUntil).encoded
        // Nobody waits for it, and a result that cannot be encoded or has no room is only not cached.
        ExecutionDomains.cpu.submit(priority: .veryLow) {
            guard let data = try? coders.encode(made.image, as: .png) else { return }
            disk.stageIfRoom(data, metadata: metadata, for: key.processedDiskKey, expiration: request.cache.expiration)
        }
    }
}
