import CCurl
import CHalcyonCurl
import Foundation

/// The libcurl handle of one transfer. Only the curl thread uses it.
final class CurlEasy {
    let handle: UnsafeMutableRawPointer
    let transfer: CurlTransfer
    var fields: UnsafeMutablePointer<curl_slist>?
    let errorText = UnsafeMutablePointer<CChar>.allocate(capacity: Int(CURL_ERROR_SIZE))
    private var parser: CurlHeadParser
    /// The problem that a callback has found; libcurl itself only reports "aborted".
    private var failure: DownloadError.Reason?
    private let turn: CurlTurn

    private let totalDeadline: ContinuousClock.Instant?
    /// The time of the last activity; nil until the connection is established and while the reader holds the transfer up.
    private var lastActivity: ContinuousClock.Instant?
    private var isPaused = false {
        didSet { if isPaused != oldValue { turn.pausedCount += isPaused ? 1 : -1 } }
    }
    /// The number of bytes of the body that libcurl has delivered.
    private var handedOut = 0
    /// Whether libcurl is delivering the bytes that it holds of a transfer that stays paused.
    private var isTakingHeld = false
    /// The latest possible position in the body at which libcurl last enlarged the stream's window.
    private var windowStart = 0

    /// The number of bytes of a proxy's answer that arrived in a turn, before the connection is established.
    private var tunnelBytes = 0
    private var tunnelTurn = 0

    /// How often the request was sent: again if a connection had broken before its response.
    private var sendings = 0
    private var hasFailed = false

    /// Whether the handle is freed with this transfer.
    private var ownsHandle = true

    /// A handle without a transfer.
    struct Spare {
        let handle: UnsafeMutableRawPointer
        /// Whether it has the settings of all plain transfers of this transport.
        var isPrepared = false
    }

    /// Creates the handle's owner and sets its options.
    ///
    /// - Parameter spare: A new handle, or one that another transfer has given back.
    init(_ transfer: CurlTransfer, spare: Spare, multi: CurlMulti, turn: CurlTurn) {
        handle = spare.handle
        self.transfer = transfer
        self.turn = turn
        parser = CurlHeadParser(url: transfer.request.url, holdsChallenges: transfer.request.digest != nil)
        totalDeadline = transfer.request.totalTimeout?.limit.map { turn.now.advanced(by: $0) }
        errorText.initialize(repeating: 0, count: Int(CURL_ERROR_SIZE))
        configure(isPrepared: spare.isPrepared, multi: multi)
    }

    deinit {
        if isPaused { turn.pausedCount -= 1 }
        if ownsHandle { curl_easy_cleanup(handle) }
        curl_slist_free_all(fields)
        errorText.deallocate()
    }

    /// Returns the handle for reuse after the end, as creating one, with its buffer, costs as much as a small transfer;
    /// nil if it has seen a secret.
    ///
    /// libcurl counts repeated requests in the handle, against a limit for one transfer, and only a reset clears the count.
    func giveBack() -> Spare? {
        guard transfer.request.digest == nil else { return nil }
        ownsHandle = false
        guard isPlain, sendings <= 1, !hasFailed else {
            curl_easy_reset(handle)
            return Spare(handle: handle)
        }
        forgetTransfer()
        return Spare(handle: handle, isPrepared: true)
    }

    // MARK: Callbacks, whose return values follow libcurl's conventions

    /// Called when a connection is ready, which may be a reused one.
    ///
    /// - Returns: Whether the request may be sent on it.
    func connected(to remote: UnsafePointer<CChar>?) -> Bool {
        touch()
        sendings += 1
        if let deadline { turn.watch(deadline) }
        // Another address of the same name may have been refused before.
        failure = nil
        guard transfer.request.addressPolicy.requiresPublicAddress else { return true }
        let text = remote.map { String(cString: $0) } ?? ""
        return allows(IPAddress(host: text), text)
    }

    /// Returns whether libcurl may connect to an address.
    func allows(_ address: UnsafePointer<curl_sockaddr>?) -> Bool {
        guard transfer.request.addressPolicy.requiresPublicAddress else { return true }
        var bytes = [UInt8](repeating: 0, count: 16)
        let count = Int(halcyon_curl_address(address, &bytes))
        return allows(IPAddress(bytes: Array(bytes.prefix(count))), "of an unknown kind")
    }

