import ArgumentParser
import Halcyon

/// One `--process`: `NAME` or `NAME=VALUE`.
struct ProcessorArgument: ExpressibleByArgument {
    let processor: any ImageProcessor

    static let help = """
        resize=WxH[:fit|fill|stretch], crop=WxH[@X,Y] (from the top left; centred without an offset), \
        flip=horizontal|vertical, round=RADIUS
        """

    init?(argument: String) {
        let parts = argument.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
        let value = parts.count == 2 ? String(parts[1]) : ""
        let parsed: (any ImageProcessor)? =
            switch parts[0] {
            case "resize": SizeArgument(argument: value)?.processor
            case "crop": Self.crop(value)
            case "flip": FlipProcessor.Axis(rawValue: value).map { FlipProcessor($0) }
            case "round": Double(value).map { RoundCornersProcessor(radius: $0) }
            default: nil
            }
        guard let parsed else { return nil }
        processor = parsed
    }

    private static func crop(_ value: String) -> CropProcessor? {
        let parts = value.split(separator: "@", omittingEmptySubsequences: false)
        guard let first = parts.first, let size = SizeArgument.size(first) else { return nil }
        if parts.count == 1 { return .crop(to: size) }
        let offsets = parts[1].split(separator: ",", omittingEmptySubsequences: false).map { Int($0) }
        guard parts.count == 2, offsets.count == 2, let x = offsets[0], let y = offsets[1] else { return nil }
        return .crop(PixelRect(x: x, y: y, width: size.width, height: size.height))
    }
}
