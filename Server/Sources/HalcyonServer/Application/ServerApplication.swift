import Foundation
import Halcyon
import HalcyonCache
import HalcyonNetwork
import HalcyonObservability
import HalcyonSystem
import HTTPTypes
import Hummingbird
import HummingbirdCore
import ImageURLs
import Logging
import NIOCore
import RedisStore
import ServiceLifecycle
import Tracing
import UnixSignals

/// The image server: pictures at one port, reports at another.
///
///     let server = try ServerApplication(ServerConfiguration())
///     try await server.run()
public struct ServerApplication: Sendable {
    /// The places that a running server listens at.
    public enum Port: Hashable, Sendable {
        case pictures(Int)
        case reports(Int)
    }

    let pipeline: ImagePipeline
    private let configuration: ServerConfiguration
    private let handler: ImageHandler
    private let health: HealthCheck
    private let metrics: ServerMetrics
    private let pipelineMetrics: PipelineMetrics
    /// The store that the machines of a fleet share.
    private let shared: RedisStore?
    private let logger: Logger
    /// The backend of spans; nil is the one that `InstrumentationSystem` has.
    private let tracer: (any Tracer)?

    /// Creates a server.
    ///
    /// - Parameters:
    ///   - transport: the network; the library's own by default.
    ///   - time: the clock of queues, caches and expirations; the system's by default.
    ///   - tracer: the backend of spans; nil, the default, is the one that `InstrumentationSystem` has.
    /// - Throws: `ServerConfigurationError` or `ConfigurationError` if the settings do not fit together, or name what is not there.
    public init(
        _ configuration: ServerConfiguration, logger: Logger = Logger(label: "halcyon.server"),
        transport: (any Transport)? = nil, time: TimeSource = .system, tracer: (any Tracer)? = nil
    ) throws {
        (self.configuration, self.logger, self.tracer) = (configuration, logger, tracer)
        try Self.check(configuration)
        var schemes: Set<String> = ["http", "https"]
        if configuration.source.folder != nil { schemes.insert("local") }
        if configuration.s3.isEnabled { schemes.insert("s3") }
        let rules = try SourceRules(
            allowed: configuration.source.allow, baseURL: configuration.source.baseURL, schemes: schemes)
        shared = try configuration.cache.redisConfiguration().map {
            RedisStore(configuration: $0, timeSource: time, logger: logger)
        }
        let stores = shared.map { [$0] } ?? []
        pipeline = try Self.pipeline(configuration, rules: rules, stores: stores, logger, transport, time, tracer)
        let registry = PrometheusRegistry()
        metrics = ServerMetrics(registry)
        pipelineMetrics = PipelineMetrics(pipeline, factory: registry)
        health = HealthCheck(pipeline)
        let service = try ImageService(pipeline, configuration, rules: rules, time: time)
        metrics.observe(service)
        if let shared { metrics.observe(shared) }
        let fallback = try configuration.answer.fallback.map {
            FallbackPicture(
                picture: try LocalPicture(
                    path: $0, key: "answer.fallback", maximumBytes: configuration.source.maximumBytes))
        }
        handler = ImageHandler(
            service: service, grammars: try Self.grammars(configuration), configuration: configuration,
            fallback: fallback, metrics: metrics, logger: logger, time: time,
            warm: WarmAnswers(configuration, time: time))
    }

    /// The grammars of URLs, in their order.
    var grammars: [any ImageURLGrammar] { handler.grammars }
    var hosts: HostQueues? { handler.service.originals.hosts }
    var sentBytes: HeldBytes { handler.service.originals.sentBytes }
    /// The places of decodes and encodes.
    var work: CostQueue<ImageService.AnswerKey> { handler.service.work }
    var warm: WarmAnswers { handler.warm }
    /// The answers that the disk or the machines' store had so far.
    var keptAnswers: Int { handler.service.keptAnswers.load(ordering: .relaxed) }
    var answers: MemoryCache<ImageService.AnswerKey, AnswerBytes> { handler.service.answers }
    /// The places of transfers.
    var transfers: CostQueue<String> { handler.service.originals.transfers }

