import Foundation
import HalcyonNetwork
import HalcyonSystem
import ImageURLs
import Logging

/// The transfers of objects, as `s3://` addresses name them, by a downloader of their own: the store's address and key have no part in
/// other transfers, and these follow no redirect.
///
/// For the pipeline they are transfers as others are: an object is fresh as its fields say, and asked for with its ETag.
struct S3Source: DownloadInterceptor {
    private let endpoint: S3Endpoint
    private let downloader: ImageDownloader

    /// - Parameter base: the configuration of other transfers.
    /// - Throws: `ServerConfigurationError`.
    init(
        _ settings: ServerConfiguration.S3, base: ImageDownloader.Configuration, time: TimeSource, logger: Logger
    ) throws {
        endpoint = try S3Endpoint(settings)
        var configuration = base
        configuration.interceptors = []
        // The parts of bodies are kept by their URLs, and these would be found for a source of that URL.
        configuration.partialBodies = nil
        configuration.addressPolicy = endpoint.addressPolicy
        configuration.transport = S3Transport(
            base: base.transport, signer: try S3Signer(settings), time: time)
        configuration.hooks = DownloadHooks()
        configuration.hooks.response = { head in
            guard (300...399).contains(head.status), head.status != 304 else { return head }
            // The bucket is in another region. The key is for this endpoint alone.
            let region = head.headers["x-amz-bucket-region"].map { "it is in \($0)" } ?? "it says not where"
            logger.warning("a bucket is not in the region of the settings", metadata: ["region": "\(region)"])
            throw DownloadError(.httpStatus(head.status), url: head.url)
        }
        downloader = ImageDownloader(configuration)
    }

    func intercept(_ request: DownloadRequest, next: @escaping Next) async throws -> DownloadResult {
        guard request.url.scheme == "s3" else { return try await next(request) }
        var object = request
        object.url = try Self.url(of: request.url, at: endpoint)
        object.credential = nil
        object.maximumRedirects = 0
        // Fields of clients are none of the store's.
        object.headers = HTTPHeaders()
        for name in ["If-None-Match", "If-Modified-Since", "User-Agent"] {
            object.headers[name] = request.headers[name]
        }
        do {
            var result = try await downloader.download(object)
            result.url = request.url
            return result
        } catch let error as DownloadError {
            throw DownloadError(
                error.reason, url: request.url, responseHeaders: error.responseHeaders, underlying: error.underlying)
        }
    }

    private static func url(of address: URL, at endpoint: S3Endpoint) throws(ImageURLError) -> URL {
        let source: SourceURL
        do { source = try SourceURL(address.absoluteString) } catch { throw .source(error) }
        return try endpoint.url(of: S3Object(source))
    }
}

/// A transport that signs what it sends.
private struct S3Transport: Transport {
    let base: any Transport
    let signer: S3Signer
    let time: TimeSource

    var checksAddresses: Bool { base.checksAddresses }

    func send(_ request: TransportRequest) async throws -> TransportResponse {
        try await base.send(signer.signed(request, at: time.now))
    }
}
