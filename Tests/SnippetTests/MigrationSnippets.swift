// The examples of docs/Migrating.md, compiled. SnippetTests looks for its Swift blocks in this file; MigratingTests for each
// piece of code of its tables, as a line of its own, with a comma or `.self` where it stands in a list.

import Foundation
import Halcyon
import HalcyonCache
import HalcyonVideo
import Logging

private func videoExample(_ video: URL, _ request: inout ImageRequest) {
    request.source = .provider(VideoFrame(video, at: .seconds(3)))
}

/// The other parts of a program that the examples use.
private struct Program {
    let url: URL
    let path: String
    let small: URL
    let mirror: URL
    let data: Data
    let first: Image
    let second: Image
    let thumbnails: ImageCache
    let originals: ImageCache
    let transport: CurlTransport
    let interceptor: any DownloadInterceptor
    let loads: any ImageInterceptor
    let newToken: @Sendable () async throws -> String
}

private func signed(_ request: DownloadRequest) async throws -> DownloadRequest? { request }
private func decrypted(_ data: Data) throws -> Data? { data }
private func drawnChart() throws -> Image { try Image(width: 1, height: 1, pixels: [0, 0, 255, 255]) }
private func prepared(_ request: ImageRequest) -> ImageRequest { request }
private func count(_ bytes: Int) {}
private func ownDelay(_ error: DownloadError, _ retries: Int) -> Duration? { nil }

/// The cover of a book, from a database.
private struct Cover: ImageDataProvider {
    let id: Int

    var cacheKey: String { "cover-\(id)" }

    func data() async throws -> Data { Data() }
}

// MARK: - The blocks

func migrationFirstLine(url: URL) async throws {
    let image = try await ImagePipeline.shared.image(for: url)
    _ = image
}

func migrationChain(url: URL, small: URL, show: @escaping @Sendable (Image) -> Void) {
    var request = ImageRequest(
        url, processors: [.resize(to: PixelSize(320, 240), mode: .fill), .roundCorners(radius: 20)])
    request.priority = .high
    request.cachePolicy.diskExpiration = .days(30)
    request.alternatives = [ImageSource(small)]
    ImagePipeline.shared.load(request, callbackQueue: .mainOrInline) { result in
        if case .success(let response) = result { show(response.image) }
    }
}

func migrationRequest(url: URL) -> ImageRequest {
    ImageRequest(
        url, processors: [.resize(to: PixelSize(320, 240))], decode: DecodeOptions(firstFrameOnly: true),
        cachePolicy: .reload, priority: .high)
}

func migrationDefaults() -> ImagePipeline {
    var configuration = ImagePipeline.Configuration()
    configuration.requestModifier = { request in
        var request = request
        request.cachePolicy.diskExpiration = request.cachePolicy.diskExpiration ?? .days(30)
        return request
    }
    return ImagePipeline(configuration: configuration)
}

// MARK: - The tables: what stands in a list

private func sources(_ program: Program) -> [ImageSource] {
    let (url, path, data) = (program.url, program.path, program.data)
    return [
        ImageSource(url),
        ImageSource(string: path),
        .data(data, key: "avatar-7"),
        .base64("iVBORw0KGgo=", key: "dot"),
        .file(URL(filePath: path)),
        .provider(Cover(id: 7)),
        .image(key: "chart") { try drawnChart() },
    ]
}

// MARK: - The tables: statements

private func requestPropertyExamples(_ program: Program) -> ImageRequest {
    let (small, mirror) = (program.small, program.mirror)
    var request = ImageRequest(program.url)
    request.source = .provider(Cover(id: 7))
    request.cacheKey = "avatar-7"
    request.priority = .low
    request.priority = .high
    request.processors = [.resize(to: PixelSize(320, 240)), .roundCorners(radius: 20)]
    request.processors = []
    request.scale = 2
    request.progressStep = ProgressStep(fraction: 0.05)
    request.modifier = .template
    request.alternatives = [ImageSource(mirror)]
    request.lowDataAlternative = ImageSource(small)
    request.coders = CoderRegistry([FarbfeldCoder()])
    request.serializer = FixedFormatCacheSerializer(.webp, options: EncodeOptions(quality: 0.8))
    request.serializer = FixedFormatCacheSerializer.jpeg(quality: 0.8)
    request.targetCache = program.thumbnails
    request.originalCache = program.originals
    request.wantsPreviews = true
    request.wantsEveryPreview = true
    return request
}

