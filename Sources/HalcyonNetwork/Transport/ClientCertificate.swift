/// A certificate, with its key, that a client presents to a server that requests one.
public struct ClientCertificate: Sendable, Hashable {
    /// The path of a PEM file: the certificate, followed by those that lead to one that the server trusts.
    public var file: String
    /// The path of a PEM file with the private key; nil, the default, if the key is in the certificate's file.
    public var keyFile: String?
    /// The password of the key. Nil by default; if one is needed, the connection fails with a TLS error instead of a prompt.
    public var password: String?

    public init(file: String, keyFile: String? = nil, password: String? = nil) {
        self.file = file
        self.keyFile = keyFile
        self.password = password
    }
}

extension ClientCertificate: CustomStringConvertible, CustomDebugStringConvertible {
    /// A description without the password.
    public var description: String { "client certificate \(file)" }
    public var debugDescription: String { description }
}
