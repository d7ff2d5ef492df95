import CSSL
import Foundation
import Glibc
import HalcyonNetwork
import TestSupport

/// A server that sends any frames of HTTP/2 that its script chooses, over TLS, once a request has come.
final class HTTP2Server: Sendable {
    struct Failure: Error {
        let call: String
    }

    private let certificate: TestCertificate
    private let server: RawServer

    /// - Parameter isProxy: whether each connection asks for a way to a server first, which is in the same hands.
    init(isProxy: Bool = false, _ script: @escaping @Sendable (Connection) throws -> Void) async throws {
        let certificate = try await TestCertificate()
        self.certificate = certificate
        server = try RawServer { connection in
            let connection = try Connection(connection.socket, certificate, isProxy: isProxy)
            try connection.waitForRequest()
            try script(connection)
        }
    }

    var url: URL { URL(web: "https://localhost:\(server.port)/a") }

    func transport() -> CurlTransport {
        var configuration = CurlTransport.Configuration()
        configuration.certificateFile = certificate.file
        return CurlTransport(configuration)
    }

    func asked(by transport: CurlTransport) async throws {
        for try await _ in try await transport.send(.patient(url)).body {}
    }

    func stop() {
        server.stop()
        certificate.remove()
    }

    // MARK: - Frames

    static func frame(_ type: UInt8, flags: UInt8 = 0, stream: UInt8, _ payload: [UInt8]) -> [UInt8] {
        let length = payload.count
        let size = [UInt8(length >> 16 & 0xFF), UInt8(length >> 8 & 0xFF), UInt8(length & 0xFF)]
        return size + [type, flags, 0, 0, 0, stream] + payload
    }

    /// A header field as it is written without a table.
    static func field(_ name: String, _ value: String) -> [UInt8] {
        [0, UInt8(name.utf8.count)] + Array(name.utf8) + [UInt8(value.utf8.count)] + Array(value.utf8)
    }
}

extension HTTP2Server {
    /// One connection, in its script's hands. What it calls blocks.
    final class Connection {
        private let context: OpaquePointer
        /// The innermost of them is the last.
        private var layers: [OpaquePointer] = []

        fileprivate init(_ socket: Int32, _ certificate: TestCertificate, isProxy: Bool) throws {
            // OpenSSL writes without MSG_NOSIGNAL.
            var signals = sigset_t()
            sigemptyset(&signals)
            sigaddset(&signals, SIGPIPE)
            pthread_sigmask(SIG_BLOCK, &signals, nil)
            guard let context = SSL_CTX_new(TLS_server_method()) else { throw Failure(call: "SSL_CTX_new") }
            self.context = context
            SSL_CTX_use_certificate_chain_file(context, certificate.file)
            SSL_CTX_use_PrivateKey_file(context, certificate.keyFile, SSL_FILETYPE_PEM)
            SSL_CTX_set_alpn_select_cb(
                context,
                { _, chosen, length, offered, _, _ in
                    // The first that the client offers.
                    chosen?.pointee = offered?.advanced(by: 1)
                    length?.pointee = offered?.pointee ?? 0
                    return SSL_TLSEXT_ERR_OK
                }, nil)
            let plain = BIO_new_socket(socket, BIO_NOCLOSE)
            try accept(plain, plain)
            guard isProxy else { return }
            try waitForTunnel()
            // Messages of the inner layer share those of the outer one, as with a proxy that hands on what has come.
            let outer = layers[0]
            let buffer = BIO_new(BIO_f_buffer())
            BIO_int_ctrl(buffer, BIO_C_SET_BUFF_SIZE, 16_384, 1)
            try accept(Self.inside(outer), BIO_push(buffer, Self.inside(outer)))
        }

        private static func inside(_ outer: OpaquePointer) -> OpaquePointer? {
            let inside = BIO_new(BIO_f_ssl())
            BIO_ctrl(inside, BIO_C_SET_SSL, Int(BIO_NOCLOSE), UnsafeMutableRawPointer(outer))
            return inside
        }

        deinit {
            layers.reversed().forEach(SSL_free)
            SSL_CTX_free(context)
        }

        private func accept(_ input: OpaquePointer?, _ output: OpaquePointer?) throws {
            guard let tls = SSL_new(context) else { throw Failure(call: "SSL_new") }
            layers.append(tls)
            SSL_set_bio(tls, input, output)
            guard SSL_accept(tls) == 1 else { throw Failure(call: "SSL_accept") }
        }

        private func receive() throws -> ArraySlice<UInt8> {
            var bytes = [UInt8](repeating: 0, count: 4096)
            let count = SSL_read(layers.last, &bytes, Int32(bytes.count))
            guard count > 0 else { throw Failure(call: "SSL_read") }
            return bytes[..<Int(count)]
        }

        func send(_ bytes: [UInt8]) throws {
            guard SSL_write(layers.last, bytes, Int32(bytes.count)) > 0 else { throw Failure(call: "SSL_write") }
        }

        /// Sends what was kept to be sent with more.
        func flush() {
            BIO_ctrl(SSL_get_wbio(layers.last), BIO_CTRL_FLUSH, 0, nil)
        }

        /// The head of an answer, 200.
        func sendHead() throws {
            try send(HTTP2Server.frame(1, flags: 4, stream: 1, [0x88]))
        }

        func waitForClose() {
            while (try? receive()) != nil {}
        }

        private func waitForTunnel() throws {
            var text = ""
            while !text.hasSuffix("\r\n\r\n") { text += String(decoding: try receive(), as: UTF8.self) }
            try send(Array("HTTP/1.1 200 OK\r\n\r\n".utf8))
        }

        /// A frame of header fields, behind the preface and other frames; answered with settings.
        fileprivate func waitForRequest() throws {
            var bytes: [UInt8] = []
            var offset = 24
            while true {
                while bytes.count < offset + 9 { bytes += try receive() }
                if bytes[offset + 3] == 1 { break }
                offset += 9 + Int(bytes[offset]) << 16 + Int(bytes[offset + 1]) << 8 + Int(bytes[offset + 2])
            }
            try send(HTTP2Server.frame(4, stream: 0, []))
            flush()
        }
    }
}
