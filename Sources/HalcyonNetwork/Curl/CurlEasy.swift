import CCurl
import CHalcyonCurl
import Foundation

/// libcurl's handle of one transfer, set up and read. Only the curl thread touches it.
final class CurlEasy {
    let handle: UnsafeMutableRawPointer
    let transfer: CurlTransfer
    var fields: UnsafeMutablePointer<curl_slist>?
    let errorText = UnsafeMutablePointer<CChar>.allocate(capacity: Int(CURL_ERROR_SIZE))
    private var parser: CurlHeadParser
    /// What a callback found wrong, which libcurl only reports as "aborted".
    private var failure: DownloadError.Reason?
    private let turn: CurlTurn

    private let totalDeadline: ContinuousClock.Instant?
    /// When something last came; nil until the connection stands and while the reader holds the transfer up.
    private var lastActivity: ContinuousClock.Instant?
    private var isPaused = false {
        didSet { if isPaused != oldValue { turn.pausedCount += isPaused ? 1 : -1 } }
    }
    /// Bytes of the body that libcurl has handed out.
    private var handedOut = 0
    /// Whether libcurl hands out what it holds of a transfer that stays paused.
    private var isTakingHeld = false
    /// Where in the body libcurl has last opened the stream's window anew, at the latest.
    private var windowStart = 0

    /// The bytes of a proxy's answer that came in a turn, before the connection stands.
    private var tunnelBytes = 0
    private var tunnelTurn = 0

    /// How often the request was sent: again where a connection had died before its answer.
    private var sendings = 0
    private var hasFailed = false

    /// Whether the handle goes with this transfer.
    private var ownsHandle = true

    /// A handle without a transfer.
    struct Spare {
        let handle: UnsafeMutableRawPointer
        /// Whether it has what all plain transfers of this transport have in common.
        var isPrepared = false
    }

    /// - Parameter spare: a fresh one, or one that another transfer has given back.
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

    /// Gives the handle back after the end: making one, with its buffer, costs as much as a small transfer. Nil where it
    /// has seen a secret.
    ///
    /// What was sent again is counted in the handle, against a limit for one transfer, and only a reset forgets that.
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

    // MARK: Callbacks; what they return is libcurl's convention

    /// - Returns: whether the request may be sent on this connection, which may be an earlier one.
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

    /// Whether an address that libcurl is about to connect to may be.
    func allows(_ address: UnsafePointer<curl_sockaddr>?) -> Bool {
        guard transfer.request.addressPolicy.requiresPublicAddress else { return true }
        var bytes = [UInt8](repeating: 0, count: 16)
        let count = Int(halcyon_curl_address(address, &bytes))
        return allows(IPAddress(bytes: Array(bytes.prefix(count))), "of an unknown kind")
    }

    /// libcurl does not keep the reason of a socket that it was not given.
    func socketFailed(_ code: Int32) {
        guard case nil = failure, let reason = CurlFailure.exhaustion(code) else { return }
        failure = reason
    }

    /// - Returns: whether a proxy's answer, of which each byte comes here before the connection stands, is not too long.
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

    /// The lines of a head are no progress: only a whole one is, so that a server cannot drip them for ever.
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

    /// The reader has made room: libcurl delivers what it holds, within this call.
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

    /// Has libcurl hand out what it holds of a paused transfer that has ended, and that nobody takes any more.
    ///
    /// Without it that memory leaks (seen with 7.88.1) when the connection is shared with other HTTP/2 streams.
    func discard() {
        guard isPaused else { return }
        isPaused = false
        curl_easy_pause(handle, CURLPAUSE_CONT)
    }

    // MARK: Paused streams that go on to arrive

    /// Takes what libcurl holds of a paused transfer, once that is much.
    ///
    /// Where others use its connection, a paused stream goes on to arrive, for as long as its window of 32 MiB lasts.
    /// libcurl 7.88 copies what it holds of it with each resumption. To hand it out, libcurl opens the window, and anew
    /// where half of it is used up. So the second half stays with libcurl until the first one has been read, and a
    /// transfer never holds more than that half and a new window: 48 MiB.
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

    /// Bytes of the body that have come from the connection, and those of them that libcurl has not handed out.
    private var arrived: Int { Int(offset(CURLINFO_SIZE_DOWNLOAD_T)) }
    private var heldBytes: Int { arrived - handedOut }

    /// More than libcurl holds of a transfer that has its connection for itself.
    private static let heldLimit = 1 << 20
    private static let halfWindow = 16 << 20

    // MARK: Connections that are shared

    /// What tells this transfer's connection from others that stand; nil where it carries one transfer at a time.
    var sharedConnection: SharedConnection? {
        // Until it has a connection of its own, a handle that has served speaks of the last one.
        guard lastActivity != nil, number(CURLINFO_HTTP_VERSION) == Int(CURL_HTTP_VERSION_2_0) else { return nil }
        return SharedConnection(
            host: transfer.request.url.host(percentEncoded: true)?.lowercased(),
            localPort: number(CURLINFO_LOCAL_PORT), port: number(CURLINFO_PRIMARY_PORT))
    }

    /// libcurl has no number for a connection before 8.2. Two to different hosts may have the same ports.
    struct SharedConnection: Equatable {
        let host: String?
        let localPort: Int
        let port: Int
    }

    /// The connection is closed when this transfer leaves it, unless others are on it.
    func closeWithConnection() {
        set(CURLOPT_FORBID_REUSE, 1)
    }

    /// Has libcurl send what it holds ready for the connection: it does so with every change of what is paused.
    func flushConnection() {
        let state = isPaused ? CURLPAUSE_RECV : CURLPAUSE_CONT
        curl_easy_pause(handle, state | CURLPAUSE_SEND)
        curl_easy_pause(handle, state)
    }

    // MARK: Limits of time

    private func touch() {
        lastActivity = turn.now
    }

    /// When the next of its limits runs out. The one of connecting is libcurl's.
    var deadline: ContinuousClock.Instant? {
        let idle = isPaused ? nil : transfer.request.idleTimeout.limit.flatMap { lastActivity?.advanced(by: $0) }
        guard let totalDeadline else { return idle }
        return idle.map { min($0, totalDeadline) } ?? totalDeadline
    }

    func expiredLimit(_ now: ContinuousClock.Instant) -> TimeoutKind {
        totalDeadline.map { $0 <= now } ?? false ? .total : .idle
    }

    // MARK: The end

    /// What went wrong; nil where nothing did.
    func failure(of code: CURLcode) -> DownloadError? {
        // The only thing that libcurl follows here is a challenge, and one too many is a refusal.
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

    /// libcurl has no code of its own for a line of a head that is longer than it takes, or that continues no field.
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
