import HalcyonNetwork

/// The rules by which a pipeline remembers failures, so that a load ends without asking the server again.
///
///     configuration.rememberedFailures.duration = .seconds(300)
///     configuration.rememberedFailures.isRemembered = { error in
///         RememberedFailures.isLasting(error) || error.code == "tooLarge"
///     }
///
/// A failure is remembered for all requests that the server cannot tell apart, and that have the same coders. Their own
/// limits of time and size do not count. A failure of decoding is forgotten when a coder is added to the `CoderRegistry` or
/// removed from it.
public struct RememberedFailures: Sendable {
    /// The time for which a failure is remembered. 60 s by default; a year at most, and zero or less remembers nothing.
    ///
    /// If the failure is a status whose response declares how long it is fresh, it is remembered for that time instead;
    /// with `no-store`, `no-cache` or `Vary: *` it is not remembered.
    public var duration: Duration
    /// Returns whether a failure of a transfer, or of the decoding of its bytes, is remembered. `isLasting` by default.
    ///
    /// It is asked once for each such failure, never about a cancellation, on the thread of the pipelines' jobs, and must
    /// return quickly.
    public var isRemembered: @Sendable (ImagePipelineError) -> Bool

    /// Whether the statuses 404 and 410 are also remembered by later runs of the program, in the disk cache of the sources'
    /// bytes. False by default.
    ///
    /// Each is an entry of a few hundred bytes, which is read when neither the memory nor the disk has anything for the
    /// URL. It is for requests without a user and hooks whose header fields are the same. Requests that do not write to
    /// the disk store none, and those that do not read from it ignore them.
    public var keepsOnDisk: Bool

    /// Creates rules; omitted arguments take the defaults that the properties state.
    public init(
        duration: Duration = .seconds(60),
        isRemembered: @escaping @Sendable (ImagePipelineError) -> Bool = { RememberedFailures.isLasting($0) },
        keepsOnDisk: Bool = false
    ) {
        self.duration = duration
        self.isRemembered = isRemembered
        self.keepsOnDisk = keepsOnDisk
    }

    /// Rules that remember nothing.
    public static let none = RememberedFailures(duration: .zero)

    /// Returns whether a new attempt would only repeat a failure: a missing resource (404, 410), bytes that are not an
    /// image, a server that cannot be trusted.
    ///
    /// Failures that may pass by themselves are not lasting: no network, a timeout, a host that is not found or refuses
    /// the connection, an error of the server itself (5xx).
    public static func isLasting(_ error: ImagePipelineError) -> Bool {
        switch error {
        case .download(_, let error):
            switch error.reason {
            case .tls, .httpStatus(404), .httpStatus(410): true
            default: false
            }
        case .decoding(_, let error): error.blamesBytes
        default: false
        }
    }
}
