import HalcyonImage

/// How the items of a HEIC or AVIF are made of one another, before one of the libraries follows it.
///
/// libheif decodes a derived item by decoding what it is derived from, and an image's alpha with the image, each by a
/// call within the other, and does not look for rings.
struct ISOItemReferences {
    /// An image of tiles with alpha that is turned comes to four.
    private static let mostSteps = 16
    /// The most tiles that a grid can have, twice: with alpha.
    private static let mostParts = 1 << 18

    /// Items by what they are decoded from.
    private var parts: [Int: [Int]] = [:]
    /// The items that another is derived from, and those that are images.
    private var sources: Set<Int> = []
    private var images: Set<Int> = []
    private var isDamaged = false

    init(_ reader: ByteReader) {
        for box in ISOBox.ofFile(reader) where box.isNamed("meta") {
            // A version and flags come first.
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

    /// The libraries pass over the lengths of these boxes, so a length that differs from its content would show them
    /// other references than it shows here.
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
                // An auxiliary image names its master, which is decoded with it.
                for target in targets { parts[target, default: []].append(from) }
            } else {
                parts[from, default: []] += targets
            }
            if box.isNamed("dimg") { sources.formUnion(targets) }
        }
        if end != reader.count { isDamaged = true }
    }

    /// - Parameter sourcesMustBeImages: whether the library ends the process where they are not.
    /// - Throws: `CodecError.damaged` for rings and for references to nothing, `.limitExceeded` for long chains and for
    ///   more parts than an image has.
    func check(_ format: ImageFormat, sourcesMustBeImages: Bool) throws {
        guard !isDamaged else { throw CodecError.damaged(format, reason: "its references cannot be read") }
        guard !sourcesMustBeImages || sources.isSubset(of: images) else {
            throw CodecError.damaged(format, reason: "an image is made of an item that is none")
        }
        var known: [Int: Tally] = [:]
        var path: [Int] = []
        for item in parts.keys { _ = try tally(item, format, known: &known, path: &path) }
    }

    /// The items that are decoded for one, itself among them, and how many of them within each other.
    private struct Tally {
        var count = 1
        var steps = 1
    }

    private func tally(
        _ item: Int, _ format: ImageFormat, known: inout [Int: Tally], path: inout [Int]
    ) throws -> Tally {
        if let tally = known[item] { return tally }
        guard !path.contains(item) else {
            throw CodecError.damaged(format, reason: "its images are made of each other")
        }
        try Self.require("images made of others", path.count + 1, atMost: Self.mostSteps)
        path.append(item)
        var tally = Tally()
        for part in parts[item] ?? [] {
            let inner = try self.tally(part, format, known: &known, path: &path)
            tally = Tally(count: tally.count + inner.count, steps: max(tally.steps, inner.steps + 1))
            try Self.require("parts of an image", tally.count, atMost: Self.mostParts)
            try Self.require("images made of others", tally.steps, atMost: Self.mostSteps)
        }
        path.removeLast()
        known[item] = tally
        return tally
    }

    private static func require(_ what: String, _ value: Int, atMost limit: Int) throws {
        guard value <= limit else { throw CodecError.limitExceeded(what, value: value, limit: limit) }
    }
}
