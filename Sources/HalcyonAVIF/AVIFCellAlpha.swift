import HalcyonCodecs
import Foundation
import HalcyonImage

/// The alpha of a grid whose cells have alpha each, and which has none itself. libavif before 1.0 finds only a grid's own:
/// it is given a file with one more item, a grid of the cells' alpha.
///
/// Files with 32-bit identifiers, which no writer of such grids makes, are left as they are.
struct AVIFCellAlpha {
    private let reader: ByteReader
    private let meta: ISOBox
    private let boxes: [ISOBox]
    private var primary = 0
    private var items: [Int: String] = [:]
    private var cells: [Int] = []
    /// The items that each item is an auxiliary of.
    private var auxiliaries: [(item: Int, of: Int)] = []
    private var properties: [ISOBox] = []
    /// The properties of each item, counted from 1.
    private var associations: [Int: [Int]] = [:]

    /// Returns the file with the item; nil if it needs none, or cannot be given one.
    static func file(adding reader: ByteReader) -> Data? {
        guard let alpha = AVIFCellAlpha(reader), let cells = alpha.alphaOfCells else { return nil }
        return alpha.file(with: cells)
    }

    private init?(_ reader: ByteReader) {
        self.reader = reader
        let found = ISOBox.ofFile(reader).first { $0.isNamed("meta") }
        guard let found, !found.isCut else { return nil }
        meta = found
        boxes = Array(ISOBox.all(in: found.body, from: 4).prefix(64))
        guard let pitm = only("pitm"), let iinf = only("iinf"), let iref = only("iref"), let iprp = only("iprp"),
            pitm.byte(0) == 0, iref.byte(0) == 0, let primary = pitm.bigEndian16(4)
        else { return nil }
        self.primary = primary
        guard readItems(iinf), items[primary] == "grid", readReferences(iref), readProperties(iprp) else {
            return nil
        }
    }

    private func only(_ name: StaticString) -> ByteReader? {
        let found = boxes.filter { $0.isNamed(name) }
        return found.count == 1 ? found[0].body : nil
    }

    private mutating func readItems(_ body: ByteReader) -> Bool {
        for box in ISOBox.all(in: body, from: body.byte(0) == 0 ? 6 : 8) where box.isNamed("infe") {
            guard box.body.byte(0) == 2, let id = box.body.bigEndian16(4),
                let type = box.body.ascii(at: 8, length: 4)
            else { return false }
            items[id] = type
        }
        return true
    }

    private mutating func readReferences(_ body: ByteReader) -> Bool {
        for box in ISOBox.all(in: body, from: 4) {
            guard let from = box.body.bigEndian16(0), let count = box.body.bigEndian16(2) else { return false }
            let targets = (0..<count).compactMap { box.body.bigEndian16(4 + $0 * 2) }
            if box.isNamed("dimg"), from == primary { cells += targets }
            if box.isNamed("auxl") { auxiliaries += targets.map { (from, $0) } }
        }
        return true
    }

    private mutating func readProperties(_ body: ByteReader) -> Bool {
        let parts = Array(ISOBox.all(in: body).prefix(3))
        guard parts.count == 2, parts[0].isNamed("ipco"), parts[1].isNamed("ipma") else { return false }
        properties = Array(ISOBox.all(in: parts[0].body).prefix(10_000))
        let list = parts[1].body
        guard list.byte(0) == 0, let flags = list.byte(3), let count = list.bigEndian32(4) else { return false }
        let isWide = flags & 1 != 0
        var offset = 8
        for _ in 0..<count {
            guard let id = list.bigEndian16(offset), let uses = list.byte(offset + 2) else { return false }
            offset += 3
            for _ in 0..<uses {
                guard let value = isWide ? list.bigEndian16(offset) : list.byte(offset) else { return false }
                associations[id, default: []].append(value & (isWide ? 0x7FFF : 0x7F))
                offset += isWide ? 2 : 1
            }
        }
        return offset == list.count
    }

    /// The alpha of each cell, in order; nil if the grid has its own, or if a cell has none or several.
    private var alphaOfCells: [Int]? {
        let alphas = auxiliaries.filter { property(of: $0.item, isAlpha) != nil }
        guard !cells.isEmpty, !alphas.contains(where: { $0.of == primary }), Set(cells).count == cells.count else {
            return nil
        }
        let byCell = Dictionary(grouping: alphas, by: { $0.of })
        let found = cells.compactMap { cell -> Int? in
            guard let own = byCell[cell], own.count == 1 else { return nil }
            return own[0].item
        }
        return found.count == cells.count && Set(found).count == found.count ? found : nil
    }

    private func isAlpha(_ box: ISOBox) -> Bool {
        box.isNamed("auxC")
            && (box.body.matches("urn:mpeg:mpegB:cicp:systems:auxiliary:alpha", at: 4)
                || box.body.matches("urn:mpeg:hevc:2015:auxid:1", at: 4))
    }

