import HalcyonCodecs
import Foundation
import HalcyonImage
import HalcyonSystem

/// A drawing with the drawings inside of it, read before librsvg gets any of them.
///
/// librsvg would have GDK-Pixbuf turn an inner drawing into pixels at its own size, unchecked. So the inner ones are
/// drawn first, each within the same checks, and librsvg gets their pixels.
struct SVGDrawing {
    /// The document, unpacked and cut behind its last bracket.
    let bytes: Data
    let document: SVGDocument
    /// The drawings in `data:` addresses, by their place among the pictures.
    let inner: [Int: SVGDrawing]

    /// The number of levels of drawings inside of drawings.
    private static let maximumDepth = 2
    /// The maximum number of drawings inside of one, on all levels together.
    private static let maximumDrawings = 256

    /// The part of the limits that a drawing and all inside of it have used.
    private final class Usage {
        var elements = 0
        var drawings = 0
        var unpackedBytes = 0
    }

    /// Reads a drawing and those inside of it.
    ///
    /// - Throws: `CodecError.damaged`, also for a `data:` address that cannot be read; `.limitExceeded`.
    init(_ data: Data) throws { try self.init(data, depth: 0, usage: Usage()) }

    private init(_ data: Data, depth: Int, usage: Usage) throws {
        bytes = Self.trimmed(try Self.unpacked(data, usage))
        document = try bytes.withUnsafeBytes { try SVGReader.read($0) }
        usage.elements += document.elements.count
        try Self.require("elements", usage.elements, atMost: SVGReader.maximumElements)
        var inner: [Int: SVGDrawing] = [:]
        for (index, value) in document.pictures.enumerated() {
            guard let drawing = try SVGDataAddress.drawing(in: value) else { continue }
            usage.drawings += 1
            try Self.require("levels of drawings inside of each other", depth + 1, atMost: Self.maximumDepth)
            try Self.require("drawings inside of a drawing", usage.drawings, atMost: Self.maximumDrawings)
            inner[index] = try SVGDrawing(drawing, depth: depth + 1, usage: usage)
        }
        self.inner = inner
    }

    private static func unpacked(_ data: Data, _ usage: Usage) throws -> Data {
        guard SVGPacking.isPacked(data) else { return data }
        let unpacked = try SVGPacking.unpacked(data, limit: SVGPacking.maximumBytes - usage.unpackedBytes)
        usage.unpackedBytes += unpacked.count
        return unpacked
    }

    /// Returns the document up to its last bracket, because the parser accepts nothing but blanks behind the end of
    /// the document. A document in UTF-16, where a bracket has two bytes, is returned as a whole.
    private static func trimmed(_ data: Data) -> Data {
        // UTF-16 begins with its mark, or with a bracket beside a zero.
        guard let first = data.first, first > 0, first < 0xFE, let second = data.dropFirst().first, second > 0,
            let end = data.lastIndex(of: UInt8(ascii: ">"))
        else { return data }
        return data[...end]
    }

    private static func require(_ what: String, _ value: Int, atMost limit: Int) throws(CodecError) {
        guard value <= limit else { throw CodecError.limitExceeded(what, value: value, limit: limit) }
    }

    /// Checks the cost of the drawing together with those inside of it.
    ///
    /// - Returns: the cost of the drawing itself.
    /// - Throws: `CodecError`: `.limitExceeded`, and `.damaged` for content that evades these checks.
    @discardableResult
    func check() throws -> SVGCost {
        let drawings = all
        let costs = try SVGCost.check(drawings.map(\.document))
        // As with other pictures, one that cannot be drawn is damage.
        for inner in drawings.dropFirst() { _ = try inner.naturalSize() }
        return costs[0]
    }

    /// This drawing and those inside of it, on all levels.
    private var all: [SVGDrawing] { [self] + inner.values.flatMap(\.all) }

    /// Returns the other pictures in `data:` addresses, on all levels. librsvg unpacks each as a whole and keeps it
    /// until the drawing is done.
    func pictures() throws -> [EmbeddedImage] {
        try all.flatMap { drawing in
            try drawing.document.pictures.enumerated().filter { drawing.inner[$0.offset] == nil }
                .map { try SVGDataAddress($0.element).image() }
        }
    }

    /// Returns the size that the document declares, which may depend on its styles.
    ///
    /// - Throws: `CodecError.damaged` also for a size of zero.
    func naturalSize() throws -> (width: Double, height: Double) { try SVGHandle(bytes).naturalSize() }

    /// Checks the drawing and draws it.
    ///
    /// - Throws: `CodecError.limitExceeded` also if that would take longer than what `time` has left; `.damaged`.
    func bitmap(of size: PixelSize, time: SVGTime, context: WorkContext) throws -> Bitmap {
        let cost = try check()
        guard isRewritten else { return try drawn(size, cost, time: time, context: context) }
        let drawing = try written(for: size, time: time, context: context)
        return try drawing.drawn(size, try drawing.check(), time: time, context: context)
    }