private func decodeOptionExamples(_ request: inout ImageRequest) {
    request.decode = DecodeOptions(target: TargetSize(PixelSize(320, 240)), firstFrameOnly: true)
    request.decode.target = TargetSize(PixelSize(320, 240))
    request.decode.target = TargetSize(PixelSize(320, 240), mode: .fill)
    request.decode.target = TargetSize(PixelSize(320, 240), mode: .stretch)
    request.decode.maximumBytes = .large
    request.decode.maximumBytes = 8_000_000
    request.decode.firstFrameOnly = true
    request.decode.preloadAllFrames = true
}

private func cachePolicyExamples(_ request: inout ImageRequest) {
    request.cachePolicy = .default
    request.cachePolicy = .reload
    request.cachePolicy = .revalidate
    request.cachePolicy = .showStaleAndRevalidate
    request.cachePolicy = .memoryOrReload
    request.cachePolicy = .memoryOnly
    request.cachePolicy = .onlyIfCached
    request.cachePolicy = .noStore
    request.cachePolicy = .storeProcessed
    request.cachePolicy = .keepOriginal
    request.cachePolicy.reads.remove(.memory)
    request.cachePolicy.writes.remove(.memory)
    request.cachePolicy.reads.remove(.disk)
    request.cachePolicy.writes.remove(.disk)
    request.cachePolicy.reads = []
    request.cachePolicy.reads = [.memory, .diskProcessed]
    request.cachePolicy.reads.insert(.diskOriginal)
    request.cachePolicy.writes = .memory
    request.cachePolicy.writes = [.memory, .diskProcessed]
    request.cachePolicy.writes.remove(.diskOriginal)
    request.cachePolicy.freshness = .ignore
    request.cachePolicy.waitsForStore = true
    request.cachePolicy.readsDiskSynchronously = true
    request.cachePolicy.memoryExpiration = .seconds(60)
    request.cachePolicy.diskExpiration = .days(30)
    request.cachePolicy.memoryExtension = .expirationTime(.seconds(60))
    request.cachePolicy.diskExtension = .expirationTime(.seconds(86_400))
}

private func networkOptionExamples(_ request: inout ImageRequest, hooks: DownloadHooks) {
    request.network.headers.set("Referer", "https://example.org/")
    request.network.headers.set("Cookie", "session=1")
    request.network.credential = .basic(user: "reader", password: "secret")
    request.network.credential = .digest(user: "reader", password: "secret")
    request.network.hooks = RequestHooks(id: "signed", hooks)
    request.network.retry = RetryPolicy(maximumRetries: 3, delay: .accumulating(.seconds(3)))
    request.network.retries = 3
    request.network.retriesFailures = true
    request.network.totalTimeout = .seconds(15)
    request.network.connectTimeout = .seconds(10)
    request.network.idleTimeout = .seconds(15)
    request.network.minimumRate = MinimumRate(bytesPerSecond: 100, over: .seconds(30))
}

