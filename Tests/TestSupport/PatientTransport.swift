import Foundation
import Halcyon
import HalcyonNetwork

/// libcurl with time limits far beyond the delays of tests on a busy machine.
public struct PatientTransport: Transport {
    private let transport: CurlTransport

    public init(_ transport: CurlTransport = CurlTransport()) {
        self.transport = transport
    }

    public var checksAddresses: Bool { transport.checksAddresses }
    public var answersDigest: Bool { transport.answersDigest }
    public var sendsCookies: Bool { transport.sendsCookies }

    public func send(_ request: TransportRequest) async throws -> TransportResponse {
        var patient = request
        (patient.connectTimeout, patient.idleTimeout) = (.seconds(300), .seconds(300))
        return try await transport.send(patient)
    }
}

extension ImagePipeline.Configuration {
    /// As it is made by default, but for limits of time.
    public static func patient(cache: ImageCache, coders: CoderRegistry = .shared) -> Self {
        var configuration = Self(cache: cache, coders: coders)
        var download = configuration.downloader.configuration
        download.transport = PatientTransport()
        download.timeouts = .patient
        configuration.downloader = ImageDownloader(download)
        return configuration
    }
}

extension TransportRequest {
    /// A request with time limits far beyond the delays of tests on a busy machine.
    public static func patient(_ url: URL, headers: HTTPHeaders = HTTPHeaders()) -> TransportRequest {
        TransportRequest(url: url, headers: headers, connectTimeout: .seconds(300), idleTimeout: .seconds(300))
    }
}

extension DownloadTimeouts {
    /// The same for downloads.
    public static let patient = DownloadTimeouts(connect: .seconds(300), idle: .seconds(300), minimumRate: .none)
}
