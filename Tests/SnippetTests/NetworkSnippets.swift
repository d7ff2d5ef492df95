// The examples of docs/Network.md, compiled. SnippetTests looks for each of its Swift blocks in this file.

import Foundation
import Halcyon
import Logging

func networkRequest(url: URL) -> ImageRequest {
    var request = ImageRequest(url)
    request.network.headers.set("Referer", "https://example.org/")
    request.network.credential = .bearer("token")
    request.network.totalTimeout = .seconds(20)
    request.network.minimumRate = MinimumRate(bytesPerSecond: 1_000, over: .seconds(10))
    request.network.maximumBytes = 10_000_000
    request.network.retries = 0
    return request
}

func networkUser(of request: inout ImageRequest) {
    request.network.user = "alice"
}

func networkLimits(of request: inout ImageRequest) {
    request.decode.limits.maximumSourcePixels = 50_000_000
    request.network.stopsAtLimits = true
}

func networkBootstrap() throws {
    try ImagePipeline.bootstrap { configuration in
        configuration.changeDownloader { $0.retry = RetryPolicy(maximumRetries: 5) }
    }
}

func networkDownloader() -> ImagePipeline {
    let downloader = ImagePipeline.Configuration.defaultDownloader(application: "Gallery", version: "1.2")
    downloader.defaultHeaders.set("Accept-Language", "en")
    return ImagePipeline(configuration: .init(downloader: downloader))
}

func networkTrust() -> ImageDownloader {
    var curl = CurlTransport.Configuration()
    curl.certificateFile = "/etc/ssl/example.pem"
    curl.hostsWithInvalidCertificates = ["printer.local"]
    curl.clientCertificates = ["images.example": ClientCertificate(file: "me.pem", keyFile: "me.key")]
    return ImageDownloader(.init(transport: CurlTransport(curl)))
}

/// Some library's.
protocol AccountOfAReader: Sendable {
    func newToken() async throws -> String
}

func networkTokens(
    settings: ImageDownloader.Configuration, api: URL, account: any AccountOfAReader
) -> ImageDownloader {
    var settings = settings
    settings.interceptors.append(CredentialRefresher(origin: api) { _ in .bearer(try await account.newToken()) })
    return ImageDownloader(settings)
}

func networkHooks(request: ImageRequest, decrypted: @escaping @Sendable (Data) throws -> Data) -> ImageRequest {
    var request = request
    var hooks = DownloadHooks()
    hooks.redirect = { _, next in next.url.scheme == "https" ? next : nil }
    hooks.data = { data, _ in try decrypted(data) }
    request.network.hooks = RequestHooks(id: "sealed, version 1", hooks)
    return request
}

struct WithoutAdvertisements: DownloadInterceptor {
    struct Unwanted: Error {}

    func intercept(_ request: DownloadRequest, next: @escaping Next) async throws -> DownloadResult {
        guard request.url.host() != "ads.example" else { throw Unwanted() }
        return try await next(request)
    }
}

func networkFailures(
    settings: inout ImageDownloader.Configuration, configuration: inout ImagePipeline.Configuration,
    request: inout ImageRequest, mirror: URL, small: URL
) {
    settings.retry = RetryPolicy(maximumRetries: 3, delay: .backoff(), networkWait: .seconds(30))
    settings.retry.failures.timeouts.insert(.idle)
    request.network.retry = RetryPolicy(maximumRetries: 5, delay: .fixed(.seconds(3)), failures: .extended)
    request.alternatives = [ImageSource(mirror)]
    request.lowDataAlternative = ImageSource(small)
    request.network.retriesFailures = true
    configuration.rememberedFailures.duration = .seconds(300)
    configuration.rememberedFailures.keepsOnDisk = true
}

func networkCaching(_ pipeline: ImagePipeline, _ request: ImageRequest) async throws {
    var request = request
    request.cachePolicy.freshness = .respect
    let response = try await pipeline.response(for: request)
    print(response.cacheRule.map { "\($0)" } ?? "not of HTTP")
}

func networkStrangers(settings: inout ImageDownloader.Configuration) {
    settings.addressPolicy = .publicInternet
}

func networkResume(cache: ImageCache) -> ImagePipeline {
    ImagePipeline(configuration: .init(cache: cache, resumesDownloads: false))
}

func networkAnswer(_ pipeline: ImagePipeline, _ request: ImageRequest, asked: String?) async throws {
    let encoded = try await pipeline.encodedImage(for: request, as: .webp(quality: 0.8))
    if encoded.matches(ifNoneMatch: asked) { print("304") }
    print(encoded.mediaType, encoded.etag, encoded.freshness.cacheControl ?? "")
}

func networkEvents(_ pipeline: ImagePipeline) async {
    for await event in pipeline.events {
        if case .ended(.failure(let error)) = event.kind { print(event.source, error.code) }
    }
}

func networkLog() -> ImagePipeline {
    var configuration = ImagePipeline.Configuration()
    configuration.logger = Logger(label: "images")
    return ImagePipeline(configuration: configuration)
}