    private static func pipeline(
        _ configuration: ServerConfiguration, rules: SourceRules, stores: [RedisStore], _ logger: Logger,
        _ transport: (any Transport)?,
        _ time: TimeSource, _ tracer: (any Tracer)?
    ) throws -> ImagePipeline {
        let disk = configuration.cache.folder.map {
            DiskCache(
                folder: URL(filePath: $0), configuration: .init(sizeLimit: configuration.cache.diskBytes),
                timeSource: time)
        }
        // Decoded pixels are of no use after their answer.
        let memory = MemoryCacheConfiguration(costLimit: 16 << 20)
        var settings = ImagePipeline.Configuration(
            cache: ImageCache(memory: memory, disk: disk, stores: stores, clock: time),
            maximumBytes: configuration.source.maximumBytes,
            clock: time)
        // A redirect leads nowhere that the rules do not allow.
        let redirect: @Sendable (HTTPResponseHead, RedirectTarget) async throws -> RedirectTarget? = { _, next in
            _ = try rules.check(next.url.absoluteString)
            return next
        }
        try settings.changeDownloader { (download: inout ImageDownloader.Configuration) in
            if let transport { download.transport = transport }
            download.headers.set("User-Agent", "HalcyonServer")
            // An answer to them is one client's own, and they are for no other origin.
            download.credentialFields = CredentialFields(adding: configuration.source.passHeaders)
            download.addressPolicy = configuration.source.allowsPrivateAddresses ? .any : .publicInternet
            download.timeouts.total = configuration.source.timeout
            download.transfers = configuration.queue.transfers
            // Also with hosts that redirects lead to.
            download.transfersPerHost = configuration.queue.transfersPerHost
            download.hooks.redirect = redirect
            if configuration.s3.isEnabled {
                download.interceptors = [
                    try S3Source(configuration.s3, base: download, time: time, logger: logger)
                ]
            }
        }
        if configuration.isolatesDecodes { settings.isolation = .isolated() }
        // The server itself has a line for each request.
        if configuration.logLevel <= .debug { settings.logger = logger }
        settings.tracer = PipelineTracer(tracer)
        return ImagePipeline(configuration: settings)
    }

    private static func grammars(_ configuration: ServerConfiguration) throws -> [any ImageURLGrammar] {
        let signature = configuration.signature
        let pairs = zip(signature.keys, signature.salts).map { (key: $0, salt: $1) }
        // A key for one grammar closes the others too: a URL without a signature would be answered by whichever has none.
        let policy: URLKeys.Policy =
            signature.keys.isEmpty && signature.thumborKeys.isEmpty ? .unsignedWithoutKeys : .signedOnly
        let keys = try URLKeys.imgproxy(pairs, size: signature.size, trusted: signature.trusted, policy: policy)
        var imgproxy = ImgproxyURL.Configuration()
        imgproxy.separator = configuration.url.separator.first ?? ":"
        imgproxy.presets = try ImgproxyPresets(configuration.url.presets, separator: imgproxy.separator)
        let allowed = configuration.url.allowedOptions
        imgproxy.allowedOptions = allowed.isEmpty ? nil : Set(allowed)
        imgproxy.allowsLimits = configuration.url.allowsLimits
        imgproxy.sourceIncludesFilename = configuration.url.sourceIncludesFilename
        imgproxy.onlyPresets = configuration.url.onlyPresets
        var thumbor = ThumborURL.Configuration()
        // The base URL stands before sources as they are written.
        if configuration.source.baseURL != nil { thumbor.defaultScheme = nil }
        return try configuration.url.grammars.map { grammar in
            switch grammar {
            case .plain: PlainURL(keys: keys)
            case .imgproxy: ImgproxyURL(keys: keys, configuration: imgproxy)
            case .thumbor:
                ThumborURL(keys: try .thumbor(signature.thumborKeys, policy: policy), configuration: thumbor)
            }
        }
    }

    /// Refuses settings that would leave a signature or a restriction without effect, and a store without a restriction.
    private static func check(_ configuration: ServerConfiguration) throws {
        guard configuration.signature.keys.count == configuration.signature.salts.count else {
            throw ServerConfigurationError.badValue(key: "signature.salts", reason: "there is one for each key")
        }
        guard !configuration.url.onlyPresets || configuration.url.grammars.allSatisfy({ $0 == .imgproxy }) else {
            throw ServerConfigurationError.badValue(
                key: "url.onlyPresets", reason: "url.grammars has a language that has no presets")
        }
        try checkOrder(configuration)
        // Else strangers would read all buckets of the key.
        guard !configuration.s3.isEnabled || !configuration.source.allow.isEmpty else {
            throw ServerConfigurationError.badValue(
                key: "source.allow", reason: "with s3.enabled it names the buckets, such as s3://photos/")
        }
        for name in configuration.source.passHeaders {
            guard HTTPField.Name(name) != nil, !ServerConfiguration.Source.ownFields.contains(name.lowercased()) else {
                throw ServerConfigurationError.badValue(
                    key: "source.passHeaders", reason: "\(name) is no field, or one of the server's own")
            }
        }
    }