private func downloaderConfigurationExamples(_ program: Program) -> ImageDownloader {
    var curl = CurlTransport.Configuration()
    curl.keepsCookies = true
    curl.certificateFile = "/etc/ssl/example.pem"
    curl.hostsWithInvalidCertificates = ["printer.local"]
    curl.clientCertificates = ["images.example": ClientCertificate(file: "me.pem")]
    var settings = ImageDownloader.Configuration(transport: CurlTransport(curl))
    settings.transport = program.transport
    settings.interceptors = [program.interceptor]
    let (mirror, newToken) = (program.mirror, program.newToken)
    settings.interceptors.append(CredentialRefresher(origin: mirror) { _ in .bearer(try await newToken()) })
    settings.transfersPerHost = 6
    settings.transfers = 24
    settings.order = .newestFirst
    settings.headers.set("Accept", "image/webp,*/*;q=0.8")
    settings.accepted.statuses = [200, 203]
    settings.accepted.types = ["image/*"]
    settings.timeouts.idle = .seconds(15)
    settings.retry = RetryPolicy(maximumRetries: 3, delay: .accumulating(.seconds(3)))
    settings.retry.failures = .extended
    settings.retry.delay = .custom("own") { error, retries in ownDelay(error, retries) }
    settings.retry.networkWait = .seconds(30)
    settings.networkMonitor = SystemNetworkMonitor(isConstrained: { true })
    settings.hooks.request = { try await signed($0) }
    settings.hooks.redirect = { _, next in next.url.scheme == "https" ? next : nil }
    settings.hooks.response = { head in head.status == 203 ? nil : head }
    settings.hooks.wantsBody = { head in head.headers["Content-Type"] != "text/html" }
    settings.hooks.data = { data, _ in try decrypted(data) }
    settings.hooks.chunk = { chunk, _ in count(chunk.count) }
    return ImageDownloader(settings)
}

private func runningDownloaderExamples(_ downloader: ImageDownloader, url: URL) async throws {
    let result = try await downloader.download(url)
    downloader.defaultHeaders.set("Accept", "image/*")
    downloader.setDefaultHeader("Accept", "image/*")
    downloader.suspend()
    downloader.resume()
    downloader.cancel(url)
    downloader.cancelAll()
    print(downloader.activeCount)
    print(result.data.count, result.metrics as Any)
}

private func pipelineExamples(
    _ program: Program, downloader: ImageDownloader, disk: DiskCache, store: any CacheStore
) -> ImagePipeline {
    let cache = ImageCache(disk: disk, serializer: .jpeg(quality: 0.8), keyFilter: .s3())
    var configuration = ImagePipeline.Configuration(cache: cache, downloader: downloader)
    configuration.cache = ImageCache(disk: nil, stores: [store])
    configuration.originalCache = program.originals
    configuration.downloader = downloader
    configuration.coders = CoderRegistry.standard()
    configuration.processingThreads = ProcessingThreads(count: 2)
    configuration.requestModifier = { prepared($0) }
    configuration.providers.append { $0.scheme == "book" ? Cover(id: 7) : nil }
    configuration.defaults.cachePolicy = .storeProcessed
    configuration.defaults.progressStep = ProgressStep(fraction: 0.05)
    configuration.interceptors.append(program.loads)
    configuration.previews.blursFirstScans = true
    configuration.previews.interval = .milliseconds(500)
    configuration.previews.showsEmbeddedThumbnail = true
    configuration.rememberedFailures = .none
    configuration.rememberedFailures.duration = .seconds(300)
    configuration.rememberedFailures.isRemembered = { $0.code == "httpStatus" }
    configuration.logger = Logger(label: "images")
    configuration.downloader = ImagePipeline.Configuration.defaultDownloader(application: "Gallery", version: "1.2")
    return ImagePipeline(configuration: configuration)
}

private func partialBodyExamples(_ settings: inout ImageDownloader.Configuration, disk: DiskCache) -> ImagePipeline {
    settings.partialBodies = PartialBodyFiles(in: disk)
    let configuration = ImagePipeline.Configuration(resumesDownloads: false)
    return ImagePipeline(configuration: configuration)
}

