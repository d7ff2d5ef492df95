extension ServerConfiguration {
    /// The store that speaks the protocol of Amazon's S3 (`s3`), whose objects are sources as `s3://bucket/key`.
    public struct S3: Hashable, Sendable {
        /// Whether there is one, false by default. `source.allow` is not empty then: the buckets that it names are sources.
        public var isEnabled = false
        /// The store's `https://host[:port][/path]`; by default Amazon's in the region.
        public var endpoint: String?
        /// The region that signatures name, `us-east-1` by default, or `AWS_REGION`, or `AWS_DEFAULT_REGION`.
        public var region = "us-east-1"
        /// Whether an own endpoint has buckets in its path, true by default, rather than in its host's name. Amazon's has them in
        /// the name. A bucket whose name is no lower-case label of a host is in the path everywhere.
        public var usesPathStyle = true
        /// The key that reads the objects; by default `AWS_ACCESS_KEY_ID`, `AWS_SECRET_ACCESS_KEY` and `AWS_SESSION_TOKEN`. An
        /// access key of the settings goes with the secret and the token of the settings alone.
        public var accessKey: String?
        public var secretKey: String?
        /// The token of a temporary key, none by default.
        public var sessionToken: String?
    }

    /// The keys of `s3`.
    static let s3Keys = [
        "s3.enabled", "s3.endpoint", "s3.region", "s3.pathStyle", "s3.accessKey", "s3.secretKey", "s3.sessionToken",
    ]

    mutating func readS3(_ reader: SettingsReader, environment: [String: String]) throws {
        try reader.set("s3.enabled", &s3.isEnabled)
        try reader.set("s3.endpoint", &s3.endpoint)
        let region = environment["AWS_REGION"] ?? environment["AWS_DEFAULT_REGION"] ?? ""
        if !region.isEmpty { s3.region = region }
        try reader.set("s3.region", &s3.region)
        try reader.set("s3.pathStyle", &s3.usesPathStyle)
        try reader.set("s3.accessKey", &s3.accessKey)
        try reader.set("s3.secretKey", &s3.secretKey)
        try reader.set("s3.sessionToken", &s3.sessionToken)
        if s3.accessKey == nil, s3.secretKey == nil, s3.sessionToken == nil {
            s3.accessKey = environment["AWS_ACCESS_KEY_ID"]
            s3.secretKey = environment["AWS_SECRET_ACCESS_KEY"]
            s3.sessionToken = environment["AWS_SESSION_TOKEN"]
        }
        if s3.isEnabled { _ = try S3Endpoint(s3) }
        if s3.isEnabled { _ = try S3Signer(s3) }
    }
}
