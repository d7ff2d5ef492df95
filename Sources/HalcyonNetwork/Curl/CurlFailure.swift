import CCurl
import CHalcyonCurl
import Foundation
import Glibc

/// A converter of libcurl's error codes, which also uses other data of the handle.
struct CurlFailure {
    let handle: UnsafeMutableRawPointer
    let errorText: String

    func reason(of code: CURLcode) -> DownloadError.Reason {
        switch code {
        case CURLE_URL_MALFORMAT: .invalidURL("it is malformed")
        case CURLE_COULDNT_RESOLVE_HOST: .connection(.hostNotFound)
        case CURLE_COULDNT_RESOLVE_PROXY, CURLE_PROXY: .connection(.proxy)
        case CURLE_COULDNT_CONNECT, CURLE_INTERFACE_FAILED: connectReason
        // The worker watches the other limits, so this is the one for connecting.
        case CURLE_OPERATION_TIMEDOUT: .timeout(.connect)
        case CURLE_PARTIAL_FILE: incompleteBody
        case CURLE_GOT_NOTHING, CURLE_SEND_ERROR: .connection(.reset)
        case CURLE_RECV_ERROR: receiveReason
        case CURLE_UNSUPPORTED_PROTOCOL, CURLE_WEIRD_SERVER_REPLY: .connection(.badAnswer)
        // Only the head can cause it: libcurl does not decode bodies here.
        case CURLE_BAD_CONTENT_ENCODING: .connection(.transferEncoding)
        // Servers end streams with an error where HTTP/1.1 has a reset.
        case CURLE_HTTP2, CURLE_HTTP2_STREAM, CURLE_HTTP3, CURLE_QUIC_CONNECT_ERROR: .connection(.reset)
        case CURLE_OUT_OF_MEMORY: .connection(.exhausted)
        default: Self.tlsCodes.contains(code.rawValue) ? .tls(tlsText(code)) : .connection(.other)
        }
    }

    private static let tlsCodes: Set<UInt32> = Set(
        [
            CURLE_SSL_CONNECT_ERROR, CURLE_PEER_FAILED_VERIFICATION, CURLE_SSL_ENGINE_NOTFOUND,
            CURLE_SSL_ENGINE_SETFAILED, CURLE_SSL_CERTPROBLEM, CURLE_SSL_CIPHER, CURLE_USE_SSL_FAILED,
            CURLE_SSL_ENGINE_INITFAILED, CURLE_SSL_CACERT_BADFILE, CURLE_SSL_SHUTDOWN_FAILED, CURLE_SSL_CRL_BADFILE,
            CURLE_SSL_ISSUER_ERROR, CURLE_SSL_PINNEDPUBKEYNOTMATCH, CURLE_SSL_INVALIDCERTSTATUS, CURLE_SSL_CLIENTCERT,
        ].map(\.rawValue))

    private func tlsText(_ code: CURLcode) -> String {
        errorText.isEmpty ? String(cString: curl_easy_strerror(code)) : errorText
    }

    private var connectReason: DownloadError.Reason {
        switch systemError {
        case ECONNREFUSED: .connection(.refused)
        case ENETUNREACH, ENETDOWN: .offline
        case EHOSTUNREACH, EHOSTDOWN: .connection(.unreachable)
        case ECONNRESET, ECONNABORTED: .connection(.reset)
        case ETIMEDOUT: .timeout(.connect)
        case let code: Self.exhaustion(code) ?? .connection(.other)
        }
    }

    /// Returns the reason for a system error that means that a resource is exhausted; nil for any other.
    static func exhaustion(_ code: Int32) -> DownloadError.Reason? {
        [EMFILE, ENFILE, ENOBUFS, ENOMEM, EADDRNOTAVAIL].contains(code) ? .connection(.exhausted) : nil
    }

    /// The reason of a receive error: libcurl has one code for broken connections and for invalid responses, and its
    /// text tells them apart.
    private var receiveReason: DownloadError.Reason {
        let text = errorText.lowercased()
        if text.contains("headers") || text.contains("header too") { return .tooLarge(limit: CurlHeadParser.limit) }
        if text.contains("proxy") || text.contains("connect tunnel") { return .connection(.proxy) }
        if text.contains("chunk") || text.contains("malformed") { return .connection(.badAnswer) }
        return .connection(.reset)
    }

    private var incompleteBody: DownloadError.Reason {
        let expected = offset(CURLINFO_CONTENT_LENGTH_DOWNLOAD_T)
        return .incompleteBody(received: offset(CURLINFO_SIZE_DOWNLOAD_T), expected: expected < 0 ? nil : expected)
    }

    private var systemError: Int32 {
        var value = 0
        halcyon_curl_get_long(handle, CURLINFO_OS_ERRNO, &value)
        return Int32(truncatingIfNeeded: value)
    }

    private func offset(_ info: CURLINFO) -> Int {
        var value: Int64 = 0
        halcyon_curl_get_offset(handle, info, &value)
        return Int(value)
    }
}
