import Halcyon

/// The options of the command line.
struct Options {
    /// A part of a comparison's name and variant, such as `disk-hit` or `jpeg-decode, 12 Mpx`.
    private(set) var filter: String?
    private(set) var runs = 20
    private(set) var isJSONOnly = false
    /// The path of a Python with Pillow, libvips and OpenCV; without it, only Halcyon's image processors are
    /// measured.
    private(set) var python: String?
    /// The folder to serve. It is set in the second process that the benchmark starts if there is no nginx.
    private(set) var servedFolder: String?
    /// A decode of one file to a size, which replaces all measurements.
    private(set) var sizedDecode: SizedDecode?

    private static let usage = """
        usage: halcyon-bench [--filter NAME] [--runs N] [--json] [--python PATH]
               halcyon-bench --decode FILE --to WIDTHxHEIGHT [--runs N] [--rgba OUTPUT]
        """

    init(_ arguments: some Sequence<String>) throws {
        var rest = arguments.makeIterator()
        var file: String?
        var size: PixelSize?
        var output: String?
        while let argument = rest.next() {
            switch argument {
            case "--json": isJSONOnly = true
            case "--filter": filter = try Self.value(of: argument, rest.next())
            case "--python": python = try Self.value(of: argument, rest.next())
            case "--serve": servedFolder = try Self.value(of: argument, rest.next())
            case "--decode": file = try Self.value(of: argument, rest.next())
            case "--to": size = try Self.size(try Self.value(of: argument, rest.next()))
            case "--rgba": output = try Self.value(of: argument, rest.next())
            case "--runs":
                guard let number = Int(try Self.value(of: argument, rest.next())), number > 0 else {
                    throw BenchmarkFailure("--runs needs a number above 0")
                }
                runs = number
            default: throw BenchmarkFailure(Self.usage)
            }
        }
        guard file != nil || size != nil || output != nil else { return }
        guard let file, let size else { throw BenchmarkFailure(Self.usage) }
        sizedDecode = SizedDecode(file: file, size: size, repeats: runs, output: output)
    }

    func includes(_ comparison: Comparison) -> Bool {
        guard let filter else { return true }
        return "\(comparison.name), \(comparison.variant)".contains(filter)
    }

    private static func size(_ text: String) throws -> PixelSize {
        let sides = text.split(separator: "x").compactMap { Int($0) }
        guard sides.count == 2 else { throw BenchmarkFailure("--to needs WIDTHxHEIGHT") }
        return PixelSize(sides[0], sides[1])
    }

    private static func value(of option: String, _ value: String?) throws -> String {
        guard let value else { throw BenchmarkFailure("\(option) needs a value") }
        return value
    }
}
