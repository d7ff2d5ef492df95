import CCurl
import CHalcyonCurl
import Foundation

/// libcurl's handle of one transfer, set up and read. Only the curl thread touches it.
final class CurlEasy {
    let handle: UnsafeMutableRawPointer
    let transfer: CurlTransfer
    private var fields: UnsafeMutablePointer<curl_slist>?
    private let errorText = UnsafeMutablePointer<CChar>.allocate(capacity: Int(CURL_ERROR_SIZE))
    private var parser: CurlHeadParser
    /// What a callback found wrong, which libcurl only reports as "aborted".
    private var failure: DownloadError.Reason?
    private let onDeadline: (ContinuousClock.Instant) -> Void

    private let totalDeadline: ContinuousClock.Instant?
    /// When something last came; nil until the connection stands and while the reader holds the transfer up.
    private var lastActivity: ContinuousClock.Instant?
    private var isPaused = false

    /// Whether the handle goes with this transfer.
    private var ownsHandle = true

    /// - Parameters:
    ///   - handle: a fresh one, or one that another transfer has given back.
    ///   - onDeadline: told of a limit that began to run after the start.
    init(
        _ transfer: CurlTransfer, handle: UnsafeMutableRawPointer, sessions: UnsafeMutableRawPointer?,
        onDeadline: @escaping (ContinuousClock.Instant) -> Void
    ) {
        self.handle = handle
        self.transfer = transfer
        self.onDeadline = onDeadline
        parser = CurlHeadParser(url: transfer.request.url, holdsChallenges: transfer.request.digest != nil)
        totalDeadline = transfer.request.totalTimeout?.limit.map { ContinuousClock.now.advanced(by: $0) }
        errorText.initialize(repeating: 0, count: Int(CURL_ERROR_SIZE))
        configure(sessions: sessions)
    }

    deinit {
        if ownsHandle { curl_easy_cleanup(handle) }
        curl_slist_free_all(fields)
        errorText.deallocate()
    }

    /// Gives the handle back after the end, without what this transfer set: making one, with its buffer, costs as much
    /// as a small transfer. Nil where it has seen a secret.
    func giveBack() -> UnsafeMutableRawPointer? {
        guard transfer.request.digest == nil else { return nil }
        curl_easy_reset(handle)
        ownsHandle = false
        return handle
    }

    // MARK: Setting up

    private func configure(sessions: UnsafeMutableRawPointer?) {
        let request = transfer.request
        let configuration = transfer.configuration
        set(CURLOPT_URL, (request.digest == nil ? request.url : request.url.withoutUser).absoluteString)
        if let digest = request.digest { set(digest) }
        halcyon_curl_allow_http_only(handle)
        set(CURLOPT_NOSIGNAL, 1)
        set(CURLOPT_FOLLOWLOCATION, 0)
        // Without it a cancel waits for a name's look-up to end, and all other transfers with it.
        set(CURLOPT_QUICK_EXIT, 1)
        set(CURLOPT_HTTP_VERSION, Int(configuration.allowsHTTP2 ? CURL_HTTP_VERSION_2TLS : CURL_HTTP_VERSION_1_1))
        set(CURLOPT_SUPPRESS_CONNECT_HEADERS, 1)
        set(CURLOPT_BUFFERSIZE, 64 * 1024)
        // Zero would mean libcurl's own limit, and libcurl cuts larger numbers down to 32 bits.
        set(CURLOPT_CONNECTTIMEOUT_MS, min(max(1, request.connectTimeout.milliseconds), Int(Int32.max)))
        set(configuration.trust(for: request.url))
        if let proxy = configuration.proxyText {
            set(CURLOPT_PROXY, proxy)
            // No host that the environment excepts either.
            set(CURLOPT_NOPROXY, "")
        }
        if let sessions { halcyon_curl_set_pointer(handle, CURLOPT_SHARE, sessions) }
        switch request.method {
        case "GET": break
        case "HEAD": set(CURLOPT_NOBODY, 1)
        default: set(CURLOPT_CUSTOMREQUEST, request.method)
        }
        for field in request.headers.fields {
            // libcurl reads "Name:" as a field to leave out, and "Name;" as one without a value.
            let line = field.value.isEmpty ? "\(field.name);" : "\(field.name): \(field.value)"
            fields = HeaderText.bytes(of: line).withUnsafeBufferPointer { bytes in
                bytes.withMemoryRebound(to: CChar.self) { curl_slist_append(fields, $0.baseAddress) } ?? fields
            }
        }
        if let fields { halcyon_curl_set_pointer(handle, CURLOPT_HTTPHEADER, fields) }
        halcyon_curl_set_pointer(handle, CURLOPT_ERRORBUFFER, errorText)
        setCallbacks()
    }

    /// libcurl uses a connection again only for what was made with the same.
    private func set(_ trust: CurlTransport.Configuration.Trust) {
        if let file = trust.certificateFile { set(CURLOPT_CAINFO, file) }
        if trust.allowsInvalidCertificate {
            set(CURLOPT_SSL_VERIFYPEER, 0)
            set(CURLOPT_SSL_VERIFYHOST, 0)
        }
        guard let client = trust.client else { return }
        set(CURLOPT_SSLCERT, client.file)
        set(CURLOPT_SSLKEY, client.keyFile ?? client.file)
        // Without one, the TLS library would ask at the terminal.
        set(CURLOPT_KEYPASSWD, client.password ?? "")
    }

    private func set(_ digest: DigestCredential) {
        halcyon_curl_set_long(handle, CURLOPT_HTTPAUTH, 1 << 1)  // CURLAUTH_DIGEST, a macro that Swift does not see
        set(CURLOPT_USERNAME, digest.user)
        set(CURLOPT_PASSWORD, digest.password)
        // One answer to a challenge: a server may call each of them stale.
        set(CURLOPT_MAXREDIRS, 1)
    }

