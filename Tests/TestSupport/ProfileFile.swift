import Foundation

/// ICC profiles of red, green and blue that are one table.
public enum ProfileFile {
    /// A profile whose table makes one colour of all, of version 2 and with 8 bits.
    ///
    /// - Parameters:
    ///   - steps: how many steps of each channel the table declares.
    ///   - held: how many steps of each channel it holds; nil for as many.
    public static func table(steps: UInt8, held: UInt8? = nil) -> Data {
        let entries = (0..<3).reduce(3) { entries, _ in entries * Int(held ?? steps) }
        var table = Data("mft1".utf8) + [0, 0, 0, 0, 3, 3, steps, 0]
        for index in 0..<9 { table += big32(index % 4 == 0 ? 0x1_0000 : 0) }
        let curves = Data((0..<3).flatMap { _ in UInt8.min...UInt8.max })
        table += curves + Data(repeating: 0x60, count: entries) + curves
        var file = big32(144 + table.count) + Data("none".utf8) + big32(0x0210_0000) + Data("mntrRGB Lab ".utf8)
        file += Data(count: 12) + Data("acsp".utf8) + Data(count: 28)
        // The white that all profiles refer to.
        file += big32(0xF6D6) + big32(0x1_0000) + big32(0xD32D) + Data(count: 48)
        return file + big32(1) + Data("A2B0".utf8) + big32(144) + big32(table.count) + table
    }

    /// A profile with the table of `table(steps:)` and the tag of code points.
    ///
    /// - Parameter length: the length of the tag as the list has it; nil for the right one.
    public static func withCodePoints(_ points: [UInt8], length: Int? = nil) -> Data {
        let table = table(steps: 2)
        let tag = Data("cicp".utf8) + Data(count: 4) + Data(points)
        // The list of tags grows by one.
        let (head, body) = (table.prefix(128), table.dropFirst(144))
        let start = 156 + body.count
        let list = big32(2) + Data("A2B0".utf8) + big32(156) + big32(body.count)
        let all = list + Data("cicp".utf8) + big32(start) + big32(length ?? tag.count) + body + tag
        return big32(128 + all.count) + head.dropFirst(4) + all
    }

    private static func big32(_ value: Int) -> Data {
        withUnsafeBytes(of: UInt32(value).bigEndian) { Data($0) }
    }
}
