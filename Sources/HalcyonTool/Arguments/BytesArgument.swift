import ArgumentParser

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
