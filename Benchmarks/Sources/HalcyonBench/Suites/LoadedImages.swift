import Foundation
import Halcyon
import HalcyonTesting

/// A pipeline that has loaded images into its memory, and the same images in a plain dictionary.
final class LoadedImages: Sendable {
    let pipeline: ImagePipeline
    let requests: [ImageRequest]
    let urls: [URL]
    /// The URLs as the floor's keys: ready-made strings, as in a program that keeps them.
    let texts: [String]
    let floor: LockedDictionary<String, Image>

    static func make(_ count: Int, tracer: (any LoadTracer)? = nil) async throws -> LoadedImages {
        let file = try CoderRegistry.shared.encode(NoiseImage.make(PixelSize(64, 48), seed: 1), as: .jpeg)
        // Most servers send a max-age, so that a hit has a time to compare.
        let headers: HTTPHeaders = ["Cache-Control": "max-age=86400"]
        let transport = ScriptedTransport { _ in .data(file, headers: headers) }
        let downloader = ImageDownloader(ImageDownloader.Configuration(transport: transport))
        var configuration = ImagePipeline.Configuration(cache: ImageCache(disk: nil), downloader: downloader)
        configuration.tracer = tracer
        let pipeline = ImagePipeline(configuration: configuration)
        let texts = (0..<count).map { "https://images.example.org/photos/2026/\($0).jpg?width=640" }
        let requests = texts.map { ImageRequest(URL(string: $0)) }
        var images: [String: Image] = [:]
        for (text, request) in zip(texts, requests) {
            let image = try await pipeline.image(for: request)
            images[text] = image
            try await pipeline.cache.store(image, for: resized(URL(string: text)), to: .memory)
        }
        return LoadedImages(pipeline, requests, texts, LockedDictionary(images))
    }

    /// Returns a new request for a URL with a processor.
    static func resized(_ url: URL?) -> ImageRequest {
        ImageRequest(url, processors: [.resize(to: PixelSize(320, 240), mode: .fill)])
    }

    private init(
        _ pipeline: ImagePipeline, _ requests: [ImageRequest], _ texts: [String],
        _ floor: LockedDictionary<String, Image>
    ) {
        self.pipeline = pipeline
        self.requests = requests
        self.texts = texts
        urls = requests.compactMap { request in if case .remote(let url) = request.source { url } else { nil } }
        self.floor = floor
    }
}
