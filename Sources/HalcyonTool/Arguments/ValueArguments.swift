import ArgumentParser
import Foundation
import Halcyon
import HalcyonProcessing

/// A size in pixels, with an optional resize mode: `320x240`, `320x240:fill`.
struct SizeArgument: ExpressibleByArgument {
    let size: PixelSize
    let mode: ResizeMode

    init?(argument: String) {
        let parts = argument.split(separator: ":", omittingEmptySubsequences: false)
        guard parts.count <= 2, let size = Self.size(parts[0]) else { return nil }
        self.size = size
        if parts.count == 2 {
            guard let mode = ResizeMode(rawValue: String(parts[1])) else { return nil }
            self.mode = mode
        } else {
            mode = .fit
        }
    }

    var processor: ResizeProcessor { ResizeProcessor(size, mode: mode) }

    /// Parses `WxH`, both at least 1.
    static func size(_ text: some StringProtocol) -> PixelSize? {
        let sides = text.split(separator: "x", omittingEmptySubsequences: false).map { Int($0) }
        guard sides.count == 2, let width = sides[0], let height = sides[1], width > 0, height > 0 else { return nil }
        return PixelSize(width, height)
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

/// The name of a format that can be written.
enum FormatArgument {
    /// Returns the format.
    ///
    /// - Throws: `ValidationError` with the formats that there are.
    static func encodable(_ name: String, option: String) throws -> ImageFormat {
        let coders = CoderRegistry.shared
        if let format = coders.encodableFormat(named: name) { return format }
        let names = coders.encodableFormats.map(\.name).joined(separator: ", ")
        throw ValidationError("\(option) \(name): no encoder writes it. There are \(names).")
    }
}

/// The use of the caches.
enum PolicyArgument: String, ExpressibleByArgument, CaseIterable {
    case `default`
    case reload
    case onlyCache = "only-cache"
    case noStore = "no-store"

    var policy: CachePolicy {
        switch self {
        case .default: .default
        case .reload: .reload
        case .onlyCache: .onlyIfCached
        case .noStore: .noStore
        }
    }
}

/// A colour space for outputs of more than 8 bits a channel.
enum ColorSpaceArgument: String, ExpressibleByArgument, CaseIterable {
    case sRGB = "srgb"
    case displayP3 = "display-p3"
    case bt2020PQ = "bt2020-pq"
    case bt2020HLG = "bt2020-hlg"
    case linearSRGB = "linear-srgb"

    static var names: String { allValueStrings.joined(separator: ", ") }

    var space: NamedColorSpace {
        switch self {
        case .sRGB: .sRGB
        case .displayP3: .displayP3
        case .bt2020PQ: .bt2020PQ
        case .bt2020HLG: .bt2020HLG
        case .linearSRGB: .linearSRGB
        }
    }
}
