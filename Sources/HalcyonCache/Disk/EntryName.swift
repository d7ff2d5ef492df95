/// The name of an entry's file, as the number that it is in hexadecimal: 16 bytes instead of a string.
struct EntryName: Hashable, Sendable {
    let high: UInt64
    let low: UInt64

    init(high: UInt64, low: UInt64) {
        self.high = high
        self.low = low
    }

    init(_ key: CacheKey) {
        self.init(high: key.high, low: key.low)
    }

    /// Returns nil for a name that is not one of the cache's: 32 lowercase hexadecimal digits.
    init?(fileName: String) {
        guard fileName.utf8.count == 32 else { return nil }
        self.init(startOf: fileName)
    }

    /// Returns nil for a name that does not begin with 32 lowercase hexadecimal digits, or that continues after them with
    /// anything but a dot.
    init?(startOf fileName: String) {
        var words: (high: UInt64, low: UInt64) = (0, 0)
        var digits = 0
        for character in fileName.utf8 {
            let digit: UInt8
            switch character {
            case UInt8(ascii: "0")...UInt8(ascii: "9"): digit = character - UInt8(ascii: "0")
            case UInt8(ascii: "a")...UInt8(ascii: "f"): digit = character - UInt8(ascii: "a") + 10
            case UInt8(ascii: ".") where digits == 32:
                self.init(high: words.high, low: words.low)
                return
            default: return nil
            }
            guard digits < 32 else { return nil }
            words.high = words.high << 4 | words.low >> 60
            words.low = words.low << 4 | UInt64(digit)
            digits += 1
        }
        guard digits == 32 else { return nil }
        self.init(high: words.high, low: words.low)
    }

    var fileName: String {
        String(unsafeUninitializedCapacity: 32) { buffer in
            if let start = buffer.baseAddress { write(to: start) }
            return 32
        }
    }

    /// Writes the 32 digits.
    func write(to start: UnsafeMutableRawPointer) {
        start.storeBytes(of: Self.digits(high >> 32), as: UInt64.self)
        start.storeBytes(of: Self.digits(high), toByteOffset: 8, as: UInt64.self)
        start.storeBytes(of: Self.digits(low >> 32), toByteOffset: 16, as: UInt64.self)
        start.storeBytes(of: Self.digits(low), toByteOffset: 24, as: UInt64.self)
    }

    /// Returns the eight digits of a number's lower half in memory order, computed all at once: names are made for every
    /// access to a file.
    private static func digits(_ number: UInt64) -> UInt64 {
        var digits = number & 0xFFFF_FFFF
        digits = (digits << 16 | digits) & 0x0000_FFFF_0000_FFFF
        digits = (digits << 8 | digits) & 0x00FF_00FF_00FF_00FF
        digits = (digits << 4 | digits) & 0x0F0F_0F0F_0F0F_0F0F
        // From ten on, letters are used, which come 39 behind the digits.
        let letters = ((digits &+ 0x0606_0606_0606_0606) >> 4) & 0x0101_0101_0101_0101
        return (digits &+ 0x3030_3030_3030_3030 &+ letters &* 39).bigEndian
    }

    /// The number of the file's folder among the 256.
    var folder: UInt8 { UInt8(truncatingIfNeeded: high >> 56) }

    var folderName: String { Self.folderName(folder) }

    static func folderName(_ folder: UInt8) -> String {
        String(unsafeUninitializedCapacity: 2) { buffer in
            buffer[0] = hexadecimalDigit(UInt64(folder >> 4))
            buffer[1] = hexadecimalDigit(UInt64(folder))
            return 2
        }
    }
}

/// Returns the hexadecimal digit for a number's lowest four bits.
private func hexadecimalDigit(_ number: UInt64) -> UInt8 {
    let digit = UInt8(truncatingIfNeeded: number & 15)
    return digit < 10 ? UInt8(ascii: "0") + digit : UInt8(ascii: "a") + digit - 10
}
