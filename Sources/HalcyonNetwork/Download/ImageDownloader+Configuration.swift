import Foundation
import HalcyonSystem

extension ImageDownloader {
    /// What a downloader is built with.
    public struct Configuration: Sendable {
        /// What moves the bytes.
        public var transport: any Transport
        /// Transfers at once to one host and port. 6; `ImageDownloader.transfersPerHost` changes it later.
        public var transfersPerHost = 6
        /// Transfers at once in all. 24; `ImageDownloader.transfers` changes it later.
        public var transfers = 24
        /// Transfers that may go on beside those, in all: each that has waited 10 s for its server leaves its place to
        /// others, so that slow servers do not hold everybody up. It still counts among those of its host. When there are
        /// more of them and a host waits of which nothing runs, the slowest ends with `DownloadError`
        /// (`TimeoutKind.crowded`), one a second. 24.
        public var slowTransfers = 24
        /// How long a download may take whose request does not say so itself.
        public var timeouts = DownloadTimeouts()
        /// Who goes first among transfers of equal priority. `.firstInFirstOut`.
        public var order = DownloadOrder.firstInFirstOut
        /// Fields that every request carries: `User-Agent` names the program and Halcyon.
        public var headers: HTTPHeaders
        /// Which fields tell for whom a request is, so that caches keep apart what each user got.
        public var credentialFields = CredentialFields.standard
        /// Which servers may be asked. All by default; `.publicInternet` for URLs from strangers.
        public var addressPolicy = AddressPolicy.any
        /// Which answers are successes.
        public var accepted = AcceptedContent()
        /// What the program does to each transfer.
        public var hooks = DownloadHooks()
        /// Who stands between those who ask and the transfers, the outermost first. Nobody by default.
        public var interceptors: [any DownloadInterceptor] = []
        /// How failed attempts are retried.
        public var retry = RetryPolicy()
        /// Where bodies of more than 1 MiB go while they arrive, and what came of those that broke off; nil, the default,
        /// has them in memory, and none is kept.
        public var partialBodies: (any PartialBodyStore)?
        /// Whether a body that broke off or was cancelled is gone on with the next time, where the server gave a validator
        /// and it still holds. True; without `partialBodies` there is nothing to go on with.
        public var resumesBodies = true
        /// Waits between attempts; a test hands in one that does not.
        public var sleep: @Sendable (Duration) async throws -> Void = { try await Task.sleep(for: $0.forTimer) }
        /// The part of a delay to wait, from 0 to 1.
        public var jitter: @Sendable () -> Double = { Double.random(in: 0...1) }
        /// Where to ask whether there is a network, for `RetryPolicy.networkWait` and for what is loaded otherwise on a
        /// connection that is to be spared.
        public var networkMonitor: any NetworkMonitor = SystemNetworkMonitor()
        /// The clock for dates in Retry-After and for the least rate.
        public var time = TimeSource.system

        public init(transport: any Transport = CurlTransport(), headers: HTTPHeaders = Self.defaultHeaders()) {
            self.transport = transport
            self.headers = headers
        }

        /// `User-Agent: <application>/<version> Halcyon/<version>`, and `Accept` when given.
        ///
        /// - Parameters:
        ///   - application: the running program's name when nil.
        ///   - accept: the formats that can be decoded, the best first.
        public static func defaultHeaders(
            application: String? = nil, version: String? = nil, accept: String? = nil
        ) -> HTTPHeaders {
            let name = product(application ?? ProcessInfo.processInfo.processName)
            let agent = version.map { "\(name)/\(product($0))" } ?? name
            var headers: HTTPHeaders = ["User-Agent": "\(agent) Halcyon/\(HalcyonVersion.current)"]
            headers["Accept"] = accept
            return headers
        }

        /// A word as the protocol allows it: anything but letters, digits and a few signs becomes a dash.
        private static func product(_ text: String) -> String {
            let word = text.map { $0.isASCII && ($0.isLetter || $0.isNumber || "._-+".contains($0)) ? $0 : "-" }
            return word.isEmpty ? "-" : String(word)
        }
    }
}
