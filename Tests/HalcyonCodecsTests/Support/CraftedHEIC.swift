import Foundation
import Testing

/// A HEIC whose items are derived from one another as a test specifies.
struct CraftedHEIC {
    enum Item {
        /// The picture of `heic/444.heic`.
        case picture
        /// The same as another, turned or cut by its properties.
        case identity
        /// One column and row of tiles, or more.
        case grid(columns: Int, rows: Int)
        /// Tiles on a canvas of another size.
        case canvas(columns: UInt8, rows: UInt8, width: UInt8, height: UInt8)
        case overlay
        /// A part at a place, and another one at the origin.
        case placed(x: Int8, y: Int8)
        /// An item that is not an image.
        case exif
        /// An item that is coded as AV1.
        case av1
        /// The picture, cut by a property behind this many others.
        case cut(behind: UInt8)

        fileprivate var type: String {
            switch self {
            case .picture, .cut: "hvc1"
            case .identity: "iden"
            case .grid, .canvas: "grid"
            case .overlay, .placed: "iovl"
            case .exif: "Exif"
            case .av1: "av01"
            }
        }

        /// For a canvas of 64 x 64, the size of the picture before it is cut.
        fileprivate var data: Data {
            switch self {
            case .picture, .identity, .exif, .av1, .cut: Data()
            case .grid(let columns, let rows): Data([0, 0, UInt8(rows - 1), UInt8(columns - 1), 0, 64, 0, 64])
            case .canvas(let columns, let rows, let width, let height):
                Data([0, 0, rows - 1, columns - 1, 0, width, 0, height])
            case .overlay: Data([0, 0]) + Data(count: 8) + Data([0, 64, 0, 64, 0, 0, 0, 0])
            case .placed(let x, let y):
                Data([0, 0]) + Data(count: 8) + Data([0, 64, 0, 64])
                    + Data([x < 0 ? 255 : 0, UInt8(bitPattern: x), y < 0 ? 255 : 0, UInt8(bitPattern: y), 0, 0, 0, 0])
            }
        }
    }

    /// By their identifiers less one; the first is the primary image.
    var items: [Item]
    var references: [(type: String, from: Int, to: [Int])] = []
    /// Identifiers of those that are the alpha of another.
    var alphas: Set<Int> = []
    /// The number that is added to the length of each box of references.
    var lie = 0

    func file() throws -> Data {
        let source = try Fixture.read("heic/444.heic")
        func original(_ name: String) throws -> Data {
            let start = try #require(source.range(of: Data(name.utf8))).lowerBound - 4
            let length = source[start..<start + 4].reduce(0) { $0 << 8 | Int($1) }
            return source[start..<start + length]
        }
        let alpha = Self.box("auxC", Data(count: 4) + Data("urn:mpeg:hevc:2015:auxid:1\0".utf8))
        let av1 = Self.box("av1C", Data([0x81, 0, 12, 0]))
        // 32 columns and rows in the middle.
        let cut = Self.box("clap", [32, 1, 32, 1, 0, 1, 0, 1].reduce(Data()) { $0 + Self.word(0) + Self.word($1) })
        let properties = try Self.box("ipco", original("hvcC") + original("ispe") + alpha + av1 + cut)
        let picture = try original("mdat").dropFirst(8)
        let head = Self.box("ftyp", Data("heic\0\0\0\0mif1heic".utf8))
        let length = head.count + meta(properties, picture: (0, picture.count)).count + 8
        return head + meta(properties, picture: (length, picture.count)) + Self.box("mdat", picture)
    }

    private func meta(_ properties: Data, picture: (offset: Int, count: Int)) -> Data {
        var (infos, associations, locations, inner) = (Data(), Data(), Data(), Data())
        for (index, item) in items.enumerated() {
            let id = Self.word(index + 1)
            infos += Self.box("infe", Data([2, 0, 0, 0]) + id + Data([0, 0]) + Data(item.type.utf8) + [0])
            let (isPicture, isAV1) = (item.type == "hvc1", item.type == "av01")
            let coding: UInt8 = isAV1 ? 0x84 : 0x81
            if case .cut(let count) = item {
                associations += id + Data([count + 1, coding]) + Data(repeating: 2, count: Int(count) - 1) + Data([5])
            } else {
                associations += id + (alphas.contains(index + 1) ? Data([3, coding, 2, 3]) : Data([2, coding, 2]))
            }
            let place = isPicture ? picture : (inner.count, item.data.count)
            locations += id + Self.word(isPicture ? 0 : 1) + Data([0, 0, 0, 1])
            locations += Self.word(place.offset >> 16) + Self.word(place.offset)
            locations += Self.word(place.count >> 16) + Self.word(place.count)
            inner += item.data
        }
        let lists = references.reduce(Data()) { data, reference in
            let targets = reference.to.reduce(Data()) { $0 + Self.word($1) }
            var box = Self.box(reference.type, Self.word(reference.from) + Self.word(reference.to.count) + targets)
            box[box.startIndex + 3] = UInt8(truncatingIfNeeded: Int(box[box.startIndex + 3]) + lie)
            return data + box
        }
        let count = Self.word(items.count)
        var boxes = Self.box("hdlr", Data(count: 8) + Data("pict".utf8) + Data(count: 13))
        boxes += Self.box("pitm", Data([0, 0, 0, 0, 0, 1])) + Self.box("iinf", Data(count: 4) + count + infos)
        if !references.isEmpty { boxes += Self.box("iref", Data(count: 4) + lists) }
        boxes += Self.box("iprp", properties + Self.box("ipma", Data(count: 6) + count + associations))
        boxes += Self.box("idat", inner) + Self.box("iloc", Data([1, 0, 0, 0, 0x44, 0]) + count + locations)
        return Self.box("meta", Data(count: 4) + boxes)
    }

    private static func box(_ type: String, _ body: Data) -> Data {
        word((body.count + 8) >> 16) + word(body.count + 8) + Data(type.utf8) + body
    }

    private static func word(_ value: Int) -> Data { Data([UInt8(value >> 8 & 255), UInt8(value & 255)]) }
}
