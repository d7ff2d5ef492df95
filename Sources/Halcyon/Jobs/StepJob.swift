import HalcyonCodecs
import HalcyonImage
import HalcyonProcessing
import HalcyonSystem

/// A run of processors over the image that the preceding steps make.
@JobActor
struct StepJob {
    let resolved: ResolvedRequest
    let options: DecodeOptions
    /// The processors up to this step, at least one.
    let processors: ArraySlice<any ImageProcessor>
    let subscription: Subscription

    /// Returns the image after `processors`, by a job that is shared by all callers that ask for it at the same time.
    static func image(
        of resolved: ResolvedRequest, options: DecodeOptions, processors: ArraySlice<any ImageProcessor>,
        for subscription: Subscription
    ) async throws -> LoadedImage {
        guard !processors.isEmpty else {
            return try await DecodeJob(resolved: resolved, options: options, subscription: subscription).image()
        }
        let key = key(resolved, options, processors)
        return try await resolved.coordinator.steps.value(for: key, subscription) {
            try await StepJob(resolved: resolved, options: options, processors: processors, subscription: $0).run()
        }
    }

    private func run() async throws -> LoadedImage {
        let run = lastRun
        var image = try await Self.image(
            of: resolved, options: options, processors: processors.dropLast(run.count), for: subscription)
        let (input, watch) = (image.image, Stopwatch())
        image.image = try await subscription.compute { try run.process(input, context: $0) }
        let time = watch.elapsed
        subscription.note(.processed(time))
        image.process = (image.process ?? .zero) + time
        return image
    }

    /// The last processors, which run in one piece of work: fewer of them if another load is already making the image
    /// before them.
    private var lastRun: ArraySlice<any ImageProcessor> {
        let run = processors.lastRun
        let shared = (1..<max(1, run.count)).first {
            resolved.coordinator.steps.isUnderWay(Self.key(resolved, options, processors.dropLast($0)))
        }
        return processors.suffix(shared ?? run.count)
    }

    private static func key(
        _ resolved: ResolvedRequest, _ options: DecodeOptions, _ processors: ArraySlice<any ImageProcessor>
    ) -> LoadKey {
        LoadKey(resolved, image: resolved.key(decode: options, processors: Array(processors))).ofStep
    }
}

extension ResolvedRequest {
    /// Returns the key of the image that another decode and other processors make from the same source.
    func key(decode: DecodeOptions, processors: [any ImageProcessor]) -> ImageKey {
        ImageKey(
            source: key.source, decode: decode, processors: processors, coders: request.coders, user: key.user)
    }
}
