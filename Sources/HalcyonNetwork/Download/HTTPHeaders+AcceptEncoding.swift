extension HTTPHeaders {
    /// Adds `Accept-Encoding` with the supported codings, unless there is one.
    ///
    /// - Returns: The added value; nil if the field was there already.
    mutating func addAcceptEncoding() -> String? {
        guard !contains("Accept-Encoding") else { return nil }
        let codings = contains("Range") ? Self.forParts : BodyUnpacker.acceptEncoding
        set("Accept-Encoding", codings)
        return codings
    }

    /// Requests an uncompressed response if a `Range` was added since `addAcceptEncoding` and its value is unchanged.
    mutating func adaptAcceptEncoding(_ added: String) {
        if contains("Range"), self["Accept-Encoding"] == added { set("Accept-Encoding", Self.forParts) }
    }

    /// The value for partial requests: a part of a compressed body cannot be decompressed.
    private static let forParts = "identity"
}
