import Configuration
import Foundation
import SystemPackage
import Yams

/// A file of settings: YAML if its name ends with `.yaml` or `.yml`, else JSON.
enum SettingsFile {
    /// Returns the provider of the values in a file, all of whose keys are settings: others the package for configurations would ignore.
    ///
    /// - Throws: `ServerConfigurationError`.
    static func provider(of path: String, keys: Set<String>) async throws -> any ConfigProvider {
        let isYAML = ["yaml", "yml"].contains(URL(filePath: path).pathExtension.lowercased())
        for name in try isYAML ? namesOfYAML(path) : namesOfJSON(path) {
            guard keys.contains(name) else { throw ServerConfigurationError.unknownKey(name) }
        }
        do {
            if isYAML { return try await FileProvider<YAMLSnapshot>(filePath: FilePath(path)) }
            return try await FileProvider<JSONSnapshot>(filePath: FilePath(path))
        } catch {
            throw ServerConfigurationError.badFile(path, reason: "\(error)")
        }
    }

    private static func namesOfJSON(_ path: String) throws -> [String] {
        let object: Any
        do {
            object = try JSONSerialization.jsonObject(with: Data(contentsOf: URL(filePath: path)))
        } catch {
            throw ServerConfigurationError.badFile(path, reason: "it cannot be read as JSON")
        }
        guard let settings = object as? [String: Any] else {
            throw ServerConfigurationError.badFile(path, reason: "it is no JSON object")
        }
        func names(in settings: [String: Any], below prefix: String) -> [String] {
            settings.sorted { $0.key < $1.key }.flatMap { name, value in
                (value as? [String: Any]).map { names(in: $0, below: prefix + name + ".") } ?? [prefix + name]
            }
        }
        return names(in: settings, below: "")
    }

    private static func namesOfYAML(_ path: String) throws -> [String] {
        let root: Node?
        do {
            root = try Yams.compose(yaml: String(contentsOf: URL(filePath: path), encoding: .utf8))
        } catch {
            throw ServerConfigurationError.badFile(path, reason: "it cannot be read as YAML, or has a key twice")
        }
        guard case .mapping(let settings)? = root else {
            throw ServerConfigurationError.badFile(path, reason: "it is no YAML mapping")
        }
        func names(in settings: Node.Mapping, below prefix: String) throws -> [String] {
            try settings.flatMap { key, value in
                guard let name = key.string else {
                    throw ServerConfigurationError.badFile(path, reason: "a key is no text")
                }
                if case .mapping(let inner) = value { return try names(in: inner, below: prefix + name + ".") }
                // It would be the text `null`, or `~`.
                guard value.null == nil else {
                    throw ServerConfigurationError.badValue(key: prefix + name, reason: "it has no value")
                }
                return [prefix + name]
            }
        }
        return try names(in: settings, below: "")
    }
}
