import Foundation
import HalcyonSystem

extension ImageDownloader {
    /// The configuration of a downloader.
    public struct Configuration: Sendable {
        /// The transport that sends the requests.
        public var transport: any Transport
        /// The maximum number of concurrent transfers to one host and port. 6 by default;
        /// `ImageDownloader.transfersPerHost` changes it later.
        public var transfersPerHost = 6
        /// The maximum number of concurrent transfers in all. 24 by default; `ImageDownloader.transfers` changes it later.
        public var transfers = 24
        /// The maximum number of slow transfers that may run in addition, in all. 24 by default.
        ///
        /// A transfer that has waited 10 s for its server gives up its slot, so that slow servers do not block
        /// everything. It still counts among the transfers of its host. If there are more slow transfers and a host
        /// without a running transfer has waiting ones, the slowest ends with `DownloadError` (`TimeoutKind.crowded`),
        /// one per second.
        public var slowTransfers = 24
        /// The timeouts of requests that do not set their own.
        public var timeouts = DownloadTimeouts()
        /// The order of transfers with equal priority. `.firstInFirstOut` by default.
        public var order = DownloadOrder.firstInFirstOut
        /// The fields that every request carries: `User-Agent` names the program and Halcyon.
        public var headers: HTTPHeaders
        /// The fields that identify the user of a request, so that caches keep the responses of different users apart.
        public var credentialFields = CredentialFields.standard
        /// The servers that may be connected to. All by default; use `.publicInternet` for URLs from strangers.
        public var addressPolicy = AddressPolicy.any
        /// The responses that count as success.
        public var accepted = AcceptedContent()
        /// The program's hooks for each transfer.
        public var hooks = DownloadHooks()
        /// The interceptors between callers and transfers, the outermost first. None by default.
        public var interceptors: [any DownloadInterceptor] = []
        /// The retry policy for failed attempts.
        public var retry = RetryPolicy()
        /// The store for bodies of more than 1 MiB while they arrive, and for those whose transfers broke off; nil, the
        /// default, keeps bodies in memory only, and none that broke off.
        public var partialBodies: (any PartialBodyStore)?
        /// Whether a transfer that broke off or was cancelled is resumed by the next one, if the server sent a
        /// validator that is still valid. True by default; without `partialBodies` there is nothing to resume.
        public var resumesBodies = true
        /// The function that waits between attempts; a test replaces it by one that does not wait.
        package var sleep: @Sendable (Duration) async throws -> Void = { try await Task.sleep(for: $0.forTimer) }
        /// The function that returns the fraction of a delay to wait, from 0 to 1.
        package var jitter: @Sendable () -> Double = { Double.random(in: 0...1) }
        /// The monitor that reports whether there is a network, for `RetryPolicy.networkWait`, and whether data use
        /// should be kept low, for the low-data alternatives of image requests.
        public var networkMonitor: any NetworkMonitor = SystemNetworkMonitor()
        /// The clock for dates in `Retry-After` and for the least rate.
        public var time = TimeSource.system

        /// Creates a configuration, by default with a `CurlTransport` and the fields of `defaultHeaders()`.
        public init(transport: any Transport = CurlTransport(), headers: HTTPHeaders = Self.defaultHeaders()) {
            self.transport = transport
            self.headers = headers
        }

        /// Returns `User-Agent: <application>/<version> Halcyon/<version>`, and `Accept` if given.
        ///
        /// - Parameters:
        ///   - application: The name of the application; nil uses the name of the running program.
        ///   - accept: The media types that can be decoded, the preferred first.
        public static func defaultHeaders(
            application: String? = nil, version: String? = nil, accept: String? = nil
        ) -> HTTPHeaders {
            let name = product(application ?? ProcessInfo.processInfo.processName)
            let agent = version.map { "\(name)/\(product($0))" } ?? name
            var headers: HTTPHeaders = ["User-Agent": "\(agent) Halcyon/\(HalcyonVersion.current)"]
            headers["Accept"] = accept
            return headers
        }

        /// Returns a valid token: any character but letters, digits and a few others becomes a dash.
        private static func product(_ text: String) -> String {
            let word = text.map { $0.isASCII && ($0.isLetter || $0.isNumber || "._-+".contains($0)) ? $0 : "-" }
            return word.isEmpty ? "-" : String(word)
        }
    }
}

/// The order of transfers with equal priority that wait for a slot.
public enum DownloadOrder: Sendable, Hashable {
    /// The transfer that has waited longest is first.
    case firstInFirstOut
    /// The newest transfer is first, for example for a list that is scrolled fast, in which the visible images were
    /// requested last. A transfer whose priority changes counts as the newest of its new priority.
    case newestFirst
}

/// The responses that count as success, by status and media type.
public struct AcceptedContent: Sendable, Hashable {
    /// The statuses of a success; 200 to 299 by default. 206 counts only if a part was requested, 304 only if the
    /// request had a validator.
    public var statuses: Set<Int>
    /// The accepted media types, such as `image/png`, or `image/*` for all of a kind; nil, the default, accepts any. If
    /// types are given, a response without a type is refused.
    public var types: [String]?

    /// Creates a rule; omitted arguments take the defaults that the properties state.
    public init(statuses: Set<Int> = Set(200..<300), types: [String]? = nil) {
        self.statuses = statuses
        self.types = types
    }

    /// Returns whether a media type, with or without parameters, is accepted.
    public func accepts(type: String?) -> Bool {
        guard let types else { return true }
        guard let type = type.map(Self.plain), type.contains("/") else { return false }
        return types.contains { entry in
            let entry = Self.plain(entry)
            if entry == "*/*" { return true }
            return entry.hasSuffix("/*") ? type.hasPrefix(entry.dropLast()) : type == entry
        }
    }

    private static func plain(_ type: String) -> String {
        type.prefix { $0 != ";" }.filter { !$0.isWhitespace }.lowercased()
    }
}
