import HalcyonCodecs
import Foundation
import HalcyonImage
import HalcyonSystem

/// Writes a document down in the form that librsvg draws as browsers do: drawings inside of it as pixels, a
/// `feDropShadow` as the primitives that it stands for, and without the attributes `kernelUnitLength`, which browsers
/// ignore and by which librsvg scales the drawing up, for a minute and gigabytes if it is a thousandth.
///
/// The result needs no trust: it is read and checked again.
final class SVGWriter {
    /// An open element.
    struct Open {
        let name: String
        let isFilter: Bool
        /// The number of pixels of a unit within it.
        let scale: Double
        /// The last primitive of a filter: the end of its attributes in `bytes`, and its result.
        var primitive: (end: Int, result: [UInt8]?)?
    }

    private let drawing: SVGDrawing
    private let natural: (width: Double, height: Double)
    private let size: PixelSize
    private let room: SVGRoom
    private let time: SVGTime
    private let context: WorkContext
    /// Whether shadows are written, since no rule is about the elements that are written for them.
    let writesShadows: Bool

    var bytes: [UInt8] = []
    var open: [Open] = []
    /// The number of results that were given a name.
    var names = 0
    /// The number of pictures so far.
    private var pictures = 0

    /// - Parameter natural: the size that the document declares.
    /// - Parameter size: the size that it will be drawn at.
    /// - Parameter time: the time for the drawings inside, too.
    init(
        _ drawing: SVGDrawing, natural: (width: Double, height: Double), size: PixelSize, time: SVGTime,
        context: WorkContext
    ) {
        (self.drawing, self.natural, self.size) = (drawing, natural, size)
        (self.time, self.context) = (time, context)
        room = SVGRoom(for: drawing.inner.count, within: size)
        writesShadows = !SVGShadow.isStyled(by: SVGStyleText(drawing.document.styles))
    }

    /// Returns the document.
    func written() throws -> Data {
        bytes.reserveCapacity(drawing.bytes.count)
        try drawing.bytes.withUnsafeBytes { try SVGReader.read($0, for: self) }
        return Data(bytes)
    }

    // MARK: Events

    func start(_ tag: SVGTag) throws {
        var tag = tag
        if tag.name.hasPrefix("fe") { tag.attributes.removeAll { $0.localName == "kernelUnitLength" } }
        let scale = self.scale(of: tag)
        if tag.name == "image" || tag.name == "feImage" { try drawPictures(in: &tag, scale: scale) }
        let isFilter = tag.isDrawing && tag.name == "filter"
        if tag.name == SVGShadow.name, tag.isDrawing, writesShadows, open.last?.isFilter == true {
            let shadow = SVGShadow(tag, name: newName())
            for part in shadow.parts(of: tag, source: shadow.source ?? lastResult()) {
                write(part.tag)
                if !part.isClosed { open[open.count - 1].primitive = (bytes.count, tag["result"]) }
                finish(isEmpty: part.isClosed)
            }
            open.append(Open(name: tag.named("feMerge", []).fullName, isFilter: false, scale: scale))
        } else {
            write(tag)
            let end = bytes.count
            finish(isEmpty: false)
            if tag.isDrawing, SVGShadow.primitives.contains(tag.name), open.last?.isFilter == true {
                open[open.count - 1].primitive = (end, tag["result"])
            }
            open.append(Open(name: tag.fullName, isFilter: isFilter, scale: scale))
        }
    }

    func end() {
        guard let element = open.popLast() else { return }
        bytes += Array("</\(element.name)>".utf8)
    }

    func text(_ text: UnsafeBufferPointer<UInt8>) {
        for byte in text { append(byte, isValue: false) }
    }

    // MARK: Text

    /// Writes a tag without its last bracket.
    func write(_ tag: SVGTag) {
        bytes += Array("<\(tag.fullName)".utf8)
        for attribute in tag.namespaces + tag.attributes {
            bytes += Array(" \(attribute.name)=\"".utf8)
            for byte in attribute.value { append(byte, isValue: true) }
            bytes.append(UInt8(ascii: "\""))
        }
    }

    private func finish(isEmpty: Bool) { bytes += isEmpty ? Array("/>".utf8) : [UInt8(ascii: ">")] }

    private func append(_ byte: UInt8, isValue: Bool) {
        switch byte {
        case UInt8(ascii: "<"), UInt8(ascii: ">"), UInt8(ascii: "&"), UInt8(ascii: "\""), 0x0D:
            bytes += Array("&#\(byte);".utf8)
        case 0x09 where isValue, 0x0A where isValue: bytes += Array("&#\(byte);".utf8)
        default: bytes.append(byte)
        }
    }