    /// Returns the number of an item's property, counted from 1.
    private func property(of item: Int, _ isWanted: (ISOBox) -> Bool) -> Int? {
        associations[item]?.first { properties.indices.contains($0 - 1) && isWanted(properties[$0 - 1]) }
    }

    // MARK: The new file

    /// The new tables follow the rest of the file, so that nothing that lies at an offset moves.
    private func file(with alphas: [Int]) -> Data? {
        let new = (items.keys.max() ?? 0) + 1
        guard new <= 0xFFFF, alphas.count <= 0xFFFF, let size = property(of: primary, { $0.isNamed("ispe") }),
            let kind = property(of: alphas[0], isAlpha)
        else { return nil }
        var tables = Data(meta.body.bytes.prefix(4))
        for box in boxes {
            var part: Data? = Data(meta.body.bytes[box.start..<box.end])
            if box.isNamed("iinf") {
                part = Self.box("iinf", counting(box.body, isShort: box.body.byte(0) == 0), [entry(new)])
            } else if box.isNamed("iref") {
                let references = [
                    Self.box("dimg", Data(Self.words([new, alphas.count] + alphas))),
                    Self.box("auxl", Data(Self.words([new, 1, primary]))),
                ]
                part = Self.box("iref", Data(box.body.bytes), references)
            } else if box.isNamed("iprp") {
                part = associating(new, with: [size, kind], in: box.body)
            } else if box.isNamed("iloc") {
                part = places(of: new, in: box.body)
            }
            guard let part else { return nil }
            tables += part
        }
        return append(Self.box("meta", tables))
    }

    private func append(_ tables: Data) -> Data? {
        guard let last = Array(ISOBox.ofFile(reader)).last, reader.bigEndian32(last.start) != 0 else { return nil }
        // Data that is cut off is not read.
        var file = Data(reader.bytes[..<(last.isCut ? last.start : last.end)])
        let name = file.startIndex + meta.start + 4
        file.replaceSubrange(name..<name + 4, with: Data("free".utf8))
        return file + tables
    }

    private func entry(_ id: Int) -> Data {
        Self.box("infe", Data([2, 0, 0, 0] + Self.words([id, 0]) + Array("grid".utf8) + [0]))
    }

    private func associating(_ item: Int, with numbers: [Int], in body: ByteReader) -> Data? {
        let parts = Array(ISOBox.all(in: body).prefix(2))
        let isWide = (parts[1].body.byte(3) ?? 0) & 1 != 0
        guard isWide || numbers.allSatisfy({ $0 < 0x80 }) else { return nil }
        let own = Self.words([item]) + [UInt8(numbers.count)]
        let list = isWide ? Self.words(numbers) : numbers.map { UInt8($0) }
        let ipma = Self.box("ipma", counting(parts[1].body, at: 4, isShort: false), [Data(own + list)])
        return Self.box("iprp", Data(body.bytes[parts[0].start..<parts[0].end]), [ipma])
    }

    /// Returns the locations with one more: the new grid has the data of the present one.
    private func places(of item: Int, in body: ByteReader) -> Data? {
        guard let version = body.byte(0), version < 2, let sizes = body.bigEndian16(4),
            let count = body.bigEndian16(6)
        else { return nil }
        let numbers = [sizes >> 12, sizes >> 8 & 15, version > 0 ? sizes & 15 : 0].reduce(0, +)
        var offset = 8
        var copy: Data?
        for _ in 0..<count {
            let extents = offset + (version > 0 ? 6 : 4) + (sizes >> 4 & 15)
            guard let id = body.bigEndian16(offset), let parts = body.bigEndian16(extents) else { return nil }
            let end = extents + 2 + parts * numbers
            guard body.has(0, at: end) else { return nil }
            if id == primary { copy = Data(Self.words([item])) + Data(body.bytes[offset + 2..<end]) }
            offset = end
        }
        guard let copy, offset == body.count else { return nil }
        return Self.box("iloc", counting(body, at: 6, isShort: true), [copy])
    }

    /// Returns a table whose number of entries is one more.
    private func counting(_ body: ByteReader, at offset: Int = 4, isShort: Bool) -> Data {
        var data = Data(body.bytes)
        let count = (isShort ? body.bigEndian16(offset) : body.bigEndian32(offset)) ?? 0
        let bytes = isShort ? Self.words([count + 1]) : Self.words([(count + 1) >> 16, count + 1])
        data.replaceSubrange(offset..<offset + bytes.count, with: bytes)
        return data
    }

    private static func words(_ values: [Int]) -> [UInt8] {
        values.flatMap { [UInt8($0 >> 8 & 255), UInt8($0 & 255)] }
    }

    private static func box(_ name: String, _ body: Data, _ parts: [Data] = []) -> Data {
        let content = parts.reduce(body, +)
        let length = content.count + 8
        return Data(words([length >> 16, length])) + Data(name.utf8) + content
    }
}
