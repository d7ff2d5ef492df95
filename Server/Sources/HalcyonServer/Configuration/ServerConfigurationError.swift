/// The reason why a configuration cannot be used. Each names the key, as the file spells it; the environment has it in capitals
/// behind `HALCYON_`, with `_` for each dot and before each capital: `http.idleTimeout` is `HALCYON_HTTP_IDLE_TIMEOUT`.
public enum ServerConfigurationError: Error, Hashable, Sendable, CustomStringConvertible {
    /// No setting has this name.
    case unknownKey(String)
    /// The value is of another type or outside of the limits.
    case badValue(key: String, reason: String)
    /// The file cannot be read, or is no object of JSON or mapping of YAML.
    case badFile(String, reason: String)

    public var description: String {
        switch self {
        case .unknownKey(let key): "there is no setting \(key)"
        case .badValue(let key, let reason): "\(key): \(reason)"
        case .badFile(let path, let reason): "\(path): \(reason)"
        }
    }
}
