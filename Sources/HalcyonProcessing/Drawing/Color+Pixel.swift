import HalcyonImage

extension Color {
    /// The colour as a premultiplied pixel, blue in the lowest byte.
    var packed: UInt32 {
        let color = clamped
        func byte(_ value: Double) -> UInt32 { UInt32((value * 255).rounded()) }
        let alpha = color.alpha
        return byte(color.blue * alpha) | byte(color.green * alpha) << 8 | byte(color.red * alpha) << 16
            | byte(alpha) << 24
    }

    /// - Throws: `ProcessingError.invalidArgument` if a channel is not finite.
    func validate(processor: String) throws {
        guard isFinite else {
            throw ProcessingError.invalidArgument(processor: processor, reason: "a colour that is no number")
        }
    }
}
