/// The protocol version of a response.
public enum HTTPVersion: String, Sendable, Hashable, Codable {
    case http10 = "HTTP/1.0"
    case http11 = "HTTP/1.1"
    case http2 = "HTTP/2"
    case http3 = "HTTP/3"
}
