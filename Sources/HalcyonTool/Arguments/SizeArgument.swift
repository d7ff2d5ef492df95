import ArgumentParser
import Halcyon

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
