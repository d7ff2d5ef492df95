import Configuration

/// The values of settings: those of the environment, and behind it those of a file.
struct SettingsReader {
    private let providers: [any ConfigProvider]

    /// Variables that begin with `HALCYON_` and belong to the library and its scripts.
    private static let foreign: Set<String> = [
        "HALCYON_DECODE_WORKER", "HALCYON_DEBUG_INFO", "HALCYON_INCREMENTAL", "HALCYON_CONFIG",
    ]

    /// - Parameters:
    ///   - environment: the environment; variables that do not begin with `HALCYON_` are ignored.
    ///   - file: a file of JSON or YAML; nil if there is none.
    ///   - keys: the keys of all settings.
    /// - Throws: `ServerConfigurationError` if a value has an unknown key, or the file cannot be read.
    init(environment: [String: String], file: String?, keys: [String]) async throws {
        let names = Set(keys.map(Self.variable))
        for name in environment.keys.sorted() where name.hasPrefix("HALCYON_") && !Self.foreign.contains(name) {
            guard names.contains(name) else { throw ServerConfigurationError.unknownKey(name) }
        }
        let variables = EnvironmentVariablesProvider(environmentVariables: environment)
        var providers: [any ConfigProvider] = [variables.prefixKeys(with: "halcyon")]
        if let file { providers.append(try await SettingsFile.provider(of: file, keys: Set(keys))) }
        self.providers = providers
    }

    /// The environment's name of a key.
    static func variable(_ key: String) -> String {
        "HALCYON_"
            + key.reduce(into: "") { name, character in
                if character == "." {
                    name += "_"
                } else {
                    if character.isUppercase { name += "_" }
                    name += character.uppercased()
                }
            }
    }

    private func content(_ key: String, _ type: ConfigType, _ kind: String) throws -> ConfigContent? {
        for provider in providers {
            do {
                if let value = try provider.value(forKey: AbsoluteConfigKey(ConfigKey(key)), type: type).value {
                    return value.content
                }
            } catch {
                throw ServerConfigurationError.badValue(key: key, reason: "it is no \(kind)")
            }
        }
        return nil
    }

    // MARK: - Values

    func set(_ key: String, _ value: inout String) throws {
        if case .string(let found)? = try content(key, .string, "text") { value = found }
    }

    func set(_ key: String, _ value: inout String?) throws {
        if case .string(let found)? = try content(key, .string, "text") { value = found.isEmpty ? nil : found }
    }

    func set(_ key: String, _ value: inout Bool) throws {
        if case .bool(let found)? = try content(key, .bool, "true or false") { value = found }
    }

    func set(_ key: String, _ value: inout [String]) throws {
        guard case .stringArray(let found)? = try content(key, .stringArray, "list of texts") else { return }
        value = found.filter { !$0.isEmpty }
    }

    func set(_ key: String, _ value: inout Int, in limits: ClosedRange<Int>) throws {
        guard case .int(let found)? = try content(key, .int, "whole number") else { return }
        guard limits.contains(found) else {
            let reason = "it is from \(limits.lowerBound) to \(limits.upperBound)"
            throw ServerConfigurationError.badValue(key: key, reason: reason)
        }
        value = found
    }

    /// Reads a time in seconds.
    func set(_ key: String, _ value: inout Duration, in limits: ClosedRange<Double>) throws {
        guard case .double(let found)? = try content(key, .double, "number of seconds") else { return }
        guard limits.contains(found) else {
            let reason = "it is from \(limits.lowerBound) to \(limits.upperBound) seconds"
            throw ServerConfigurationError.badValue(key: key, reason: reason)
        }
        value = .seconds(found)
    }

    /// Reads one of a few words.
    func set<Value: CaseIterable & RawRepresentable<String>>(_ key: String, _ value: inout Value) throws {
        guard case .string(let found)? = try content(key, .string, "text") else { return }
        value = try Self.word(found, of: key)
    }

    /// Reads a list of a few words, each once.
    func set<Value: CaseIterable & RawRepresentable<String> & Equatable>(_ key: String, _ value: inout [Value]) throws {
        guard case .stringArray(let found)? = try content(key, .stringArray, "list of texts") else { return }
        value = try found.filter { !$0.isEmpty }.reduce(into: []) { words, text in
            let word: Value = try Self.word(text, of: key)
            if !words.contains(word) { words.append(word) }
        }
    }

    private static func word<Value: CaseIterable & RawRepresentable<String>>(
        _ text: String, of key: String
    ) throws -> Value {
        if let value = Value(rawValue: text) { return value }
        let words = Value.allCases.map(\.rawValue).joined(separator: ", ")
        throw ServerConfigurationError.badValue(key: key, reason: "it is one of \(words)")
    }
}
