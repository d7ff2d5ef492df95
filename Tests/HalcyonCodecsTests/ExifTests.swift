import HalcyonImage
import Testing

@testable import HalcyonCodecs

@Suite struct ExifTests {
    private func orientation(_ bytes: [UInt8]) -> Orientation {
        bytes.withUnsafeBytes { Exif.orientation(in: ByteReader($0)) }
    }

    private func block(_ value: UInt8, isLittleEndian: Bool = true, type: UInt8 = 3) -> [UInt8] {
        isLittleEndian
            ? [0x49, 0x49, 42, 0, 8, 0, 0, 0, 1, 0, 0x12, 0x01, type, 0, 1, 0, 0, 0, value, 0, 0, 0]
            : [0x4D, 0x4D, 0, 42, 0, 0, 0, 8, 0, 1, 0x01, 0x12, 0, type, 0, 0, 0, 1, 0, value, 0, 0]
    }

    @Test(arguments: Orientation.allCases)
    func orientationIsReadInBothByteOrders(_ expected: Orientation) {
        #expect(orientation(block(UInt8(expected.rawValue))) == expected)
        #expect(orientation(block(UInt8(expected.rawValue), isLittleEndian: false)) == expected)
        #expect(orientation(Array("Exif\0\0".utf8) + block(UInt8(expected.rawValue))) == expected)
    }

    @Test func invalidOrientationIsReadAsUp() {
        #expect(orientation([]) == .up)
        #expect(orientation(block(0)) == .up)
        #expect(orientation(block(9)) == .up)
        #expect(orientation(block(6, type: 5)) == .up)
        let whole = block(6)
        for length in 0..<19 { #expect(orientation(Array(whole.prefix(length))) == .up) }
    }

    /// In the place of three short numbers there is their offset, which is an orientation by chance.
    @Test func aCountOtherThanOneIsReadAsUp() {
        for count in [0, 2, 3, 255] as [UInt8] {
            var (little, big) = (block(6), block(6, isLittleEndian: false))
            (little[14], big[17]) = (count, count)
            #expect(orientation(little) == .up)
            #expect(orientation(big) == .up)
        }
        var long = block(6, type: 4)
        long[14] = 2
        #expect(orientation(long) == .up)
    }

    @Test func invalidDirectoryOffsetIsReadAsUp() {
        for byte in 4..<8 {
            var bytes = block(6)
            bytes[byte] = 0xFF
            #expect(orientation(bytes) == .up)
        }
    }

    /// Bytes, short and long numbers, signed ones, and undefined bytes.
    @Test(arguments: [1, 3, 4, 6, 7, 8, 9] as [UInt8]) func orientationIsReadFromAnyInteger(type: UInt8) {
        #expect(orientation(block(6, type: type)) == .right)
        #expect(orientation(block(0, type: type)) == .up)
    }
}
