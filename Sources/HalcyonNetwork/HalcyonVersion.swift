/// The library's version, as servers are told it.
public enum HalcyonVersion {
    public static let current = "0.1.0"
}
