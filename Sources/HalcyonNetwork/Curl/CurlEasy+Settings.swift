import CCurl
import CHalcyonCurl
import Foundation
import Glibc

/// The options of a handle for its transfer.
extension CurlEasy {
    /// Sets all options.
    ///
    /// - Parameter isPrepared: Whether the handle already has the settings of all plain transfers. Setting these again
    ///   took longer than all the others.
    func configure(isPrepared: Bool, multi: CurlMulti) {
        let request = transfer.request
        if !isPrepared {
            setCommon(multi)
        } else if !isPlain {
            curl_easy_reset(handle)
            setCommon(multi)
        }
        set(CURLOPT_URL, (request.digest == nil ? request.url : request.url.withoutUser).absoluteString)
        // Zero would mean libcurl's own limit, and libcurl truncates larger numbers to 32 bits.
        set(CURLOPT_CONNECTTIMEOUT_MS, min(max(1, request.connectTimeout.milliseconds), Int(Int32.max)))
        if !isPlain { setOwn() }
        for field in request.headers.fields {
            // libcurl reads "Name:" as a field to omit, and "Name;" as one without a value.
            let line = field.value.isEmpty ? "\(field.name);" : "\(field.name): \(field.value)"
            fields = HeaderText.bytes(of: line).withUnsafeBufferPointer { bytes in
                bytes.withMemoryRebound(to: CChar.self) { curl_slist_append(fields, $0.baseAddress) } ?? fields
            }
        }
        if let fields { halcyon_curl_set_pointer(handle, CURLOPT_HTTPHEADER, fields) }
        halcyon_curl_set_pointer(handle, CURLOPT_ERRORBUFFER, errorText)
        setCallbacks()
    }

    /// Whether the transfer has no settings of its own that would stay in the handle.
    var isPlain: Bool {
        let (request, configuration) = (transfer.request, transfer.configuration)
        return request.method == "GET" && request.digest == nil && !request.addressPolicy.requiresPublicAddress
            && configuration.hostsWithInvalidCertificates.isEmpty && configuration.clientCertificates.isEmpty
            // The URL has no user name and password.
            && !request.url.absoluteString.utf8.contains(UInt8(ascii: "@"))
    }

    /// Removes the pointers to this transfer.
    func forgetTransfer() {
        halcyon_curl_set_pointer(handle, CURLOPT_HTTPHEADER, nil)
        halcyon_curl_set_pointer(handle, CURLOPT_ERRORBUFFER, nil)
        halcyon_curl_set_pointer(handle, CURLOPT_PRIVATE, nil)
    }

    private func setCommon(_ multi: CurlMulti) {
        let configuration = transfer.configuration
        halcyon_curl_allow_http_only(handle)
        set(CURLOPT_NOSIGNAL, 1)
        set(CURLOPT_FOLLOWLOCATION, 0)
        // Without it a cancellation waits for the end of a name lookup, and all other transfers with it.
        set(CURLOPT_QUICK_EXIT, 1)
        set(CURLOPT_HTTP_VERSION, Int(configuration.allowsHTTP2 ? CURL_HTTP_VERSION_2TLS : CURL_HTTP_VERSION_1_1))
        set(CURLOPT_SUPPRESS_CONNECT_HEADERS, 1)
        set(CURLOPT_BUFFERSIZE, 64 * 1024)
        if let file = configuration.certificateFile { set(CURLOPT_CAINFO, file) }
        if let proxy = configuration.proxyText {
            set(CURLOPT_PROXY, proxy)
            // The exceptions of the environment do not apply either.
            set(CURLOPT_NOPROXY, "")
        }
        halcyon_curl_limit_reads(handle, multi.turns)
        if let share = multi.share { halcyon_curl_set_pointer(handle, CURLOPT_SHARE, share) }
        // No file name: it only turns on the cookies, which are in the share handle.
        if configuration.keepsCookies, multi.share != nil { set(CURLOPT_COOKIEFILE, "") }
    }