private func loadExamples(
    _ request: ImageRequest, url: URL, pipeline: ImagePipeline, show: @escaping @Sendable (Image?) -> Void
) async throws {
    let task = pipeline.task(for: request)
    task.priority = .veryHigh
    task.cancel()
    let response = try await pipeline.response(for: request)
    let bytes = try await response.data()
    let data = try await pipeline.data(for: request)
    let encoded = try await pipeline.encodedImage(for: request, as: .webp(quality: 0.8))
    for try await event in pipeline.events(for: request) { print(event) }
    for await event in pipeline.events { print(event) }
    pipeline.load(request, callbackQueue: .mainOrInline) { show(try? $0.get().image) }
    pipeline.cancelAll()
    pipeline.forgetFailures()
    pipeline.forgetFailures(url)
    await pipeline.shutdown()
    print(await pipeline.runningCount)
    _ = (bytes, data, encoded)
}

private func imageCacheExamples(_ cache: ImageCache, url: URL, image: Image, data: Data) async throws {
    let shown = cache.image(inMemoryFor: url)
    let found = try await cache.image(for: url)
    let level = await cache.cachedLevel(for: url)
    try await cache.store(image, original: data, for: url)
    try await cache.store(image, for: "avatar of user 7", extended: data)
    let extended = await cache.extendedData(for: "avatar of user 7")
    await cache.remove(url)
    await cache.remove(url, from: .memory)
    cache.clearMemory()
    await cache.clearDisk()
    await cache.removeExpired(from: .memory)
    await cache.removeExpired(from: .disk)
    await cache.shutdown(within: .seconds(2))
    print(await cache.diskSize)
    print(cache.memoryStatistics.cost)
    _ = (shown, found, level, extended)
}

private func cacheLimitExamples(_ cache: ImageCache) {
    cache.memoryConfiguration.costLimit = 32 << 20
    cache.memoryConfiguration.countLimit = 100
    cache.disk?.sizeLimit = 256 << 20
    cache.disk?.expiration = .days(90)
}

private func cacheLevelExamples(bundled: URL, folder: URL) async {
    let memory = MemoryCacheConfiguration(costLimit: 64 << 20, countLimit: 500, timeToLive: .seconds(300))
    var disk = DiskCache.Configuration(sizeLimit: 512 << 20, expiration: .days(30))
    disk.usesHashedFileName = false
    disk.fileExtension = .fixed("jpg")
    disk.synchronization = .data
    disk.mappedReads = 1 << 20
    disk.readOnlyFolders = [bundled]
    let files = DiskCache(folder: folder, configuration: disk)
    let path = files.path(for: CacheKey("avatar of user 7"))
    for await removal in files.removals { print(removal.fileNames) }
    _ = (memory, path)
}

private func prefetcherExamples(_ requests: [ImageRequest]) async {
    let prefetcher = ImagePrefetcher(requests, destination: .memory, concurrency: 5)
    prefetcher.start()
    prefetcher.pause()
    prefetcher.stop()
    for await progress in prefetcher.progress { print(progress.skipped, progress.failed, progress.completed) }
    let outcome = await prefetcher.run()
    _ = outcome
}

private func imageValueExamples(_ program: Program) throws {
    let (data, first, second) = (program.data, program.first, program.second)
    let format = FormatSniffer.format(of: data)
    let image = try Image(data: data)
    let file = try Image(contentsOf: URL(filePath: program.path))
    let encoded = try image.data(as: .png)
    let smaller = try image.data(as: .jpeg, quality: 0.8)
    try image.write(to: URL(filePath: "avatar.png"))
    try image.write(to: URL(filePath: "avatar.jpg"), quality: 0.8)
    let registration = CoderRegistry.shared.add(FarbfeldCoder())
    CoderRegistry.shared.remove(registration)
    print(CoderRegistry.shared.decodableFormats, CoderRegistry.shared.canEncode(.webp))
    let animation = try AnimatedImage(frames: [(first, .seconds(3)), (second, .seconds(1))])
    let timeline = animation.uniformTimeline()
    let merged = timeline?.merged()
    print(image.info.isAnimated, image.info.loopCount ?? 1)
    print(image.cost, image.scale)
    print(image.color(x: 3, y: 4) ?? .clear, image.averageColor() ?? .clear)
    _ = (format, file, encoded, smaller, merged)
}
