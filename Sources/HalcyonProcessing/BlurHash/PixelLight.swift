import HalcyonImage

/// Computes the light of pixels on a background.
struct PixelLight {
    private let light = LinearLight.ofByte
    private let blue: Int
    private let green: Int
    private let red: Int

    /// - Parameter background: A colour with every channel within 0...1; its alpha is ignored.
    init(background: Color) {
        func byte(_ value: Double) -> Int { Int((value * 255).rounded()) }
        blue = byte(background.blue)
        green = byte(background.green)
        red = byte(background.red)
    }

    /// Returns the sum of the light of premultiplied pixels in a row.
    func sum(_ bytes: UnsafeRawBufferPointer) -> SIMD3<Double> {
        var sums: (Double, Double, Double) = (0, 0, 0)
        light.withUnsafeBufferPointer { light in
            for offset in stride(from: 0, to: bytes.count, by: 4) {
                let rest = 255 - Int(bytes[offset + 3])
                func over(_ channel: Int, _ background: Int) -> Double {
                    let value = Int(bytes[offset + channel])
                    return light[rest == 0 ? value : min(255, value + (background * rest + 127) / 255)]
                }
                sums.0 += over(2, red)
                sums.1 += over(1, green)
                sums.2 += over(0, blue)
            }
        }
        return SIMD3(sums.0, sums.1, sums.2)
    }
}
