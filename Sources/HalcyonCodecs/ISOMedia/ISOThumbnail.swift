import Foundation
import HalcyonImage

/// The thumbnail of the primary picture of a HEIC or AVIF: an item that refers to it, or the JPEG in its EXIF data.
///
/// The item is decoded as a file of its own, which has nothing but this item: so all checks and limits, and the memory that is
/// reserved, are those of such a file, and none of its pictures is read that is not shown.
package struct ISOThumbnail {
    /// The maximum of both sides, and of the bytes of the file.
    private static let (maximumSide, maximumBytes) = (512, 1 << 20)
    /// The properties that a picture is decoded with. An item that needs others is refused.
    private static let known: [StaticString] =
        ["hvcC", "av1C", "ispe", "pixi", "pasp", "clap", "irot", "imir"] + colors
    /// The properties of colours and of light, which a thumbnail may leave out.
    private static let colors: [StaticString] = ["colr", "clli", "mdcv"]

    private let items: ISOItems
    private let reader: ByteReader
    private let primary: ISOItems.Item
    /// The items that are refused by nothing but what their data may say, the largest first.
    private let candidates: [ISOItems.Item]
    private let exif: ISOItems.Item?
    private let codec: String
    private let brand: String

    /// Finds the thumbnail; nil if none is declared.
    ///
    /// - Parameter items: the items of the same bytes.
    private init?(_ items: ISOItems, in reader: ByteReader) {
        guard let id = items.primary, let primary = items.items[id], let turns = items.turns(primary) else {
            return nil
        }
        let codec = items.format == .avif ? "av01" : "hvc1"
        let others = items.items.sorted { $0.key < $1.key }.filter { $0.key != id }.map(\.value)
        candidates = others.filter { item in
            guard let size = item.size, item.type == codec, item.thumbnailOf.contains(id) else { return false }
            return max(size.width, size.height) <= Self.maximumSide && items.turns(item) == turns
        }.sorted { $0.size?.area ?? 0 > $1.size?.area ?? 0 }
        // The pixels of the JPEG are those before the picture is turned.
        exif = turns.isEmpty ? others.first { $0.type == "Exif" && $0.describes.contains(id) } : nil
        guard !candidates.isEmpty || exif != nil else { return nil }
        (self.items, self.reader, self.primary, self.codec) = (items, reader, primary, codec)
        brand = items.format == .avif ? "avif" : "heic"
    }

    /// Returns the bytes of a file's thumbnail; nil if there is none.
    package static func file(in data: Data, format: ImageFormat) -> Data? {
        data.read { reader in (try? ISOItems(reader, format: format)).flatMap { ISOThumbnail($0, in: reader)?.file } }
    }

    /// Returns whether a file declares a thumbnail that has not arrived as a whole.
    package static func isArriving(in data: Data, format: ImageFormat) -> Bool {
        data.read { reader in
            (try? ISOItems(reader, format: format)).flatMap { ISOThumbnail($0, in: reader)?.isArriving } ?? false
        }
    }

    /// Whether it is declared, and has not arrived as a whole.
    private var isArriving: Bool { (candidates.first ?? exif)?.isCut ?? false }

    /// The bytes of the thumbnail: a file with one item, or a JPEG. Nil if they are not there or too many.
    private var file: Data? {
        for item in candidates {
            if let data = data(of: item), let file = file(of: item, data) { return file }
        }
        return exif.flatMap(data).flatMap { data in
            data.read { reader in
                guard let start = reader.bigEndian32(0) else { return nil }
                let place = Exif.thumbnail(in: reader.part(at: 4 + start, length: reader.count))
                return place.map { data.dropFirst(4 + start + $0.lowerBound).prefix($0.count) }
            }
        }
    }

    /// Returns an item's data, in one piece.
    private func data(of item: ISOItems.Item) -> Data? {
        let count = item.extents.reduce(0) { $0.adding(1, times: $1.count) }
        guard !item.isCut, count > 0, count <= Self.maximumBytes else { return nil }
        return item.extents.reduce(into: Data()) { $0 += reader.bytes[$1] }
    }

    // MARK: The file

    private func file(of item: ISOItems.Item, _ data: Data) -> Data? {
        var uses = item.properties
        // A picture without colours or light of its own has those of the primary one.
        for name in Self.colors where !uses.contains(where: { items.property($0.index).isNamed(name) }) {
            uses += primary.properties.filter { items.property($0.index).isNamed(name) }
        }
        var (boxes, associations) = (Data(), Data())
        var count = 0
        for use in uses {
            let box = items.property(use.index)
            guard Self.known.contains(where: box.isNamed) else {
                if use.isEssential { return nil }
                continue
            }
            guard boxes.count + box.end - box.start <= Self.maximumBytes, count < ISOItems.Item.maximumProperties else {
                return nil
            }
            count += 1
            boxes += box.bytes
            associations.append(UInt8(count | (use.isEssential ? 0x80 : 0)))
        }
        let list = Self.long(1) + Self.short(1) + [UInt8(count)] + associations
        let properties = Self.box("iprp", Self.box("ipco", boxes) + Self.box("ipma", Self.long(0) + list))
        let head = Self.box("ftyp", Data(brand.utf8) + Self.long(0) + Data("mif1\(brand)".utf8))
        let length = head.count + meta(properties, place: 0, count: data.count).count + 8
        return head + meta(properties, place: length, count: data.count) + Self.box("mdat", data)
    }

    private func meta(_ properties: Data, place: Int, count: Int) -> Data {
        let handler = Self.box("hdlr", Data(count: 8) + Data("pict".utf8) + Data(count: 13))
        let primary = Self.box("pitm", Self.long(0) + Self.short(1))
        let entry = Self.box("infe", Data([2, 0, 0, 0]) + Self.short(1) + Self.short(0) + Data(codec.utf8) + [0])
        let list = Self.box("iinf", Self.long(0) + Self.short(1) + entry)
        // One item in one piece, offset and length of four bytes each.
        let item = Self.short(1) + Self.short(1) + Self.short(0) + Self.short(1) + Self.long(place) + Self.long(count)
        let places = Self.box("iloc", Self.long(0) + [0x44, 0] + item)
        return Self.box("meta", Self.long(0) + handler + primary + list + properties + places)
    }

    private static func box(_ name: String, _ body: Data) -> Data { long(8 + body.count) + Data(name.utf8) + body }
    private static func short(_ value: Int) -> Data { Data([UInt8(value >> 8 & 255), UInt8(value & 255)]) }
    private static func long(_ value: Int) -> Data { short(value >> 16) + short(value) }
}

