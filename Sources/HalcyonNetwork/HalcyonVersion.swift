/// The version of the library, as the `User-Agent` field names it.
public enum HalcyonVersion {
    public static let current = "0.1.0"
}
