import Foundation

/// Named lists of options, written as imgproxy's `PRESETS`: `name=option:argument/option:argument`.
///
/// A preset may name others, in its place in the list. `default` is applied to each URL before its own options.
public struct ImgproxyPresets: Sendable {
    /// The options of each preset, with those of the presets that it names in their places.
    private let lists: [String: [Arguments]]

    /// No presets.
    public init() {
        lists = [:]
    }

    /// - Parameters:
    ///   - lines: one preset each. Empty ones, and those that begin with `#`, are skipped; of presets with the same name the
    ///     last one counts.
    ///   - separator: between arguments, `:` by default.
    /// - Throws: ``ConfigurationError`` for a line that is none, an option or argument that is not valid, a preset that is
    ///   not there or leads back to itself, and one of more than ``ImageJob/Bounds/expandedOptions`` options.
    public init(_ lines: [String], separator: Character = ":") throws(ConfigurationError) {
        var written: [String: [Arguments]] = [:]
        for line in lines {
            let line = line.trimmingCharacters(in: .whitespaces)
            guard !line.isEmpty, !line.hasPrefix("#") else { continue }
            guard let mark = line.firstIndex(of: "=") else {
                throw ConfigurationError(setting: "preset '\(line)'", reason: "'name=options' is expected")
            }
            let name = line[..<mark].trimmingCharacters(in: .whitespaces)
            let parts = line[line.index(after: mark)...].trimmingCharacters(in: .whitespaces).split(separator: "/")
            guard !name.isEmpty, !parts.isEmpty, parts.allSatisfy({ $0.contains(separator) }) else {
                throw ConfigurationError(setting: "preset '\(line)'", reason: "'name=options' is expected")
            }
            written[name] = parts.map { Arguments(option: $0, separator: separator) }
        }
        var expansion = Expansion(written: written)
        for name in written.keys.sorted() { _ = try expansion.expand(name, through: []) }
        lists = expansion.lists
        try check()
    }

    subscript(name: some StringProtocol) -> [Arguments]? {
        lists[String(name)]
    }

    /// Applies each of them, so that a server with a preset that cannot work does not start.
    private func check() throws(ConfigurationError) {
        var configuration = ImgproxyURL.Configuration()
        configuration.presets = self
        for name in lists.keys.sorted() {
            var builder = ImgproxyJob(configuration: configuration)
            do { try builder.applyPreset(name) } catch {
                throw ConfigurationError(setting: "preset '\(name)'", reason: error.description)
            }
        }
    }
}

/// The work of putting presets in the places where others name them.
private struct Expansion {
    let written: [String: [Arguments]]
    var lists: [String: [Arguments]] = [:]

    mutating func expand(_ name: String, through path: [String]) throws(ConfigurationError) -> [Arguments] {
        if let done = lists[name] { return done }
        func failure(_ reason: String) -> ConfigurationError {
            ConfigurationError(setting: "preset '\(path.first ?? name)'", reason: reason)
        }
        guard !path.contains(name) else { throw failure("'\(name)' leads back to itself") }
        guard path.count < 256 else { throw failure("presets name each other too deep") }
        guard let options = written[name] else { throw failure("there is no preset '\(name)'") }
        var list: [Arguments] = []
        for option in options {
            if ImgproxyOption.named[option.option] == .preset {
                for other in option.values where !other.isEmpty {
                    list += try expand(String(other), through: path + [name])
                }
            } else {
                list.append(option)
            }
            guard list.count <= ImageJob.Bounds.expandedOptions else { throw failure("it has too many options") }
        }
        lists[name] = list
        return list
    }
}