extension ISOItems {
    /// The length of the box of a rotation or reflection.
    private static let turnBytes = 9

    /// Returns the rotations and reflections of an item, in their order; nil if it is cropped by more than what fills its last
    /// blocks up, if one of them is invalid, or if there may be more.
    fileprivate func turns(_ item: Item) -> [Data]? {
        var turns: [Data] = []
        guard item.properties.count < Item.maximumProperties else { return nil }
        for use in item.properties {
            let box = property(use.index)
            if box.isNamed("clap"), !turns.isEmpty || !Self.trims(box.body, item.size) { return nil }
            guard box.isNamed("irot") || box.isNamed("imir") else { continue }
            guard box.end - box.start == Self.turnBytes else { return nil }
            turns.append(box.bytes)
        }
        return turns
    }

    /// Returns whether a clean aperture begins in the corner of a picture: the others cut something off that is to be seen in
    /// neither picture, or in one alone.
    private static func trims(_ body: ByteReader, _ size: PixelSize?) -> Bool {
        guard let size, body.count == 32 else { return false }
        let numbers = (0..<8).compactMap { body.bigEndian32($0 * 4) }.map { Int(Int32(truncatingIfNeeded: $0)) }
        return [(size.width, 0), (size.height, 2)].allSatisfy { side, place in
            let (length, offset) = (numbers[place], numbers[place + 4])
            // The offset is that of the middle, in fractions.
            return numbers[place + 1] == 1 && length > 0 && length <= side && numbers[place + 5] > 0
                && offset * 2 == (length - side) * numbers[place + 5]
        }
    }
}

extension ISOBox {
    fileprivate var bytes: Data { Data(reader.part(at: start, length: end - start).bytes) }
}
