import CCurl
import CHalcyonCurl

/// libcurl's multi handle, and the TLS sessions that its transfers share.
///
/// `@unchecked Sendable` because `wake` is the one call that libcurl allows from any thread, and only the curl thread
/// makes the others.
final class CurlMulti: @unchecked Sendable {
    let handle: UnsafeMutableRawPointer
    let sessions: UnsafeMutableRawPointer?

    /// libcurl's own start, once in a process and before its first use.
    private static let isReady = curl_global_init(Int(CURL_GLOBAL_DEFAULT)) == CURLE_OK

    /// Nil when there is no memory or no descriptor for it.
    init?(idleConnections: Int) {
        guard Self.isReady, let handle = curl_multi_init() else { return nil }
        self.handle = handle
        sessions = halcyon_curl_share_sessions()
        halcyon_curl_multi_set_long(handle, CURLMOPT_MAXCONNECTS, idleConnections)
    }

    deinit {
        curl_multi_cleanup(handle)
        if let sessions { curl_share_cleanup(sessions) }
    }

    /// Ends the wait that the curl thread is in, or its next one.
    func wake() {
        curl_multi_wakeup(handle)
    }
}
