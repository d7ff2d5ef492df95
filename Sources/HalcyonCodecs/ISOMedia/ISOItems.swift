import HalcyonImage

/// The items of a HEIC or AVIF, as far as they determine the cost of decoding the primary one.
package struct ISOItems {
    package struct Item {
        package var type = ""
        /// The size that `ispe` declares.
        package var size: PixelSize?
        package var coded = CodedPicture()
        /// The ranges of its data in the file.
        package var extents: [Range<Int>] = []
        /// The items that it is assembled from, as often as they are referenced.
        package var parts: [Int] = []
        /// The items that it is the alpha or depth image of.
        package var auxiliaryOf: [Int] = []
        /// The items that it is a thumbnail of.
        var thumbnailOf: [Int] = []
        /// The items that it describes.
        var describes: [Int] = []
        /// Its properties, by their indices, `maximumProperties` of them at most, and whether a reader must know them.
        var properties: [Use] = []
        /// The name of one that a reader must know and that is not known here.
        var unknownProperty: String?
        /// Whether some of its data is not in the file.
        var isCut = false

        static let maximumProperties = 32

        struct Use {
            let index: Int
            let isEssential: Bool
        }
    }

    private(set) var items: [Int: Item] = [:]
    /// The first pictures of sequences, with the sizes that their tracks declare.
    private(set) var tracks: [(coded: CodedPicture, size: PixelSize?)] = []
    let format: ImageFormat
    private(set) var primary: Int?
    /// The boxes of properties. Associations count them from 1.
    private var properties: [ISOBox] = []
    /// The pictures that codec configurations declare, by the index of the property.
    private var configurations: [Int: CodedPicture] = [:]
    private var extentCount = 0
    private var referenceCount = 0
    /// The numbers that the tables name, of items that are declared or not.
    private var named: Set<Int> = []
    /// The number of items that a library keeps: one for each number that a table names.
    package var namedCount: Int { named.count }
    /// The number of bytes of picture data that may still be read.
    private var bytesLeft: Int

    /// The maximum length of a list, more than any real file has. An item takes some 300 bytes of memory, and 4 to 20
    /// bytes of the file. Some entries take no bytes of the file, or share the same ones many times.
    private static let maximumEntries = 10_000
    /// The maximum number of items that are named and not declared. Each takes 1.5 KB of libavif, and 3 to 6 bytes of the file.
    private static let maximumUndeclared = 1_000
    /// The maximum number of references and of extents, for all items together.
    private static let (maximumReferences, maximumExtents) = (1 << 18, 1 << 18)
    /// The maximum depth of items that are assembled from others.
    static let deepest = 32
    /// The types of items whose data is read: it declares a size, or may have a thumbnail.
    private static let readTypes: Set<String> = ["hvc1", "hev1", "av01", "grid", "iovl", "Exif"]

    /// Reads the tables of items, the headers of their pictures, and the tracks.
    ///
    /// - Throws: `CodecError.damaged` if the tables are not plausible for a picture, or could be read in two ways.
    package init(_ reader: ByteReader, format: ImageFormat) throws {
        self.format = format
        bytesLeft = max(1 << 20, reader.count * 4)
        let boxes = try list(ISOBox.ofFile(reader))
        if let box = try only("meta", of: boxes) {
            let parts = try list(ISOBox.all(in: box.body, from: 4))
            if let part = try only("pitm", of: parts) {
                primary = Self.identifier(part.body, at: 4, isLong: part.body.byte(0) != 0)
            }
            if let part = try only("iinf", of: parts) { try readTypes(part.body) }
            if let part = try only("iprp", of: parts) { try readProperties(part.body) }
            if let part = try only("iref", of: parts) { try readReferences(part.body) }
            let data = try only("idat", of: parts)?.body
            if let part = try only("iloc", of: parts) { try readPlaces(part.body, file: reader, data: data) }
        }
        try readPictures(reader)
        for box in boxes where box.isNamed("moov") {
            for track in try list(ISOBox.all(in: box.body)) where track.isNamed("trak") {
                try readTrack(track.body, file: reader)
            }
        }
    }

    // MARK: Tables

    /// Returns the boxes as an array.
    ///
    /// - Throws: `CodecError.damaged` for more boxes than any real file has: a library might read those that would be
    ///   left out here.
    private func list(_ boxes: some Sequence<ISOBox>) throws -> [ISOBox] {
        let list = Array(boxes.prefix(Self.maximumEntries))
        guard list.count < Self.maximumEntries else { throw damaged("it has too many parts") }
        return list
    }

    /// Returns the only box with a name; nil if there is none.
    ///
    /// - Throws: `CodecError.damaged` if there are several: some libraries read the first one and some the last.
    private func only(_ name: StaticString, of boxes: [ISOBox]) throws -> ISOBox? {
        let found = boxes.filter { $0.isNamed(name) }
        guard found.count < 2 else { throw damaged("it has \(found.count) boxes \(name)") }
        return found.first
    }

    private static func identifier(_ reader: ByteReader, at offset: Int, isLong: Bool) -> Int? {
        isLong ? reader.bigEndian32(offset) : reader.bigEndian16(offset)
    }

    private mutating func readTypes(_ body: ByteReader) throws {
        let start = body.byte(0) == 0 ? 6 : 8
        for box in try list(ISOBox.all(in: body, from: start)) where box.isNamed("infe") {
            guard let version = box.body.byte(0), version >= 2 else { continue }
            let isLong = version > 2
            guard let id = Self.identifier(box.body, at: 4, isLong: isLong),
                let type = box.body.ascii(at: isLong ? 10 : 8, length: 4)
            else { continue }
            guard items[id] == nil else { throw damaged("it declares an item twice") }
            items[id] = Item(type: type)
            try name(id)
        }
    }

    /// Notes the number of an item: a library keeps one for each that a table names.
    ///
    /// - Throws: `CodecError.damaged` for many that are not declared.
    private mutating func name(_ id: Int) throws {
        named.insert(id)
        guard named.count <= items.count + Self.maximumUndeclared else { throw damaged("it has too many parts") }
    }

    private mutating func readProperties(_ body: ByteReader) throws {
        let boxes = try list(ISOBox.all(in: body))
        properties = try only("ipco", of: boxes).map { try list(ISOBox.all(in: $0.body)) } ?? []
        for box in boxes where box.isNamed("ipma") { try readAssociations(box.body) }
    }

    private mutating func readAssociations(_ body: ByteReader) throws {
        guard let version = body.byte(0), let flags = body.byte(3), let count = body.bigEndian32(4) else { return }
        var offset = 8
        for _ in 0..<count {
            guard let id = Self.identifier(body, at: offset, isLong: version > 0) else { return }
            offset += version > 0 ? 4 : 2
            try name(id)
            guard let uses = body.byte(offset) else { return }
            offset += 1
            for _ in 0..<uses {
                let isWide = flags & 1 != 0
                guard let value = isWide ? body.bigEndian16(offset) : body.byte(offset) else { return }
                offset += isWide ? 2 : 1
                apply(value & (isWide ? 0x7FFF : 0x7F), isEssential: value & (isWide ? 0x8000 : 0x80) != 0, to: id)
            }
        }
    }

    /// Applies a property to an item. An item that is not declared has no type and is never decoded.
    private mutating func apply(_ property: Int, isEssential: Bool, to id: Int) {
        guard let item = items[id], properties.indices.contains(property - 1) else { return }
        let box = properties[property - 1]
        if item.properties.count < Item.maximumProperties {
            items[id]?.properties.append(Item.Use(index: property - 1, isEssential: isEssential))
        }
        if isEssential, !Self.knownProperties.contains(where: box.isNamed) { items[id]?.unknownProperty = box.name }
        if box.isNamed("ispe"), let width = box.body.bigEndian32(4), let height = box.body.bigEndian32(8) {
            items[id]?.size = PixelSize(width, height)
        } else if box.isNamed("hvcC") || box.isNamed("av1C") {
            // Items share properties, each of which is read once.
            var coded = configurations[property] ?? CodedPicture()
            if configurations[property] == nil {
                if box.isNamed("hvcC") {
                    coded.readHEVCConfiguration(box.body)
                } else {
                    coded.readAV1Configuration(box.body)
                }
                configurations[property] = coded
            }
            items[id]?.coded.add(coded)
        }
    }

    private mutating func readReferences(_ body: ByteReader) throws {
        let isLong = body.byte(0) != 0
        let width = isLong ? 4 : 2
        for box in try list(ISOBox.all(in: body, from: 4)) {
            guard let from = Self.identifier(box.body, at: 0, isLong: isLong), let count = box.body.bigEndian16(width)
            else { continue }
            referenceCount += count
            guard referenceCount <= Self.maximumReferences else { throw damaged("it has too many parts") }
            let targets = (0..<count).compactMap {
                Self.identifier(box.body, at: width + 2 + $0 * width, isLong: isLong)
            }
            for id in [from] + targets { try name(id) }
            if box.isNamed("dimg") { items[from]?.parts += targets }
            if box.isNamed("auxl") { items[from]?.auxiliaryOf += targets }
            if box.isNamed("thmb") { items[from]?.thumbnailOf += targets }
            if box.isNamed("cdsc") { items[from]?.describes += targets }
        }
    }

    /// Reads the locations of the items' data (`iloc`). Only those of pictures are kept.
    private mutating func readPlaces(_ body: ByteReader, file: ByteReader, data: ByteReader?) throws {
        guard let version = body.byte(0), let sizes = body.bigEndian16(4) else { return }
        let (offsetBytes, lengthBytes, baseBytes) = (sizes >> 12, sizes >> 8 & 15, sizes >> 4 & 15)
        let indexBytes = version > 0 ? sizes & 15 : 0
        guard [offsetBytes, lengthBytes, baseBytes, indexBytes].allSatisfy({ [0, 4, 8].contains($0) }) else {
            throw damaged("its item locations (iloc) cannot be read")
        }
        guard let count = version < 2 ? body.bigEndian16(6) : body.bigEndian32(6) else { return }
        var offset = version < 2 ? 8 : 10
        func number(_ bytes: Int) throws -> Int? {
            defer { offset += bytes }
            guard bytes == 8 else { return bytes == 0 ? 0 : body.bigEndian32(offset) }
            guard let high = body.bigEndian32(offset), let low = body.bigEndian32(offset + 4) else { return nil }
            // In a library, sums of larger numbers might wrap around to the start of the file.
            guard high < 1 << 29 else { throw damaged("an item's location is out of range") }
            return high << 32 | low
        }
        let isRepeated = indexBytes + offsetBytes + lengthBytes == 0
        for _ in 0..<count {
            guard let id = Self.identifier(body, at: offset, isLong: version > 1) else { return }
            offset += version > 1 ? 4 : 2
            try name(id)
            let method = version > 0 ? (body.bigEndian16(offset) ?? 0) & 15 : 0
            offset += version > 0 ? 4 : 2
            guard let base = try number(baseBytes), let extents = body.bigEndian16(offset) else { return }
            offset += 2
            extentCount += extents + 1
            guard extentCount <= Self.maximumExtents else { throw damaged("it has too many parts") }
            // Extents that take no bytes of the table would let a small file stand for gigabytes of data.
            guard extents < 2 || !isRepeated else { throw damaged("an item repeats its data") }
            let isRead = method < 2 && Self.readTypes.contains(items[id]?.type ?? "")
            let area = method == 1 ? data.map { Self.place(of: $0, in: file) } : 0..<file.count
            var places: [Range<Int>] = []
            // Keep the ranges also if the table is truncated here: a library may read those that are present.
            defer { if !places.isEmpty { items[id]?.extents += places } }
            for _ in 0..<extents {
                guard try number(indexBytes) != nil, let start = try number(offsetBytes),
                    let length = try number(lengthBytes)
                else { return }
                let first = (area?.lowerBound ?? 0) + base + start
                guard isRead, let area, area.contains(first) else {
                    items[id]?.isCut = true
                    continue
                }
                let end = length == 0 ? area.upperBound : min(area.upperBound, first + length)
                if first + length > area.upperBound { items[id]?.isCut = true }
                try take(end - first)
                places.append(first..<end)
            }
        }
    }

    private static func place(of part: ByteReader, in file: ByteReader) -> Range<Int> {
        guard let start = part.bytes.baseAddress, let base = file.bytes.baseAddress else { return 0..<0 }
        return start - base..<start - base + part.count
    }

    // MARK: Sequences

    /// Reads the first sample of an AV1 sequence, the only one that is decoded.
    private mutating func readTrack(_ body: ByteReader, file: ByteReader) throws {
        guard format == .avif, let header = Self.box("tkhd", in: body), let version = header.byte(0),
            let table = Self.box("stbl", in: Self.box("minf", in: Self.box("mdia", in: body)))
        else { return }
        // Only tracks of pictures are decoded; sound and text may lie beside them. libavif reads every list of formats.
        let formats = ISOBox.all(in: table).lazy.filter { $0.isNamed("stsd") }
            .flatMap { ISOBox.all(in: $0.body, from: 8) }
        guard formats.contains(where: { $0.isNamed("av01") }) else { return }
        // The sides are 16.16 fixed-point numbers, of which the integer part is read.
        let place = version == 1 ? 88 : 76
        guard let width = header.bigEndian16(place), let height = header.bigEndian16(place + 4) else { return }
        let sizes = Self.box("stsz", in: table)
        var length = sizes?.bigEndian32(4) ?? 0
        if length == 0 { length = sizes?.bigEndian32(12) ?? 0 }
        let short = Self.box("stco", in: table)?.bigEndian32(8)
        let start = short ?? Self.box("co64", in: table)?.bigEndian32(12) ?? 0
        var coded = CodedPicture()
        let data = file.part(at: start, length: length)
        try take(data.count)
        coded.readAV1Data(data)
        tracks.append((coded, PixelSize(width, height)))
    }

    private static func box(_ name: StaticString, in reader: ByteReader?) -> ByteReader? {
        guard let reader else { return nil }
        return ISOBox.all(in: reader).first { $0.isNamed(name) }?.body
    }

    // MARK: Pictures

    /// Counts picture data that is read. Items and tracks may share their data, which would be read over and over.
    ///
    /// - Throws: `CodecError.damaged` for more than a few times the size of the file.
    private mutating func take(_ count: Int) throws {
        bytesLeft -= count
        guard bytesLeft >= 0 else { throw damaged("its pictures share their data") }
    }

    /// Reads the sizes that the items' data declares.
    private mutating func readPictures(_ reader: ByteReader) throws {
        for id in items.keys.sorted() {
            guard var item = items[id], !item.extents.isEmpty else { continue }
            Self.withData(of: item, in: reader) { data in
                switch item.type {
                case "av01": item.coded.readAV1Data(data)
                case "grid": item.coded.readCanvas(data, at: 4)
                // The size follows a background colour of four numbers.
                case "iovl": item.coded.readCanvas(data, at: 10)
                case "Exif": break
                default: item.coded.readHEVCData(data)
                }
            }
            items[id] = item
        }
    }

    /// Calls `body` with an item's data in one piece.
    static func withData(of item: Item, in reader: ByteReader, _ body: (ByteReader) -> Void) {
        if item.extents.count == 1, let only = item.extents.first {
            return body(reader.part(at: only.lowerBound, length: only.count))
        }
        var joined: [UInt8] = []
        for extent in item.extents { joined += reader.bytes[extent] }
        joined.withUnsafeBytes { body(ByteReader($0)) }
    }

    /// Returns the box of a property of an item.
    func property(_ index: Int) -> ISOBox { properties[index] }

    /// Checks the coded pictures of all items and tracks.
    ///
    /// - Throws: `CodecError.damaged` if a coded picture is larger than its item declares, or there are several.
    package func check() throws {
        for item in items.values { try check(item.coded, of: item.size) }
        for track in tracks { try check(track.coded, of: track.size) }
    }

    /// Checks one item or track. Coded sides are whole blocks, at most 64 pixels long.
    private func check(_ coded: CodedPicture, of size: PixelSize?) throws {
        if let coded = coded.size, let size, coded.width > size.width + 63 || coded.height > size.height + 63 {
            throw damaged("a picture of \(size) is coded as \(coded)")
        }
        guard coded.headerCount <= CodedPicture.maximumHeaders else {
            throw damaged("an item has \(coded.headerCount) headers")
        }
        // A layered AV1 picture has up to four layers, each with frames that are not shown.
        let most = format == .avif ? 8 : 1
        guard coded.count <= most else { throw damaged("an item has \(coded.count) pictures") }
    }

    /// The size of the primary item, cut (`clap`) but not turned; nil if none is declared, or if the cut is not of whole pixels.
    var primarySize: PixelSize? {
        guard let item = primary.flatMap({ items[$0] }), let size = item.size else { return nil }
        let cuts = item.properties.lazy.map { property($0.index) }.filter { $0.isNamed("clap") }
        guard let cut = cuts.first?.body else { return size }
        let sides = [0, 8].compactMap { place -> Int? in
            guard let side = cut.bigEndian32(place), let divisor = cut.bigEndian32(place + 4), divisor > 0 else {
                return nil
            }
            return side.isMultiple(of: divisor) ? side / divisor : nil
        }
        guard sides.count == 2, max(sides[0], sides[1]) <= max(size.width, size.height) else { return nil }
        return PixelSize(sides[0], sides[1])
    }

    func damaged(_ reason: String) -> CodecError { .damaged(format, reason: reason) }
}
