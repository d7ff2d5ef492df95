import CCurl
import CHalcyonCurl

/// libcurl's multi handle, and what its transfers share.
///
/// `@unchecked Sendable` because `wake` is the one call that libcurl allows from any thread, and only the curl thread
/// makes the others.
final class CurlMulti: @unchecked Sendable {
    let handle: UnsafeMutableRawPointer
    /// Nil where there is no memory for it.
    let share: UnsafeMutableRawPointer?
    /// For the connections, which go with the handle.
    let turns: UnsafeMutablePointer<halcyon_curl_turns>

    /// libcurl's own start, once in a process and before its first use.
    private static let isReady = curl_global_init(Int(CURL_GLOBAL_DEFAULT)) == CURLE_OK

    /// Nil when there is no memory or no descriptor for it: libcurl makes a handle without a wake-up then, whose thread
    /// would notice each new transfer and each cancel a minute late.
    init?(_ configuration: CurlTransport.Configuration) {
        guard Self.isReady, let handle = halcyon_curl_multi() else { return nil }
        self.handle = handle
        turns = .allocate(capacity: 1)
        turns.initialize(to: halcyon_curl_turns())
        share = halcyon_curl_share(configuration.keepsCookies)
        halcyon_curl_multi_set_long(handle, CURLMOPT_MAXCONNECTS, configuration.idleConnections)
    }

    deinit {
        curl_multi_cleanup(handle)
        if let share { curl_share_cleanup(share) }
        turns.deallocate()
    }

    /// Each connection may be read again as far as it may within one turn.
    func beginTurn() {
        turns.pointee.number += 1
    }

    /// Ends the wait that the curl thread is in, or its next one.
    func wake() {
        curl_multi_wakeup(handle)
    }
}
