import Foundation
import HalcyonCodecs
import HalcyonImage

/// A HEIC or AVIF of a picture and its thumbnail, or of what no writer would call one.
public struct ThumbnailFile {
    public struct Part {
        public var type: String
        /// The boxes of its properties.
        public var properties: [Data]
        public var data: Data
        /// The place of its data in the file, in place of the true one.
        public var offset: Int?
        /// The length of its data, in place of the true one.
        public var length: Int?
    }

    /// By their identifiers less one; the first is the primary image.
    public var parts: [Part]
    public var references: [(type: String, from: Int, to: [Int])] = [("thmb", 2, [1])]
    /// Whether the thumbnail's data stands before that of the picture.
    public var isThumbnailFirst = true
    private let brand: String

    /// Creates a file of two, each of one item.
    public init(_ picture: Data, _ thumbnail: Data) {
        brand = String(decoding: picture[8..<12], as: UTF8.self)
        let type = brand == "avif" ? "av01" : "hvc1"
        parts = [picture, thumbnail].map {
            Part(type: type, properties: Self.properties(of: $0), data: Self.body(of: "mdat", in: $0))
        }
    }

    /// Adds a part that refers to the picture.
    public mutating func add(_ type: String, _ data: Data, as reference: String) {
        parts.append(Part(type: type, properties: [], data: data))
        references.append((reference, parts.count, [1]))
    }

    /// The picture, or the thumbnail, alone.
    public func alone(_ part: Int) -> Data {
        var file = self
        file.parts = [parts[part]]
        file.references = []
        return file.data
    }

    public var data: Data {
        let head = Self.box("ftyp", Data(brand.utf8) + Self.long(0) + Data("mif1\(brand)".utf8))
        let start = head.count + meta(0).count + 8
        let bodies = order.reduce(Data()) { $0 + parts[$1].data }
        return head + meta(start) + Self.box("mdat", bodies)
    }

    private var order: [Int] { isThumbnailFirst ? parts.indices.reversed() : Array(parts.indices) }

    private func meta(_ start: Int) -> Data {
        var offsets: [Int: Int] = [:]
        var end = start
        for index in order {
            offsets[index] = end
            end += parts[index].data.count
        }
        var (infos, properties, associations, places) = (Data(), Data(), Data(), Data())
        var count = 0
        for (index, part) in parts.enumerated() {
            let id = Self.short(index + 1)
            infos += Self.box("infe", Data([2, 0, 0, 0]) + id + Data([0, 0]) + Data(part.type.utf8) + [0])
            associations += id + [UInt8(part.properties.count)]
            for property in part.properties {
                count += 1
                properties += property
                associations.append(UInt8(count | (Self.isEssential(property) ? 0x80 : 0)))
            }
            places += id + Self.short(0) + Self.short(1) + Self.long(part.offset ?? offsets[index] ?? 0)
            places += Self.long(part.length ?? part.data.count)
        }
        let lists = references.reduce(Data()) { data, reference in
            let targets = reference.to.reduce(Data()) { $0 + Self.short($1) }
            return data
                + Self.box(reference.type, Self.short(reference.from) + Self.short(reference.to.count) + targets)
        }
        let number = Self.short(parts.count)
        var boxes = Self.box("hdlr", Data(count: 8) + Data("pict".utf8) + Data(count: 13))
        boxes += Self.box("pitm", Data([0, 0, 0, 0, 0, 1])) + Self.box("iinf", Data(count: 4) + number + infos)
        if !references.isEmpty { boxes += Self.box("iref", Data(count: 4) + lists) }
        let table = Self.box("ipma", Data(count: 6) + number + associations)
        boxes += Self.box("iprp", Self.box("ipco", properties) + table)
        boxes += Self.box("iloc", Data([0, 0, 0, 0, 0x44, 0]) + number + places)
        return Self.box("meta", Data(count: 4) + boxes)
    }

    private static func isEssential(_ property: Data) -> Bool {
        ["hvcC", "av1C", "irot", "imir", "clap"].contains(
            String(decoding: property.dropFirst(4).prefix(4), as: UTF8.self))
    }

    /// The boxes of the properties of a file.
    public static func properties(of file: Data) -> [Data] {
        let list = body(of: "ipco", in: file)
        return list.read { reader in
            ISOBox.all(in: reader).map { Data(reader.part(at: $0.start, length: $0.end - $0.start).bytes) }
        }
    }

    private static func body(of name: String, in file: Data) -> Data {
        guard let place = file.range(of: Data(name.utf8)) else { return Data() }
        let start = place.lowerBound - 4
        let length = file[start..<start + 4].reduce(0) { $0 << 8 | Int($1) }
        return Data(file[start + 8..<(length == 0 ? file.endIndex : start + length)])
    }

    public static func box(_ type: String, _ body: Data) -> Data { long(body.count + 8) + Data(type.utf8) + body }
    public static func long(_ value: Int) -> Data { short(value >> 16) + short(value) }
    private static func short(_ value: Int) -> Data { Data([UInt8(value >> 8 & 255), UInt8(value & 255)]) }
}
