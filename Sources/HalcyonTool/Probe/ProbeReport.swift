import Halcyon

/// The output of `halcyon probe` for one source.
struct ProbeReport: Encodable, Sendable {
    let source: String
    var info: ImageInfo?
    var error: FailureReport?

    private enum Keys: String, CodingKey {
        case source, ok, format, width, height, frames, loops, alpha, bitsPerChannel, orientation, colorSpace, error
    }

    /// Encodes every key each time, with `null` for a missing value.
    func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: Keys.self)
        try container.encode(source, forKey: .source)
        try container.encode(error == nil, forKey: .ok)
        try container.encode(info?.format.name, forKey: .format)
        try container.encode(info?.size.width, forKey: .width)
        try container.encode(info?.size.height, forKey: .height)
        try container.encode(info?.frameCount, forKey: .frames)
        try container.encode(info?.loopCount, forKey: .loops)
        try container.encode(info?.hasAlpha, forKey: .alpha)
        try container.encode(info?.bitsPerChannel, forKey: .bitsPerChannel)
        try container.encode(info?.orientation.rawValue, forKey: .orientation)
        try container.encode(info?.colorSpace.description, forKey: .colorSpace)
        try container.encode(error, forKey: .error)
    }

    /// The report as a line for a terminal.
    var line: String? {
        guard let info else { return nil }
        var facts = ["\(info.format)", "\(info.size)", "\(info.bitsPerChannel) bit", "\(info.colorSpace)"]
        if info.hasAlpha { facts.append("alpha") }
        if info.isAnimated { facts.append("\(info.frameCount) frames") }
        if let loops = info.loopCount { facts.append(loops == 0 ? "loops for ever" : "plays \(loops)x") }
        if info.orientation != .up { facts.append("orientation \(info.orientation.rawValue)") }
        return "\(source)  " + facts.joined(separator: ", ")
    }
}