    private func drawn(
        _ size: PixelSize, _ cost: SVGCost, time: SVGTime, context: WorkContext
    ) throws -> Bitmap {
        let handle = try SVGHandle(bytes)
        var withoutText: SVGHandle?
        var work = SVGWork(document, cost, size: size)
        if document.dashes.mayHaveRoundEnds {
            work.dashPoints = document.dashPoints(natural: try handle.naturalSize(), size: size)
        }
        try time.reserve(work) { copy, drawsText in
            if drawsText || document.letters == 0 {
                _ = try handle.bitmap(of: copy, context: context)
            } else {
                let plain = try withoutText ?? SVGHandle(bytes, drawsText: false)
                withoutText = plain
                _ = try plain.bitmap(of: copy, context: context)
            }
        }
        return try handle.bitmap(of: size, context: context)
    }

    /// Whether librsvg gets something else than the document itself.
    fileprivate var isRewritten: Bool { document.hasUnitLengths || document.hasShadows || !inner.isEmpty }

    /// Returns the document in the form that librsvg gets, to be checked like any other.
    private func written(for size: PixelSize, time: SVGTime, context: WorkContext) throws -> SVGDrawing {
        let writer = SVGWriter(self, natural: try naturalSize(), size: size, time: time, context: context)
        let drawing = try SVGDrawing(try writer.written())
        guard drawing.inner.isEmpty, !drawing.document.hasUnitLengths else {
            throw CodecError.damaged(.svg, reason: "it embeds another document")
        }
        return drawing
    }
}

extension SVGDrawing {
    /// Returns the memory of librsvg before it draws: 2 KiB for an element; 1 KiB for each byte of the longest text, all of
    /// which it lays out at once, and the outlines of the longest line (measured with 2.54); the dashes of the outline that has most
    /// of them; and the drawings inside, as pixels in all the forms that they pass through.
    ///
    /// - Parameter size: the size that it is drawn at.
    func workingBytes(size: PixelSize) -> Int {
        let text = document.longestText.adding(document.textReferences, times: document.letters)
        let dashes = document.elements.reduce(0) { max($0, document.dashes(of: $1)) }
        let natural = document.dashes.mayHaveRoundEnds ? try? naturalSize() : nil
        let points = natural.map { min(dashes * document.dashes.points(natural: $0, size: size), 1e12) } ?? 0
        let line = document.longestLine.adding(document.textReferences, times: document.outlines)
        let growth = document.elements.reduce(1) { $1.letters > 0 ? max($0, document.pointGrowth(of: $1)) : $0 }
        let outlines = Int(Double(SVGLine.outlineBytes) * growth)
        let own = 0.adding(document.elements.count, times: 2 << 10).adding(text, times: 1 << 10)
            .adding(line, times: outlines)
            .adding(Int(dashes), times: SVGDashes.dashBytes).adding(Int(points), times: SVGDashes.pointBytes).adding(
                isRewritten ? 3 : 0, times: bytes.count)
        let room = SVGRoom(for: inner.count, within: size)
        let largest = PixelSize(room.side, room.side)
        return inner.values.reduce(own) {
            $0.adding(1, times: $1.workingBytes(size: largest)).adding(room.area, times: SVGRoom.bytesOfPixel)
        }
    }
}

/// The most pixels that a drawing inside of another one is drawn at.
struct SVGRoom {
    let side: Int
    let area: Int

    /// The bytes that a pixel takes on its way: in a bitmap, as PNG, in Base64, in the document that is written, in
    /// librsvg's copy, unpacked again, and on its surface.
    static let bytesOfPixel = 36
    private static let maximumSide = 2048
    /// The maximum number of pixels of all drawings inside of one.
    private static let maximumArea = 1 << 22
    /// The maximum number of pixels of one, which takes at most the 10 million bytes that the parser accepts in an
    /// attribute.
    private static let maximumOwnArea = 1_800_000

    /// - Parameter size: the size of the enclosing drawing. One inside may be larger than that and partly covered.
    init(for count: Int, within size: PixelSize) {
        side = min(Self.maximumSide, 2 * max(size.width, size.height, 1))
        area = min(side * side, Self.maximumOwnArea, Self.maximumArea / max(count, 1))
    }

    /// Returns the number of pixels for a drawing of this size.
    func size(_ width: Double, _ height: Double) -> PixelSize {
        guard width > 0, height > 0, width.isFinite, height.isFinite else { return PixelSize(1, 1) }
        let scale = min(
            1, Double(side) / max(width, height), (Double(area) / width / height).squareRoot())
        let rule = scale < 1 ? FloatingPointRoundingRule.down : .up
        return PixelSize(
            max(1, Int((width * scale).rounded(rule))), max(1, Int((height * scale).rounded(rule))))
    }
}
