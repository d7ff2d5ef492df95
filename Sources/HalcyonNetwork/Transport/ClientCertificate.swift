/// The certificate that a client shows to a server that asks for one, with its key.
public struct ClientCertificate: Sendable, Hashable {
    /// A file in PEM: the certificate, and after it those that lead to the one that the server trusts.
    public var file: String
    /// A file in PEM with the private key; nil, the default, is where the certificate's file has it as well.
    public var keyFile: String?
    /// What the key is locked with. Nil by default; nobody is asked for one that is missing: that is a TLS error.
    public var password: String?

    public init(file: String, keyFile: String? = nil, password: String? = nil) {
        self.file = file
        self.keyFile = keyFile
        self.password = password
    }
}

extension ClientCertificate: CustomStringConvertible, CustomDebugStringConvertible {
    /// Without the password.
    public var description: String { "client certificate \(file)" }
    public var debugDescription: String { description }
}