    private func setCallbacks() {
        // Unretained: the worker holds this object for as long as the handle is in the multi handle.
        let context = Unmanaged.passUnretained(self).toOpaque()
        halcyon_curl_set_pointer(handle, CURLOPT_PRIVATE, context)
        halcyon_curl_set_ready(
            handle,
            { context, remote, _, _, _ in
                CurlEasy.from(context)?.connected(to: remote) ?? true ? CURL_PREREQFUNC_OK : CURL_PREREQFUNC_ABORT
            }, context)
        setAddressCheck(context)
        halcyon_curl_set_header(
            handle,
            { bytes, size, count, context in
                let length = size * count
                return CurlEasy.from(context)?.read(line: UnsafeRawBufferPointer(start: bytes, count: length)) ?? 0
            }, context)
        halcyon_curl_set_write(
            handle,
            { bytes, size, count, context in
                let length = size * count
                return CurlEasy.from(context)?.receive(UnsafeRawBufferPointer(start: bytes, count: length)) ?? 0
            }, context)
    }

    private static func from(_ context: UnsafeMutableRawPointer?) -> CurlEasy? {
        context.map { Unmanaged<CurlEasy>.fromOpaque($0).takeUnretainedValue() }
    }

    private func set(_ option: CURLoption, _ value: Int) {
        halcyon_curl_set_long(handle, option, value)
    }

    private func set(_ option: CURLoption, _ value: String) {
        halcyon_curl_set_string(handle, option, value)
    }

    // MARK: Callbacks; what they return is libcurl's convention

    /// - Returns: whether the request may be sent on this connection, which may be an earlier one.
    private func connected(to remote: UnsafePointer<CChar>?) -> Bool {
        touch()
        if let deadline { onDeadline(deadline) }
        guard transfer.request.addressPolicy.requiresPublicAddress else { return true }
        // Another address of the same name may have been refused before.
        failure = nil
        let text = remote.map { String(cString: $0) } ?? ""
        return allows(IPAddress(host: text), text)
    }

    private func allows(_ address: IPAddress?, _ text: String) -> Bool {
        if let address, transfer.request.addressPolicy.allows(address) { return true }
        failure = .refusedAddress(address.map { "\($0)" } ?? text)
        return false
    }

    /// Has each address looked at before it is connected to: of several that a name has, the others are tried.
    private func setAddressCheck(_ context: UnsafeMutableRawPointer) {
        guard transfer.request.addressPolicy.requiresPublicAddress else { return }
        set(CURLOPT_PROXY, "")
        halcyon_curl_set_open(
            handle,
            { context, _, address in
                var bytes = [UInt8](repeating: 0, count: 16)
                let count = Int(halcyon_curl_address(address, &bytes))
                let known = IPAddress(bytes: Array(bytes.prefix(count)))
                guard CurlEasy.from(context)?.allows(known, "of an unknown kind") ?? false else {
                    return halcyon_curl_no_socket()
                }
                return halcyon_curl_socket(address)
            }, context)
    }

    private func read(line: UnsafeRawBufferPointer) -> Int {
        touch()
        switch parser.read(line: line) {
        case .more: break
        case .head(let head): transfer.deliver(head)
        case .tooLarge:
            failure = .tooLarge(limit: CurlHeadParser.limit)
            return 0
        }
        return line.count
    }

    private func receive(_ bytes: UnsafeRawBufferPointer) -> Int {
        if let head = parser.takeHeld() { transfer.deliver(head) }
        switch transfer.receive(bytes) {
        case .taken:
            touch()
            return bytes.count
        case .pause:
            isPaused = true
            return Int(CURL_WRITEFUNC_PAUSE)
        }
    }

    /// The reader has made room: libcurl delivers what it holds, within this call.
    func resume() {
        guard isPaused else { return }
        isPaused = false
        touch()
        curl_easy_pause(handle, CURLPAUSE_CONT)
        if let deadline { onDeadline(deadline) }
    }

    /// Has libcurl hand out what it holds of a paused transfer that has ended, and that nobody takes any more.
    ///
    /// Without it that memory leaks (seen with 7.88.1) when the connection is shared with other HTTP/2 streams.
    func discard() {
        guard isPaused else { return }
        isPaused = false
        curl_easy_pause(handle, CURLPAUSE_CONT)
    }

    // MARK: Connections that are shared

    /// What tells this transfer's connection from others that stand; nil where it carries one transfer at a time.
    var sharedConnection: SharedConnection? {
        guard number(CURLINFO_HTTP_VERSION) == Int(CURL_HTTP_VERSION_2_0) else { return nil }
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
        lastActivity = .now
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

    func result(of code: CURLcode) -> Result<Void, any Error> {
        // The only thing that libcurl follows here is a challenge, and one too many is a refusal.
        if code == CURLE_OK || code == CURLE_TOO_MANY_REDIRECTS, let head = parser.takeHeld() {
            transfer.deliver(head)
            return .success(())
        }
        guard code != CURLE_OK else { return .success(()) }
        let reason = failure ?? CurlFailure(handle: handle, errorText: String(cString: errorText)).reason(of: code)
        return .failure(DownloadError(reason, url: transfer.request.url))
    }

    private func number(_ info: CURLINFO) -> Int {
        var value = 0
        halcyon_curl_get_long(handle, info, &value)
        return value
    }

    func metrics() -> TransportMetrics {
        func time(_ info: CURLINFO) -> Duration { .microseconds(offset(info)) }
        func offset(_ info: CURLINFO) -> Int64 {
            var value: Int64 = 0
            halcyon_curl_get_offset(handle, info, &value)
            return value
        }
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
