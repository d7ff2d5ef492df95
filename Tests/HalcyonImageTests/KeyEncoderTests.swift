import HalcyonImage
import Testing

@Suite struct KeyEncoderTests {
    private func bytes(_ write: (inout KeyEncoder) -> Void) -> [UInt8] {
        var encoder = KeyEncoder()
        write(&encoder)
        return encoder.bytes
    }

    @Test func bytesAreFixed() {
        // These bytes name files on users' disks: a change here throws every cache away.
        let key = bytes {
            $0.encode(type: "resize", version: 2)
            $0.encode(PixelSize(320, -1))
            $0.encode(0.5)
            $0.encode(true)
        }
        let expected: [UInt8] =
            [6, 0, 0, 0, 0, 0, 0, 0] + Array("resize".utf8) + [2, 0, 0, 0, 0, 0, 0, 0]
            + [0x40, 1, 0, 0, 0, 0, 0, 0] + [UInt8](repeating: 255, count: 8) + [0, 0, 0, 0, 0, 0, 0xE0, 0x3F] + [1]
        #expect(key == expected)
    }

    @Test func neighbouringStringsCannotBeMistaken() {
        #expect(
            bytes {
                $0.encode("ab")
                $0.encode("c")
            }
                != bytes {
                    $0.encode("a")
                    $0.encode("bc")
                })
    }

    @Test func aNestedListCannotRunIntoWhatFollows() {
        func list(_ first: [Int], _ second: [Int]) -> [UInt8] {
            bytes { encoder in
                for values in [first, second] {
                    encoder.encode(nested: { nested in values.forEach { nested.encode($0) } })
                }
            }
        }
        #expect(list([1, 2], [3]) != list([1], [2, 3]))
        #expect(list([], [1]) != list([1], []))
        #expect(bytes { $0.encode(nested: { $0.encode(true) }) } == [1, 0, 0, 0, 0, 0, 0, 0, 1])
        #expect(bytes { $0.encode(nested: { _ in }) } == [UInt8](repeating: 0, count: 8))
    }

    @Test func bothZerosAreOneKey() {
        #expect(bytes { $0.encode(0.0) } == bytes { $0.encode(-0.0) })
    }

    @Test func absenceIsNotAValue() {
        #expect(bytes { $0.encode(nil as Int?) } != bytes { $0.encode(0 as Int?) })
    }
}
