/// What the command line asks for.
struct Options {
    /// Part of a comparison's name and variant, as `disk-hit` or `jpeg-decode, 12 Mpx`.
    private(set) var filter: String?
    private(set) var runs = 20
    private(set) var isJSONOnly = false
    /// Set in the second process that the benchmark starts where there is no nginx: the folder that it serves.
    private(set) var servedFolder: String?

    init(_ arguments: some Sequence<String>) throws {
        var rest = arguments.makeIterator()
        while let argument = rest.next() {
            switch argument {
            case "--json": isJSONOnly = true
            case "--filter": filter = try Self.value(of: argument, rest.next())
            case "--serve": servedFolder = try Self.value(of: argument, rest.next())
            case "--runs":
                guard let number = Int(try Self.value(of: argument, rest.next())), number > 0 else {
                    throw BenchmarkFailure("--runs needs a number above 0")
                }
                runs = number
            default: throw BenchmarkFailure("usage: halcyon-bench [--filter NAME] [--runs N] [--json]")
            }
        }
    }

    func includes(_ comparison: Comparison) -> Bool {
        guard let filter else { return true }
        return "\(comparison.name), \(comparison.variant)".contains(filter)
    }

    private static func value(of option: String, _ value: String?) throws -> String {
        guard let value else { throw BenchmarkFailure("\(option) needs a value") }
        return value
    }
}