    /// Refuses an order in which a grammar takes URLs of imgproxy's for its own. Without a signature both `/unsafe/w:80/plain/...` and
    /// `/unsafe/host:80/...` are URLs, and with a base URL a source may be any text, also imgproxy's options.
    private static func checkOrder(_ configuration: ServerConfiguration) throws {
        let (grammars, signature) = (configuration.url.grammars, configuration.signature)
        guard signature.keys.isEmpty, signature.thumborKeys.isEmpty, let own = grammars.firstIndex(of: .imgproxy) else {
            return
        }
        let others: [ServerConfiguration.Grammar] =
            configuration.source.baseURL == nil ? [.thumbor] : [.thumbor, .plain]
        guard let other = grammars[..<own].first(where: others.contains) else { return }
        throw ServerConfigurationError.badValue(
            key: "url.grammars",
            reason: "without keys, imgproxy stands before \(other.rawValue), which would take its URLs")
    }

    /// Runs the server until the program gets SIGTERM or SIGINT, or the task is cancelled.
    ///
    /// With the signal no new connection is taken, requests finish within `http.shutdownTimeout`, and what is pending is written to the
    /// disk.
    ///
    /// - Parameter onRunning: called once for each port.
    public func run(
        signals: [UnixSignal] = [.sigterm, .sigint], onRunning: @escaping @Sendable (Port) -> Void = { _ in }
    ) async throws {
        var services: [any Service] = [PipelineService(pipeline, metrics: pipelineMetrics)]
        if configuration.metrics.isEnabled { services.append(reports(onRunning)) }
        services.append(pictures(onRunning))
        services.append(StopNotice(health: health))
        var group = ServiceGroupConfiguration(
            services: services, gracefulShutdownSignals: signals, logger: logger)
        group.maximumGracefulShutdownDuration = configuration.http.shutdownTimeout
        do {
            try await ServiceGroup(configuration: group).run()
        } catch {
            await shared?.shutdown()
            throw error
        }
        await shared?.shutdown()
    }

    private func pictures(_ onRunning: @escaping @Sendable (Port) -> Void) -> some Service {
        let http = configuration.http
        let responder = ServerResponder(handler: handler, health: health, tracer: tracer)
        return Application(
            responder: responder, server: channel(warm: responder),
            configuration: .init(
                address: .hostname(http.host, port: http.port), serverName: ServerConfiguration.HTTP.name,
                availableConnectionsDelegate: MaximumAvailableConnections(http.maximumConnections)),
            onServerRunning: { onRunning(.pictures($0.localAddress?.port ?? 0)) }, logger: logger)
    }

    private func reports(_ onRunning: @escaping @Sendable (Port) -> Void) -> some Service {
        let place = configuration.metrics
        return Application(
            responder: AdminResponder(health: health, metrics: metrics), server: channel(warm: nil),
            configuration: .init(
                address: .hostname(place.host, port: place.port), serverName: ServerConfiguration.HTTP.name,
                availableConnectionsDelegate: MaximumAvailableConnections(64)),
            onServerRunning: { onRunning(.reports($0.localAddress?.port ?? 0)) }, logger: logger)
    }

    /// The connections: their bounds, and the server's patience.
    private func channel(warm: ServerResponder?) -> HTTPServerBuilder {
        let patience = TimeAmount(configuration.http.writeTimeout)
        let http = HTTP1Channel.Configuration(
            additionalChannelHandlers: [ConnectionWatch(writeTimeout: patience)],
            idleTimeout: TimeAmount(configuration.http.idleTimeout),
            httpDecoderConfiguration: .init(
                maxHeaderFieldSize: ImageJob.Bounds.path, maxHeaderListSize: 32 << 10, maxHeaderFieldCount: 100))
        return HTTPServerBuilder {
            ConnectionChannel(channel: HTTP1Channel(responder: $0, configuration: http), warm: warm)
        }
    }
}

/// The service that ends first, so that `/ready` says that the server stops.
private struct StopNotice: Service {
    let health: HealthCheck

    func run() async throws {
        try? await gracefulShutdown()
        health.stop()
    }
}
