import ArgumentParser

/// A duration: `30` or `30s` in seconds, `10m`, `12h`, `7d`.
struct TimeArgument: ExpressibleByArgument {
    let seconds: Double

    init?(argument: String) {
        let units: [Character: Double] = ["s": 1, "m": 60, "h": 3600, "d": 86_400]
        guard let last = argument.last else { return nil }
        let number = units[last] == nil ? argument : String(argument.dropLast())
        guard let value = Double(number), value >= 0 else { return nil }
        seconds = value * (units[last] ?? 1)
        // A duration above three centuries is a typing mistake, and times would overflow.
        guard seconds < 1e10 else { return nil }
    }
}