    /// Stores the reason why a socket could not be created, which libcurl does not keep.
    func socketFailed(_ code: Int32) {
        guard case nil = failure, let reason = CurlFailure.exhaustion(code) else { return }
        failure = reason
    }

    /// Counts the bytes of a proxy's answer: before the connection is established, each of them causes one call.
    ///
    /// - Returns: Whether the answer is short enough.
    func progressed() -> Bool {
        guard lastActivity == nil else { return true }
        if tunnelTurn != turn.number { (tunnelTurn, tunnelBytes) = (turn.number, 0) }
        tunnelBytes += 1
        guard tunnelBytes > CurlHeadParser.limit else { return true }
        failure = .connection(.proxy)
        return false
    }

    func allows(_ address: IPAddress?, _ text: String) -> Bool {
        if let address, transfer.request.addressPolicy.allows(address) { return true }
        failure = .refusedAddress(address.map { "\($0)" } ?? text)
        return false
    }

    /// Reads a line of a head. A single line does not count as activity, only a whole head does, so that a server
    /// cannot send them slowly for ever.
    func read(line: UnsafeRawBufferPointer) -> Int {
        switch parser.read(line: line) {
        case .more: break
        case .head(let head):
            touch()
            deliver(head)
        case .refused(let reason):
            failure = reason
            return 0
        }
        return line.count
    }

    private func deliver(_ head: HTTPResponseHead) {
        transfer.deliver(head)
        turn.change(transfer)
    }

    func receive(_ bytes: UnsafeRawBufferPointer) -> Int {
        if let head = parser.takeHeld() { deliver(head) }
        if isTakingHeld {
            handedOut += bytes.count
            transfer.hold(bytes)
            turn.change(transfer)
            return bytes.count
        }
        switch transfer.receive(bytes) {
        case .taken:
            handedOut += bytes.count
            noteWindow(handedOut)
            touch()
            turn.change(transfer)
            return bytes.count
        case .pause:
            isPaused = true
            return Int(CURL_WRITEFUNC_PAUSE)
        }
    }

    /// Resumes the transfer when the reader has made room: libcurl delivers the bytes that it holds within this call.
    func resume() {
        guard isPaused else { return }
        if heldBytes > Self.heldLimit {
            noteWindow(arrived)
            takeHeld()
            // The reader has enough for now.
            guard !transfer.isPaused else { return }
        }
        isPaused = false
        touch()
        curl_easy_pause(handle, CURLPAUSE_CONT)
        if let deadline { turn.watch(deadline) }
    }

    /// Makes libcurl deliver the bytes that it holds of a paused transfer that has ended, to be dropped.
    ///
    /// Otherwise that memory leaks (seen with 7.88.1) if the connection is shared with other HTTP/2 streams.
    func discard() {
        guard isPaused else { return }
        isPaused = false
        curl_easy_pause(handle, CURLPAUSE_CONT)
    }

    // MARK: Paused streams that continue to arrive

    /// Takes the bytes that libcurl holds of a paused transfer, once there are many of them.
    ///
    /// If its connection is shared, a paused stream continues to arrive until its window of 32 MiB is used up. libcurl
    /// 7.88 copies the bytes that it holds of it at each resumption. When it delivers them, libcurl opens the window,
    /// and enlarges it again once half of it is used up. So the second half stays in libcurl until the first one has
    /// been read, and a transfer never holds more than that half and a new window: 48 MiB.
    func takeHeldBytes() {
        guard isPaused, heldBytes > Self.heldLimit, arrived - windowStart < Self.halfWindow - Self.heldLimit else {
            return
        }
        takeHeld()
    }

    private func takeHeld() {
        isTakingHeld = true
        curl_easy_pause(handle, CURLPAUSE_CONT)
        curl_easy_pause(handle, CURLPAUSE_RECV)
        isTakingHeld = false
    }

    private func noteWindow(_ position: Int) {
        if position - windowStart >= Self.halfWindow { windowStart = position }
    }

    /// The number of bytes of the body that have arrived from the connection, and of those that libcurl has not delivered.
    private var arrived: Int { Int(offset(CURLINFO_SIZE_DOWNLOAD_T)) }
    private var heldBytes: Int { arrived - handedOut }

    /// 1 MiB: more than libcurl holds of a transfer that does not share its connection.
    private static let heldLimit = 1 << 20
    private static let halfWindow = 16 << 20

    // MARK: Shared connections

