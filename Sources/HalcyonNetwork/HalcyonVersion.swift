/// The version of the library, as the `User-Agent` field names it.
public enum HalcyonVersion {
    /// The version of this build, as `major.minor.patch`.
    public static let current = "0.1.0"
}
