import ArgumentParser
import Foundation

/// A request header: `Name: value`.
struct HeaderArgument: ExpressibleByArgument {
    let name: String
    let value: String

    init?(argument: String) {
        guard let colon = argument.firstIndex(of: ":") else { return nil }
        name = argument[..<colon].trimmingCharacters(in: .whitespaces)
        value = argument[argument.index(after: colon)...].trimmingCharacters(in: .whitespaces)
        // A line break would begin another header field.
        guard !name.isEmpty, !argument.contains(where: \.isNewline), !name.contains(" ") else { return nil }
    }
}
