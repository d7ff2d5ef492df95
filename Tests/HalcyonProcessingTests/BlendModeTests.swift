import HalcyonImage
import HalcyonProcessing
import Testing

/// Each of Cairo's operators, with either layer opaque or translucent: what is blended onto a colour, and what a colour
/// is drawn onto.
@Suite struct BlendModeTests {
    /// Their premultiplied channels are whole bytes, so that Cairo and the reference begin with the same.
    static let colors = [
        Color(red: 51.0 / 255, green: 1, blue: 153.0 / 255), Color(red: 0.5, green: 1, blue: 0, alpha: 128.0 / 255),
        Color(red: 0.25, green: 0.75, blue: 0.875, alpha: 32.0 / 255), .white, .black, .clear,
    ]

    @Test(arguments: BlendMode.allCases, colors)
    func anImageIsBlendedOntoAColour(mode: BlendMode, color: Color) throws {
        let blend = PlainBlend(mode: mode)
        for hasAlpha in [false, true] {
            let source = try noise(15, 11, hasAlpha: hasAlpha)
            let result = try source.processed(by: .blend(mode, background: color))
            let reference = PlainImage(source).map { blend($0, onto: color.plain) }
            try expect(result, reference, within: 2)
            expectSound(result, "\(mode)")
            #expect(result.info == source.info)
        }
    }

    @Test(arguments: BlendMode.allCases, colors)
    func aColourIsDrawnOntoAnImage(mode: BlendMode, color: Color) throws {
        let blend = PlainBlend(mode: mode)
        for hasAlpha in [false, true] {
            let source = try noise(15, 11, hasAlpha: hasAlpha)
            let result = try source.processed(by: .tint(color, mode: mode))
            let reference = PlainImage(source).map { blend(color.plain, onto: $0) }
            try expect(result, reference, within: 2)
            expectSound(result, "\(mode)")
            #expect(result.info == source.info)
        }
    }

    @Test(arguments: BlendMode.allCases)
    func theImageIsMadeFainterFirst(mode: BlendMode) throws {
        let blend = PlainBlend(mode: mode)
        for color in [Self.colors[0], Self.colors[1], .clear] {
            // Bytes of which two fifths are a whole number: half a level gives another hue where a colour is nearly grey.
            let source = try picture(15, 11) { x, y in
                Color(red: Double(x * 10) / 255, green: Double(y * 15) / 255, blue: Double((x + y) * 5) / 255)
            }
            let result = try source.processed(by: .blend(mode, alpha: 0.4, background: color))
            let reference = PlainImage(source).map { blend($0.map { $0 * 0.4 }, onto: color.plain) }
            try expect(result, reference, within: 2)
            expectSound(result, "\(mode)")
        }
    }

    @Test(arguments: BlendMode.allCases)
    func noneIsCalledOpaqueThatIsNot(mode: BlendMode) throws {
        let alphas = [0, 0.001, 0.5, 0.99, 0.996, 0.998, 0.9981, 0.9999, 1]
        for hasAlpha in [false, true] {
            let source = try noise(9, 7, hasAlpha: hasAlpha)
            for alpha in alphas {
                let color = Color(red: 1, green: 0.5, blue: 0.2, alpha: alpha)
                expectSound(try source.processed(by: .tint(color, mode: mode)), "\(mode) \(alpha)")
                for share in [0, 0.5, 0.999, 1] {
                    let result = try source.processed(by: .blend(mode, alpha: share, background: color))
                    expectSound(result, "\(mode) \(alpha) \(share)")
                }
            }
        }
    }

    /// An opaque image needs no mixing with what is below it wherever it is drawn.
    @Test func anOpaqueResultIsCalledOpaque() throws {
        let source = try noise(9, 7, hasAlpha: false)
        for mode in [BlendMode.over, .source, .multiply, .destinationAtop] {
            #expect(try source.processed(by: .blend(mode, background: .clear)).bitmap.isOpaque)
            #expect(try !source.processed(by: .blend(mode, alpha: 0.5, background: .clear)).bitmap.isOpaque)
        }
        #expect(try source.processed(by: .tint(Color(white: 1, alpha: 0.5), mode: .over)).bitmap.isOpaque)
    }

    @Test func theirNamesAreFixed() {
        // They are parts of keys on disk, and stand in Cairo's order.
        let names = [
            "clear", "source", "over", "sourceIn", "sourceOut", "sourceAtop", "destination", "destinationOver",
            "destinationIn", "destinationOut", "destinationAtop", "xor", "add", "saturate", "multiply", "screen",
            "overlay", "darken", "lighten", "colorDodge", "colorBurn", "hardLight", "softLight", "difference",
            "exclusion", "hue", "saturation", "color", "luminosity",
        ]
        #expect(BlendMode.allCases.map(\.rawValue) == names)
    }
}
