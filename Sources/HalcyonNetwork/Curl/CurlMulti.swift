import CCurl
import CHalcyonCurl

/// The multi handle of libcurl, and the data that its transfers share.
///
/// `@unchecked Sendable` because `wake` is the one call that libcurl allows on any thread, and only the curl thread
/// makes the others.
final class CurlMulti: @unchecked Sendable {
    let handle: UnsafeMutableRawPointer
    /// The share handle; nil if there was no memory for it.
    let share: UnsafeMutableRawPointer?
    /// The turn counter that the connections use; they are closed with the handle.
    let turns: UnsafeMutablePointer<halcyon_curl_turns>

    /// Initializes libcurl, once in a process and before its first use.
    private static let isReady = curl_global_init(Int(CURL_GLOBAL_DEFAULT)) == CURLE_OK

    /// Creates the handle; nil if there is no memory or no file descriptor for it. Without a descriptor libcurl makes a
    /// handle without a wake-up, whose thread would notice each new transfer and each cancellation a minute late.
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

    /// Starts a turn, in which each connection may again be read up to its limit.
    func beginTurn() {
        turns.pointee.number += 1
    }

    /// Ends the current wait of the curl thread, or its next one.
    func wake() {
        curl_multi_wakeup(handle)
    }
}
