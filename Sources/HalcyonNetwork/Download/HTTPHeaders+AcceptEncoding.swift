extension HTTPHeaders {
    /// Names the codings that are unpacked, unless it is said already which are wanted.
    ///
    /// - Returns: what is named now, if nothing was before.
    mutating func addAcceptEncoding() -> String? {
        guard !contains("Accept-Encoding") else { return nil }
        let codings = contains("Range") ? Self.forParts : BodyUnpacker.acceptEncoding
        set("Accept-Encoding", codings)
        return codings
    }

    /// Asks for no coding where a `Range` has come since `addAcceptEncoding`, and what that named still stands.
    mutating func adaptAcceptEncoding(_ added: String) {
        if contains("Range"), self["Accept-Encoding"] == added { set("Accept-Encoding", Self.forParts) }
    }

    /// A part of a packed body cannot be unpacked.
    private static let forParts = "identity"
}
