/// The scale in a file's name, as on Apple's platforms: `photo@2x.png`, also percent-encoded.
enum ImageScale {
    /// Returns 2 or 3 if the name says so, otherwise 1.
    static func named(in key: String) -> Double {
        var key = key
        return key.withUTF8 { bytes in
            // The shortest such name is "a@2x.png".
            guard bytes.count >= 8 else { return 1 }
            for index in 0..<bytes.count - 3 {
                if bytes[index] == UInt8(ascii: "@"), let scale = scale(bytes, at: index + 1) { return scale }
                if bytes[index] == UInt8(ascii: "%"), bytes[index + 1] == UInt8(ascii: "4"),
                    bytes[index + 2] == UInt8(ascii: "0"), let scale = scale(bytes, at: index + 3)
                {
                    return scale
                }
            }
            return 1
        }
    }

    private static func scale(_ bytes: UnsafeBufferPointer<UInt8>, at index: Int) -> Double? {
        guard index + 2 < bytes.count, bytes[index + 1] == UInt8(ascii: "x"), bytes[index + 2] == UInt8(ascii: ".")
        else { return nil }
        switch bytes[index] {
        case UInt8(ascii: "2"): return 2
        case UInt8(ascii: "3"): return 3
        default: return nil
        }
    }
}
