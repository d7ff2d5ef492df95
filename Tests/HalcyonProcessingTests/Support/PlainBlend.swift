import HalcyonProcessing

/// Two layers that become one, as PDF and the W3C's Compositing and Blending write it. Pixels are blue, green, red and
/// alpha from 0 to 255, premultiplied.
struct PlainBlend {
    let mode: BlendMode

    func callAsFunction(_ source: [Double], onto backdrop: [Double]) -> [Double] {
        let (source, backdrop) = (source.map { $0 / 255 }, backdrop.map { $0 / 255 })
        let result = fractions(source[3], backdrop[3]).map { parts in
            zip(source, backdrop).map { min(1, $0 * parts.source + $1 * parts.backdrop) }
        }
        return (result ?? mixed(source, backdrop)).map { $0 * 255 }
    }

    /// Porter and Duff's: how much of each remains; nil for those that mix colours.
    private func fractions(_ source: Double, _ backdrop: Double) -> (source: Double, backdrop: Double)? {
        switch mode {
        case .clear: (0, 0)
        case .source: (1, 0)
        case .over: (1, 1 - source)
        case .sourceIn: (backdrop, 0)
        case .sourceOut: (1 - backdrop, 0)
        case .sourceAtop: (backdrop, 1 - source)
        case .destination: (0, 1)
        case .destinationOver: (1 - backdrop, 1)
        case .destinationIn: (0, source)
        case .destinationOut: (0, 1 - source)
        case .destinationAtop: (1 - backdrop, source)
        case .xor: (1 - backdrop, 1 - source)
        case .add: (1, 1)
        case .saturate: (source > 0 ? min(1, (1 - backdrop) / source) : 1, 1)
        default: nil
        }
    }

    private func mixed(_ source: [Double], _ backdrop: [Double]) -> [Double] {
        let (above, below) = (source[3], backdrop[3])
        let (colors, grounds) = (straight(source), straight(backdrop))
        let blended: [Double] =
            switch mode {
            case .hue: withLight(withSaturation(colors, saturation(grounds)), light(grounds))
            case .saturation: withLight(withSaturation(grounds, saturation(colors)), light(grounds))
            case .color: withLight(colors, light(grounds))
            case .luminosity: withLight(grounds, light(colors))
            default: zip(grounds, colors).map { separable(mode, $0, $1) }
            }
        return (0..<3).map {
            source[$0] * (1 - below) + backdrop[$0] * (1 - above) + blended[$0] * above * below
        } + [above + below - above * below]
    }

    private func straight(_ pixel: [Double]) -> [Double] {
        (0..<3).map { pixel[3] > 0 ? pixel[$0] / pixel[3] : 0 }
    }

    private func separable(_ mode: BlendMode, _ below: Double, _ above: Double) -> Double {
        switch mode {
        case .multiply: return below * above
        case .screen: return below + above - below * above
        case .overlay: return separable(.hardLight, above, below)
        case .darken: return min(below, above)
        case .lighten: return max(below, above)
        case .colorDodge: return below == 0 ? 0 : above >= 1 ? 1 : min(1, below / (1 - above))
        case .colorBurn: return below >= 1 ? 1 : above == 0 ? 0 : 1 - min(1, (1 - below) / above)
        case .hardLight:
            return above <= 0.5 ? below * 2 * above : separable(.screen, below, 2 * above - 1)
        case .softLight:
            if above <= 0.5 { return below - (1 - 2 * above) * below * (1 - below) }
            let root = below <= 0.25 ? ((16 * below - 12) * below + 4) * below : below.squareRoot()
            return below + (2 * above - 1) * (root - below)
        case .difference: return abs(below - above)
        case .exclusion: return below + above - 2 * below * above
        default: return above
        }
    }

    // MARK: Hue, saturation and light

    private func light(_ color: [Double]) -> Double { 0.11 * color[0] + 0.59 * color[1] + 0.3 * color[2] }

    private func saturation(_ color: [Double]) -> Double { (color.max() ?? 0) - (color.min() ?? 0) }

    private func withSaturation(_ color: [Double], _ saturation: Double) -> [Double] {
        let (least, most) = (color.min() ?? 0, color.max() ?? 0)
        return color.map { most > least ? ($0 - least) * saturation / (most - least) : 0 }
    }

    private func withLight(_ color: [Double], _ light: Double) -> [Double] {
        let moved = color.map { $0 + light - self.light(color) }
        let (least, most) = (moved.min() ?? 0, moved.max() ?? 0)
        return moved.map { value in
            var value = value
            if least < 0 { value = light + (value - light) * light / (light - least) }
            if most > 1 { value = light + (value - light) * (1 - light) / (most - light) }
            return value
        }
    }
}
