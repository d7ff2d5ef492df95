/// The name of an entry's file, as the number that it is in hexadecimal: 16 bytes instead of a string.
struct EntryName: Hashable, Sendable {
    let high: UInt64
    let low: UInt64

    init(high: UInt64, low: UInt64) {
        self.high = high
        self.low = low
    }

    init(_ key: DiskKey) {
        self.init(high: key.high, low: key.low)
    }

    /// Nil for a name that is not one of ours: 32 lowercase hexadecimal digits.
    init?(fileName: String) {
        var words: (high: UInt64, low: UInt64) = (0, 0)
        var digits = 0
        for character in fileName.utf8 {
            let digit: UInt8
            switch character {
            case UInt8(ascii: "0")...UInt8(ascii: "9"): digit = character - UInt8(ascii: "0")
            case UInt8(ascii: "a")...UInt8(ascii: "f"): digit = character - UInt8(ascii: "a") + 10
            default: return nil
            }
            words.high = words.high << 4 | words.low >> 60
            words.low = words.low << 4 | UInt64(digit)
            digits += 1
        }
        guard digits == 32 else { return nil }
        self.init(high: words.high, low: words.low)
    }

    var fileName: String {
        String(unsafeUninitializedCapacity: 32) { buffer in
            for (word, start) in [(high, 0), (low, 16)] {
                for index in 0..<16 {
                    buffer[start + index] = hexadecimalDigit(word >> UInt64(60 - 4 * index))
                }
            }
            return 32
        }
    }

    /// Which of the 256 folders it lies in.
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

/// The digit for a number's lowest four bits.
private func hexadecimalDigit(_ number: UInt64) -> UInt8 {
    let digit = UInt8(truncatingIfNeeded: number & 15)
    return digit < 10 ? UInt8(ascii: "0") + digit : UInt8(ascii: "a") + digit - 10
}
