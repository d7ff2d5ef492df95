import HalcyonImage

extension BlurHash {
    /// Encodes an image's pixels, or those of an animation's first frame.
    ///
    /// An image of at most 64 pixels a side is encoded pixel by pixel, and its text is the one that the published
    /// formulas give. A larger image is reduced to 64 blocks a side: the light of each block is summed exactly, and
    /// each wave is replaced by its average over the block. The result is the text of the whole image, except that
    /// fine noise may move a value by one of its 19 steps. Cost: one pass over the pixels, some 2 milliseconds for a
    /// megapixel; the thumbnail of a large image serves as well.
    ///
    /// - Parameters:
    ///   - componentsX: The number of cosine waves across, 1 to 9, 4 by default.
    ///   - componentsY: The number of cosine waves down, 1 to 9, 3 by default.
    ///   - background: The colour behind transparent pixels, since the format has no alpha; white by default. Its own
    ///     alpha is ignored.
    /// - Throws: `BlurHashError.invalidComponents`, `.invalidBackground`.
    public init(
        encoding image: Image, componentsX: Int = 4, componentsY: Int = 3, background: Color = .white
    ) throws(BlurHashError) {
        guard (1...9).contains(componentsX), (1...9).contains(componentsY) else {
            throw .invalidComponents(x: componentsX, y: componentsY)
        }
        guard background.isFinite else { throw .invalidBackground }
        let grid = BlurHashGrid(image.bitmap, background: background.clamped)
        let components = grid.components(componentsX, componentsY)

        let strongest = components.dropFirst().reduce(0) { max($0, abs($1.x), abs($1.y), abs($1.z)) }
        let strength = Int(min(max((strongest * 166 - 0.5).rounded(.down), 0), 82))
        let average = Self.combined(components[0], base: 256) { LinearLight.byte($0) }
        var digits = [UInt8((componentsY - 1) * 9 + componentsX - 1), UInt8(strength)]
        digits += Base83.digits(average, count: 4)
        for wave in components.dropFirst() {
            let value = Self.combined(wave, base: 19) { Self.step($0 / (Double(strength + 1) / 166)) }
            digits += Base83.digits(value, count: 2)
        }
        self.init(digits, componentsX: componentsX, componentsY: componentsY)
    }

    /// Combines three channels into one number, red in the most significant place.
    private static func combined(_ color: SIMD3<Double>, base: Int, _ digit: (Double) -> Int) -> Int {
        (digit(color.x) * base + digit(color.y)) * base + digit(color.z)
    }

    /// Returns the step, 0 to 18, of a wave's amount relative to the strongest wave, -1 to 1. The scale is a square
    /// root; step 9 is zero.
    private static func step(_ part: Double) -> Int {
        let root = part < 0 ? -(-part).squareRoot() : part.squareRoot()
        return Int(min(max((root * 9 + 9.5).rounded(.down), 0), 18))
    }
}
