import ArgumentParser
import Foundation

/// A time: `30` or `30s` in seconds, `10m`, `12h`, `7d`.
struct TimeArgument: ExpressibleByArgument {
    let seconds: Double

    init?(argument: String) {
        let units: [Character: Double] = ["s": 1, "m": 60, "h": 3600, "d": 86_400]
        guard let last = argument.last else { return nil }
        let number = units[last] == nil ? argument : String(argument.dropLast())
        guard let value = Double(number), value >= 0 else { return nil }
        seconds = value * (units[last] ?? 1)
        // Three centuries: beyond that somebody mistyped, and times overflow.
        guard seconds < 1e10 else { return nil }
    }
}

/// A number of bytes: `5000`, `64K`, `10M`, `1G`, in powers of 1024.
struct BytesArgument: ExpressibleByArgument {
    let bytes: Int

    init?(argument: String) {
        let units: [Character: Int] = ["K": 1 << 10, "M": 1 << 20, "G": 1 << 30]
        guard let last = argument.uppercased().last else { return nil }
        let number = units[last] == nil ? argument : String(argument.dropLast())
        guard let value = Int(number), value >= 0 else { return nil }
        let (product, overflow) = value.multipliedReportingOverflow(by: units[last] ?? 1)
        guard !overflow else { return nil }
        bytes = product
    }
}

/// `Name: value`.
struct HeaderArgument: ExpressibleByArgument {
    let name: String
    let value: String

    init?(argument: String) {
        guard let colon = argument.firstIndex(of: ":") else { return nil }
        name = argument[..<colon].trimmingCharacters(in: .whitespaces)
        value = argument[argument.index(after: colon)...].trimmingCharacters(in: .whitespaces)
        // A line break would begin another field.
        guard !name.isEmpty, !argument.contains(where: \.isNewline), !name.contains(" ") else { return nil }
    }
}