    /// The identity of this transfer's connection among the open ones; nil if the connection carries one transfer at a time.
    var sharedConnection: SharedConnection? {
        // Until a reused handle has a connection of its own, it reports the previous one.
        guard lastActivity != nil, number(CURLINFO_HTTP_VERSION) == Int(CURL_HTTP_VERSION_2_0) else { return nil }
        return SharedConnection(
            host: transfer.request.url.host(percentEncoded: true)?.lowercased(),
            localPort: number(CURLINFO_LOCAL_PORT), port: number(CURLINFO_PRIMARY_PORT))
    }

    /// The identity of a shared connection. libcurl has no number for it before 8.2, and two connections to different
    /// hosts may have the same ports.
    struct SharedConnection: Equatable {
        let host: String?
        let localPort: Int
        let port: Int
    }

    /// Makes libcurl close the connection when this transfer leaves it, unless it has other transfers.
    func closeWithConnection() {
        set(CURLOPT_FORBID_REUSE, 1)
    }

    /// Makes libcurl send the data that it holds ready for the connection, which it does at each change of the paused state.
    func flushConnection() {
        let state = isPaused ? CURLPAUSE_RECV : CURLPAUSE_CONT
        curl_easy_pause(handle, state | CURLPAUSE_SEND)
        curl_easy_pause(handle, state)
    }

    // MARK: Time limits

    private func touch() {
        lastActivity = turn.now
    }

    /// The time when the next of its limits expires. libcurl watches the limit for connecting.
    var deadline: ContinuousClock.Instant? {
        let idle = isPaused ? nil : transfer.request.idleTimeout.limit.flatMap { lastActivity?.advanced(by: $0) }
        guard let totalDeadline else { return idle }
        return idle.map { min($0, totalDeadline) } ?? totalDeadline
    }

    func expiredLimit(_ now: ContinuousClock.Instant) -> TimeoutKind {
        totalDeadline.map { $0 <= now } ?? false ? .total : .idle
    }

    // MARK: The end

    /// Returns the error of a result code; nil for a success.
    func failure(of code: CURLcode) -> DownloadError? {
        // The only redirects that libcurl follows here are answers to challenges; one too many is a refusal.
        if code == CURLE_OK || code == CURLE_TOO_MANY_REDIRECTS, let head = parser.takeHeld() {
            deliver(head)
            return nil
        }
        guard code != CURLE_OK else { return nil }
        hasFailed = true
        let reason =
            failure ?? lineFailure(of: code)
            ?? CurlFailure(handle: handle, errorText: String(cString: errorText)).reason(of: code)
        return DownloadError(reason, url: transfer.request.url)
    }

    /// Returns the error of an invalid head. libcurl has no code of its own for a line that is too long for it, or that
    /// continues no field.
    private func lineFailure(of code: CURLcode) -> DownloadError.Reason? {
        guard lastActivity != nil, !parser.isDone else { return nil }
        return switch code {
        case CURLE_OUT_OF_MEMORY: .tooLarge(limit: CurlHeadParser.limit)
        case CURLE_BAD_FUNCTION_ARGUMENT: .connection(.badAnswer)
        default: nil
        }
    }

    private func number(_ info: CURLINFO) -> Int {
        var value = 0
        halcyon_curl_get_long(handle, info, &value)
        return value
    }

    private func offset(_ info: CURLINFO) -> Int64 {
        var value: Int64 = 0
        halcyon_curl_get_offset(handle, info, &value)
        return value
    }

    func metrics() -> TransportMetrics {
        func time(_ info: CURLINFO) -> Duration { .microseconds(offset(info)) }
        let version: HTTPVersion =
            switch number(CURLINFO_HTTP_VERSION) {
            case Int(CURL_HTTP_VERSION_1_0): .http10
            case Int(CURL_HTTP_VERSION_2_0): .http2
            case 30: .http3
            default: .http11
            }
        return TransportMetrics(
            nameLookup: time(CURLINFO_NAMELOOKUP_TIME_T), connect: time(CURLINFO_CONNECT_TIME_T),
            tls: time(CURLINFO_APPCONNECT_TIME_T), firstByte: time(CURLINFO_STARTTRANSFER_TIME_T),
            total: time(CURLINFO_TOTAL_TIME_T), bytesReceived: Int(offset(CURLINFO_SIZE_DOWNLOAD_T)),
            version: version, reusedConnection: number(CURLINFO_NUM_CONNECTS) == 0)
    }
}
