import HalcyonImage

/// The references by which the items of a HEIC or AVIF are made of one another, checked before one of the libraries
/// follows them.
///
/// libheif decodes a derived item by decoding its sources, and an image's alpha with the image, each in a nested call,
/// and does not detect cycles.
package struct ISOItemReferences {
    /// The maximum depth of nested items. A rotated image of tiles with alpha takes four.
    private static let maximumSteps = 16
    /// The maximum number of items that are decoded for one: four times the tiles that a grid can have, with room for
    /// alpha.
    private static let maximumParts = 1 << 18

    /// The items that each item is decoded from, by the identifier of the latter.
    private var parts: [Int: [Int]] = [:]
    /// The items that others are derived from.
    private var sources: Set<Int> = []
    /// The items that are images.
    private var images: Set<Int> = []
    private var isDamaged = false

    package init(_ reader: ByteReader) {
        for box in ISOBox.ofFile(reader) where box.isNamed("meta") {
            // The body begins with a version and flags.
            for part in ISOBox.all(in: box.body, from: 4) {
                if part.isNamed("iref") { readReferences(part.body) }
                if part.isNamed("iinf") { readItems(part.body) }
            }
        }
    }

    private mutating func readItems(_ reader: ByteReader) {
        let types: [StaticString] = ["hvc1", "av01", "grid", "iden", "iovl"]
        for item in ISOBox.all(in: reader, from: reader.byte(0) == 0 ? 6 : 8) where item.isNamed("infe") {
            let isLong = item.body.byte(0) == 3
            guard item.body.byte(0) == 2 || isLong,
                let id = isLong ? item.body.bigEndian32(4) : item.body.bigEndian16(4),
                types.contains(where: { item.body.matches($0, at: isLong ? 10 : 8) })
            else { continue }
            images.insert(id)
        }
    }

    /// Reads the `iref` box. The libraries ignore the lengths of the boxes inside it, so if a length differed from the
    /// content, they would see other references than this code does. Such a file is damaged.
    private mutating func readReferences(_ reader: ByteReader) {
        let width = reader.byte(0) == 0 ? 2 : 4
        func identifier(_ body: ByteReader, _ offset: Int) -> Int? {
            width == 2 ? body.bigEndian16(offset) : body.bigEndian32(offset)
        }
        var end = 4
        for box in ISOBox.all(in: reader, from: end) {
            end = box.end
            let body = box.body
            guard let from = identifier(body, 0), let count = body.bigEndian16(width), !box.isCut,
                body.count == width + 2 + count * width
            else { return isDamaged = true }
            let targets = (0..<count).compactMap { identifier(body, width + 2 + $0 * width) }
            if box.isNamed("auxl") {
                // An auxiliary image refers to its master image, which is decoded together with it.
                for target in targets { parts[target, default: []].append(from) }
            } else {
                parts[from, default: []] += targets
            }
            if box.isNamed("dimg") { sources.formUnion(targets) }
        }
        if end != reader.count { isDamaged = true }
    }

    /// Checks the references of all items.
    ///
    /// - Parameter sourcesMustBeImages: whether the library terminates the process if a source is not an image.
    /// - Throws: `CodecError.damaged` for cycles, for references that cannot be read, and for sources that are not
    ///   images if they must be; `.limitExceeded` for long chains and for more parts than an image can have.
    package func check(_ format: ImageFormat, sourcesMustBeImages: Bool) throws {
        guard !isDamaged else { throw CodecError.damaged(format, reason: "its references cannot be read") }
        guard !sourcesMustBeImages || sources.isSubset(of: images) else {
            throw CodecError.damaged(format, reason: "an image is derived from an item that is not an image")
        }
        var known: [Int: Tally] = [:]
        var path: [Int] = []
        for item in parts.keys { _ = try tally(item, format, known: &known, path: &path) }
    }

    /// The number of items that are decoded for one, including itself, and the depth of their nesting.
    private struct Tally {
        var count = 1
        var steps = 1
    }

    private func tally(
        _ item: Int, _ format: ImageFormat, known: inout [Int: Tally], path: inout [Int]
    ) throws -> Tally {
        if let tally = known[item] { return tally }
        guard !path.contains(item) else {
            throw CodecError.damaged(format, reason: "its items refer to each other in a cycle")
        }
        try Self.require("nested items", path.count + 1, atMost: Self.maximumSteps)
        path.append(item)
        var tally = Tally()
        for part in parts[item] ?? [] {
            let inner = try self.tally(part, format, known: &known, path: &path)
            tally = Tally(count: tally.count + inner.count, steps: max(tally.steps, inner.steps + 1))
            try Self.require("parts of an image", tally.count, atMost: Self.maximumParts)
            try Self.require("nested items", tally.steps, atMost: Self.maximumSteps)
        }
        path.removeLast()
        known[item] = tally
        return tally
    }

    private static func require(_ what: String, _ value: Int, atMost limit: Int) throws {
        guard value <= limit else { throw CodecError.limitExceeded(what, value: value, limit: limit) }
    }
}
