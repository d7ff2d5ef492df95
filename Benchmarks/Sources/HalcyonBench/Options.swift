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
    /// An encode of one file, which replaces all measurements.
    private(set) var timedEncode: TimedEncode?

    private static let usage = """
        usage: halcyon-bench [--filter NAME] [--runs N] [--json] [--python PATH]
               halcyon-bench --decode FILE --to WIDTHxHEIGHT [--runs N] [--rgba OUTPUT]
               halcyon-bench --decode FILE --frames [--runs N]
               halcyon-bench --encode FILE --as FORMAT [--quality 0...100] [--effort 0...100] [--lossless] [--runs N]
        """

    init(_ arguments: some Sequence<String>) throws {
        var rest = arguments.makeIterator()
        var file: String?
        var size: PixelSize?
        var output: String?
        var source: String?
        var format: ImageFormat?
        var encoding = EncodeOptions()
        var hasFrames = false
        while let argument = rest.next() {
            switch argument {
            case "--json": isJSONOnly = true
            case "--filter": filter = try Self.value(of: argument, rest.next())
            case "--python": python = try Self.value(of: argument, rest.next())
            case "--serve": servedFolder = try Self.value(of: argument, rest.next())
            case "--decode": file = try Self.value(of: argument, rest.next())
            case "--to": size = try Self.size(try Self.value(of: argument, rest.next()))
            case "--rgba": output = try Self.value(of: argument, rest.next())
            case "--frames": hasFrames = true
            case "--encode": source = try Self.value(of: argument, rest.next())
            case "--as": format = ImageFormat(name: try Self.value(of: argument, rest.next()))
            case "--quality": encoding.quality = Double(try Self.number(of: argument, rest.next())) / 100
            case "--effort": encoding.effort = Double(try Self.number(of: argument, rest.next())) / 100
            case "--lossless": encoding.isLossless = true
            case "--runs": runs = max(1, try Self.number(of: argument, rest.next()))
            default: throw BenchmarkFailure(Self.usage)
            }
        }
        if let source, let format {
            timedEncode = TimedEncode(file: source, format: format, options: encoding, repeats: runs)
            return
        }
        guard file != nil || size != nil || output != nil else { return }
        guard let file, (size == nil) == hasFrames else { throw BenchmarkFailure(Self.usage) }
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

    private static func number(of option: String, _ text: String?) throws -> Int {
        guard let number = Int(try value(of: option, text)), number >= 0 else {
            throw BenchmarkFailure("\(option) needs a number")
        }
        return number
    }

    private static func value(of option: String, _ value: String?) throws -> String {
        guard let value else { throw BenchmarkFailure("\(option) needs a value") }
        return value
    }
}