    private func setOwn() {
        let request = transfer.request
        if let digest = request.digest { set(digest) }
        set(transfer.configuration.trust(for: request.url))
        switch request.method {
        case "GET": break
        case "HEAD": set(CURLOPT_NOBODY, 1)
        default: set(CURLOPT_CUSTOMREQUEST, request.method)
        }
    }

    /// libcurl reuses a connection only for transfers with the same TLS settings.
    private func set(_ trust: CurlTransport.Configuration.Trust) {
        if trust.allowsInvalidCertificate {
            set(CURLOPT_SSL_VERIFYPEER, 0)
            set(CURLOPT_SSL_VERIFYHOST, 0)
        }
        guard let client = trust.client else { return }
        set(CURLOPT_SSLCERT, client.file)
        set(CURLOPT_SSLKEY, client.keyFile ?? client.file)
        // Without a password, the TLS library would prompt at the terminal.
        set(CURLOPT_KEYPASSWD, client.password ?? "")
    }

    private func set(_ digest: DigestCredential) {
        halcyon_curl_set_long(handle, CURLOPT_HTTPAUTH, 1 << 1)  // CURLAUTH_DIGEST, a macro that Swift does not see
        set(CURLOPT_USERNAME, digest.user)
        set(CURLOPT_PASSWORD, digest.password)
        // Allows one answer to a challenge: a server may reject each of them as stale.
        set(CURLOPT_MAXREDIRS, 1)
    }

    private func setCallbacks() {
        // Unretained: the worker references this object for as long as the handle is in the multi handle.
        let context = Unmanaged.passUnretained(self).toOpaque()
        halcyon_curl_set_pointer(handle, CURLOPT_PRIVATE, context)
        halcyon_curl_set_ready(
            handle,
            { context, remote, _, _, _ in
                CurlEasy.from(context)?.connected(to: remote) ?? true ? CURL_PREREQFUNC_OK : CURL_PREREQFUNC_ABORT
            }, context)
        setSockets(context)
        setProxyLimit(context)
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

    func set(_ option: CURLoption, _ value: Int) {
        halcyon_curl_set_long(handle, option, value)
    }

    func set(_ option: CURLoption, _ value: String) {
        halcyon_curl_set_string(handle, option, value)
    }

    /// Creates the sockets itself, so that no child process inherits them, and checks each address before it is
    /// connected to: if a name has several, the others are tried.
    private func setSockets(_ context: UnsafeMutableRawPointer) {
        if transfer.request.addressPolicy.requiresPublicAddress { set(CURLOPT_PROXY, "") }
        halcyon_curl_set_open(
            handle,
            { context, _, address in
                guard let easy = CurlEasy.from(context), easy.allows(address) else { return halcyon_curl_no_socket() }
                let socket = halcyon_curl_socket(address)
                if socket == halcyon_curl_no_socket() { easy.socketFailed(errno) }
                return socket
            }, context)
    }

    /// Limits the size of a proxy's answer to the request for a tunnel: libcurl 7.88 reads such an answer byte by byte
    /// for as long as more arrives, and all other transfers wait.
    private func setProxyLimit(_ context: UnsafeMutableRawPointer) {
        let configuration = transfer.configuration
        let hasTunnel = transfer.request.url.scheme?.lowercased() == "https" && configuration.proxy != .none
        halcyon_curl_set_progress(
            handle, hasTunnel ? { context, _, _, _, _ in CurlEasy.from(context)?.progressed() ?? true ? 0 : 1 } : nil,
            context)
    }
}

extension Duration {
    /// The number of whole milliseconds, rounded down, from 0 to that of `longest`.
    var milliseconds: Int {
        let (seconds, attoseconds) = min(max(self, .zero), Self.longest).components
        return Int(seconds) * 1000 + Int(attoseconds / 1_000_000_000_000_000)
    }
}