    // MARK: Results of primitives

    private func newName() -> String {
        names += 1
        return "halcyon-\(names)"
    }

    /// Returns the name of the last primitive's result, which it is given if it has none; nil for the first one.
    private func lastResult() -> [UInt8]? {
        guard let index = open.indices.last, let primitive = open[index].primitive else { return nil }
        if let result = primitive.result { return result }
        let name = newName()
        bytes.insert(contentsOf: Array(" result=\"\(name)\"".utf8), at: primitive.end)
        open[index].primitive?.result = Array(name.utf8)
        return Array(name.utf8)
    }

    // MARK: Drawings inside

    private func drawPictures(in tag: inout SVGTag, scale: Double) throws {
        var added: [SVGTag.Attribute] = []
        for index in tag.attributes.indices
        where tag.attributes[index].localName == "href" && SVGDataAddress.isOne(tag.attributes[index].value) {
            defer { pictures += 1 }
            guard let inner = drawing.inner[pictures] else { continue }
            let own = try inner.naturalSize()
            let isImage = tag.name == "image"
            let box = isImage ? SVGPictureBox(tag, natural: own, canvas: size, scale: scale) : nil
            let pixels = box?.pixels ?? (width: own.width * scale, height: own.height * scale)
            if let box { added = box.missing }
            let room = room.size(pixels.width, pixels.height)
            let bitmap = try inner.bitmap(of: room, time: time, context: context)
            let file = try SVGPixels.png(bitmap).base64EncodedData()
            tag.attributes[index].value = Array("data:image/png;base64,".utf8) + file
        }
        tag.attributes.removeAll { attribute in added.contains { $0.name == attribute.name } }
        tag.attributes += added
    }

    /// Returns the number of pixels of a unit within an element.
    private func scale(of tag: SVGTag) -> Double {
        let numbers = tag["viewBox"].map { SVGNumbers($0).all.map(\.number) } ?? []
        let box = numbers.count == 4 && numbers[2] > 0 && numbers[3] > 0 ? (numbers[2], numbers[3]) : nil
        guard let outer = open.last?.scale else {
            return Self.plausible(
                max(
                    Double(size.width) / (box?.0 ?? natural.width), Double(size.height) / (box?.1 ?? natural.height)
                )
            )
        }
        var scale = outer
        if let box, let width = SVGPictureBox.length(tag["width"]), let height = SVGPictureBox.length(tag["height"]) {
            scale *= max(width / box.0, height / box.1)
        }
        if let transform = tag["transform"] { scale *= SVGTransform(transform).enlargement }
        return Self.plausible(scale)
    }

    private static func plausible(_ scale: Double) -> Double {
        scale.isFinite && scale > 0 ? min(max(scale, 1e-6), 1e6) : 1
    }
}

/// The place of a drawing inside of another one: that of an `image`.
struct SVGPictureBox {
    /// The number of pixels that it covers.
    let pixels: (width: Double, height: Double)
    /// The sides that the image does not declare, and which are those of the drawing.
    let missing: [SVGTag.Attribute]

    init(_ tag: SVGTag, natural: (width: Double, height: Double), canvas: PixelSize, scale: Double) {
        func declared(_ name: String, _ side: Int) -> Double? {
            guard let value = tag[name], let length = SVGNumbers(value).all.first else { return nil }
            switch length.kind {
            case .number: return length.number
            case .percent: return length.number / 100 * Double(side) / scale
            case .fonts: return length.number * 16
            }
        }
        let (width, height) = (declared("width", canvas.width), declared("height", canvas.height))
        let ratio = natural.height / natural.width
        let sides = (
            width ?? height.map { $0 / ratio } ?? natural.width,
            height ?? width.map { $0 * ratio } ?? natural.height
        )
        missing =
            (width == nil ? [SVGTag.Attribute("width", "\(sides.0)")] : [])
            + (height == nil ? [SVGTag.Attribute("height", "\(sides.1)")] : [])
        let factors = (sides.0 / natural.width, sides.1 / natural.height)
        let aspect = tag["preserveAspectRatio"].map { String(decoding: $0, as: UTF8.self) } ?? ""
        let fits = !aspect.contains("slice") && !aspect.contains("none")
        let factor = (fits ? min(factors.0, factors.1) : max(factors.0, factors.1)) * scale
        pixels = (natural.width * factor, natural.height * factor)
    }

    /// Returns a length in units; nil if it is given in others.
    static func length(_ value: [UInt8]?) -> Double? {
        value.flatMap { SVGNumbers($0).all.first }.flatMap { $0.kind == .number ? $0.number : nil }
    }
}
