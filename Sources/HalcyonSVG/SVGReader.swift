import CXML2
import HalcyonCodecs
import Foundation
import HalcyonImage

/// Reads a drawing with libxml2 in the same way as librsvg, with the same handlers and options, so that both see
/// the same document, with the elements of its entities, and refuses content that librsvg would also read: declared
/// values of attributes, and documents in documents.
///
/// Reads no file and makes no connection. Takes time and memory in proportion to the text.
final class SVGReader {
    /// The maximum number of bytes that entities may expand to. Drawing programs use a dozen short entities for
    /// names, people some for shapes that occur several times.
    private static let maximumEntityBytes = 1 << 20
    /// The maximum number of elements of a document. librsvg takes more than a kilobyte for each.
    static let maximumElements = 200_000

    private static let isInitialized: Void = xmlInitParser()

    /// The cost of letters that are turned, as a number of small shapes: cairo prepares them for each angle.
    private static let turnedTextWeight = 100
    /// The maximum number of attributes of an element. libxml2 compares each with all before it.
    private static let maximumAttributes = 8192

    private let input: UnsafeRawBufferPointer
    private var parser: xmlParserCtxtPtr?
    /// Whether outlines are measured, in a second pass, when the dashes and units are known.
    let measures: Bool
    /// Gets every element and text, to write them down in another form.
    private let writer: SVGWriter?
    private var position = 0
    var document = SVGDocument()
    private var open: [Int] = []
    /// The number of open elements that are a `style` or lie in one.
    private var styleDepth = 0
    private var entities: [String: xmlEntityPtr] = [:]
    /// The number of bytes of text and values that the parser has delivered.
    private var delivered = 0
    /// The number of bytes of the entities that were referred to, whatever they hold.
    private var expanded = 0
    /// The text in the innermost open element since the last tag.
    private var line = SVGLine()
    /// The text in the outermost open `text`, and the number of open elements that are that `text` or lie in it.
    private var text = (bytes: 0, longestLine: 0)
    private var textDepth = 0
    private var failure: CodecError?
    private var writingError: (any Error)?
    private var message: String?

    private init(
        _ input: UnsafeRawBufferPointer, measuredBy dashes: SVGDashes? = nil, writer: SVGWriter? = nil
    ) {
        self.input = input
        self.writer = writer
        measures = dashes != nil
        if let dashes { document.dashes = dashes }
    }

    deinit {
        for entity in entities.values {
            // The parser does not free the text of the declaration; the owner of the entity has to.
            free(UnsafeMutableRawPointer(mutating: entity.pointee.orig))
            entity.pointee.orig = nil
            entity.withMemoryRebound(to: xmlNode.self, capacity: 1) { xmlFreeNode($0) }
        }
    }

    /// - Throws: `CodecError.damaged` and `.limitExceeded`.
    static func read(_ bytes: UnsafeRawBufferPointer) throws -> SVGDocument {
        _ = isInitialized
        let reader = SVGReader(bytes)
        try reader.parse()
        reader.document.dashes.read(sheets: SVGStyleText(reader.document.styles).bytes)
        let mayHaveLargeText = reader.document.letters > 0 && reader.document.dashes.mayHaveLargeText
        guard reader.document.dashes.shortest != nil || mayHaveLargeText else { return reader.document }
        let measuring = SVGReader(bytes, measuredBy: reader.document.dashes)
        try measuring.parse()
        measuring.document.measureUses()
        return measuring.document
    }

    /// Reads a document that has been read before, for a writer.
    static func read(_ bytes: UnsafeRawBufferPointer, for writer: SVGWriter) throws {
        try SVGReader(bytes, writer: writer).parse()
    }

    private func parse() throws {
        var handler = Self.handler
        let this = Unmanaged.passUnretained(self).toOpaque()
        let parser = xmlCreateIOParserCtxt(
            &handler, this, { SVGReader.from($0)?.read(into: $1, count: $2) ?? -1 }, { _ in 0 }, this,
            XML_CHAR_ENCODING_NONE)
        guard let parser else { throw BitmapError.outOfMemory(bytes: input.count) }
        self.parser = parser
        defer {
            self.parser = nil
            xmlFreeDoc(parser.pointee.myDoc)
            parser.pointee.myDoc = nil
            xmlFreeParserCtxt(parser)
        }
        xmlCtxtUseOptions(parser, Int32(XML_PARSE_NONET.rawValue | XML_PARSE_BIG_LINES.rawValue))
        parser.pointee.replaceEntities = 1
        let status = xmlParseDocument(parser)
        if let writingError { throw writingError }
        if let failure { throw failure }
        guard status == 0, !document.elements.isEmpty else { throw Self.damaged(message ?? "it is not XML") }
    }

    private func read(into buffer: UnsafeMutablePointer<CChar>?, count: Int32) -> Int32 {
        guard let buffer else { return -1 }
        // The parser asks for more in the middle of a tag, whose attributes it has in tables of five entries each, and of two
        // for namespaces, which grow by doubling.
        if let parser, max(Int(parser.pointee.maxatts) / 5, Int(parser.pointee.nsMax) / 2) > 2 * Self.maximumAttributes
        {
            let limit = Self.maximumAttributes
            refuse(.limitExceeded("attributes of an element", value: limit + 1, limit: limit))
        }
        // Nothing more is read of a refused document.
        guard failure == nil else { return 0 }
        let part = input[position..<min(position + Int(max(count, 0)), input.count)]
        UnsafeMutableRawBufferPointer(start: buffer, count: part.count).copyBytes(from: part)
        position += part.count
        return Int32(part.count)
    }

    private static func from(_ pointer: UnsafeMutableRawPointer?) -> SVGReader? {
        pointer.map { Unmanaged<SVGReader>.fromOpaque($0).takeUnretainedValue() }
    }

    private static func damaged(_ reason: String) -> CodecError { .damaged(.svg, reason: reason) }

    /// Refuses the document: the parser reads no more, and ends with the few kilobytes that it has. `xmlStopParser`
    /// would free these at once, in the middle of a handler whose names and values lie in them.
    func refuse(_ error: CodecError) {
        failure = failure ?? error
    }

    func refuse(_ reason: String) { refuse(Self.damaged(reason)) }

    /// Counts delivered bytes, which entities may have multiplied.
    private func count(_ bytes: Int) {
        delivered += bytes
        // A character of another encoding may have become three bytes.
        let more = delivered - 3 * input.count
        if more > Self.maximumEntityBytes {
            refuse(.limitExceeded("bytes of entities", value: more, limit: Self.maximumEntityBytes))
        }
    }

    // MARK: Handlers

    /// The handlers of librsvg, and those for declarations.
    private static var handler: xmlSAXHandler {
        var handler = xmlSAXHandler()
        handler.initialized = UInt32(XML_SAX2_MAGIC)
        handler.getEntity = { SVGReader.from($0)?.entity($1) }
        handler.getParameterEntity = { _, _ in nil }
        handler.entityDecl = { this, name, type, _, _, content in
            SVGReader.from(this)?.declare(name, type: type, content: content)
        }
        handler.unparsedEntityDecl = { this, _, _, _, _ in
            SVGReader.from(this)?.refuse("it declares an unparsed entity")
        }
        handler.notationDecl = { this, _, _, _ in SVGReader.from(this)?.refuse("it declares notations") }
        handler.elementDecl = { this, _, _, _ in SVGReader.from(this)?.refuse("it declares elements") }
        handler.attributeDecl = { this, _, name, _, _, value, values in
            xmlFreeEnumeration(values)
            SVGReader.from(this)?.declareAttribute(name, value: value)
        }
        handler.characters = { SVGReader.from($0)?.addText($1, count: $2) }
        handler.cdataBlock = { SVGReader.from($0)?.addText($1, count: $2) }
        handler.processingInstruction = { SVGReader.from($0)?.instruction($1, $2) }
        handler.startElementNs = { this, name, prefix, space, spaceCount, spaces, count, _, values in
            guard let reader = SVGReader.from(this) else { return }
            reader.start(name, space: space, values, count: Int(count))
            reader.write(
                SVGTag(name, prefix: prefix, space, spaces: (spaces, Int(spaceCount)), values: (values, Int(count)))
            )
        }
        handler.endElementNs = { this, _, _, _ in SVGReader.from(this)?.end() }
        handler.serror = { this, error in
            guard let reader = SVGReader.from(this), reader.message == nil else { return }
            let text = error?.pointee.message.map { String(cString: $0) } ?? "it is not XML"
            reader.message = text.trimmingCharacters(in: .whitespacesAndNewlines)
        }
        return handler
    }

    private func write(_ tag: @autoclosure () -> SVGTag?) {
        guard failure == nil, let writer, let tag = tag() else { return }
        do { try writer.start(tag) } catch { writingError = error }
        if writingError != nil { refuse("it cannot be written") }
    }

    private func entity(_ name: UnsafePointer<xmlChar>?) -> xmlEntityPtr? {
        // Otherwise, a refused document could continue to multiply its text.
        guard failure == nil, let found = name.flatMap({ entities[String(cString: $0)] }) else { return nil }
        // Elements, comments and references to nothing are delivered as no text.
        expanded += Int(found.pointee.length) + 1
        guard expanded <= Self.maximumEntityBytes else {
            refuse(.limitExceeded("bytes of entities", value: expanded, limit: Self.maximumEntityBytes))
            return nil
        }
        return found
    }

    private func declare(
        _ name: UnsafePointer<xmlChar>?, type: Int32, content: UnsafeMutablePointer<xmlChar>?
    ) {
        guard let name, let content, type == Int32(XML_INTERNAL_GENERAL_ENTITY.rawValue) else {
            return refuse("it declares an entity that is not text")
        }
        // XML uses the first of several declarations, librsvg the last.
        let key = String(cString: name)
        guard entities[key] == nil else { return refuse("it declares an entity twice") }
        entities[key] = xmlNewEntity(nil, name, type, nil, nil, content)
    }

    /// Refuses declarations of attributes, except for the namespace prefixes that some programs declare and that
    /// the root element has anyway.
    private func declareAttribute(_ name: UnsafePointer<xmlChar>?, value: UnsafePointer<xmlChar>?) {
        guard value != nil, let name, !String(cString: name).hasPrefix("xmlns") else { return }
        refuse("it declares attributes")
    }

    private func addText(_ bytes: UnsafePointer<xmlChar>?, count: Int32) {
        guard failure == nil else { return }
        self.count(Int(count))
        let text = UnsafeBufferPointer(start: bytes, count: Int(count))
        line.add(text)
        writer?.text(text)
        if styleDepth > 0 { document.styles += text }
    }

    /// Refuses a style sheet at a `data:` address, whose letters may be written as references.
    private func instruction(_ target: UnsafePointer<xmlChar>?, _ data: UnsafePointer<xmlChar>?) {
        guard let target, String(cString: target) == "xml-stylesheet", let data else { return }
        let text = String(cString: data).lowercased().filter { !$0.isWhitespace }
        if text.contains("data:") || text.contains("&") { refuse("its style is another document") }
    }

    private func start(
        _ name: UnsafePointer<xmlChar>?, space: UnsafePointer<xmlChar>?,
        _ values: UnsafeMutablePointer<UnsafePointer<xmlChar>?>?, count: Int
    ) {
        guard failure == nil, let name else { return }
        endLine()
        let elementName = String(cString: name)
        guard document.elements.count < Self.maximumElements else {
            let most = Self.maximumElements
            return refuse(.limitExceeded("elements", value: most + 1, limit: most))
        }
        let isForeign = space.map { String(cString: $0) }
        guard isForeign != "http://www.w3.org/2001/XInclude" else { return refuse("it includes a document") }
        // librsvg 2.54 ends the process where a tile has no area, for which a shape outside of the drawing is enough.
        guard elementName != "feTile" else {
            return refuse("it has a feTile, for which librsvg may end the process")
        }
        let kind: SVGDocument.Kind =
            switch elementName {
            case "linearGradient", "radialGradient": .gradient
            case "image", "feImage": .picture
            case "a", "script": .link
            default: .other
            }
        // Other elements have attributes of the same names.
        let isFilter = elementName.hasPrefix("fe")
        let element = document.open(kind, parent: open.last)
        open.append(element)
        if styleDepth > 0 || elementName == "style" { styleDepth += 1 }
        if isFilter { document.hasFilters = true }
        if elementName == "feDropShadow" { document.hasShadows = true }
        if elementName == "feMorphology" { document.hasMorphology = true }
        if elementName == "tref" { document.textReferences += 1 }
        if textDepth > 0 || elementName == "text" { textDepth += 1 }
        document.elements[element].isText = textDepth > 0
        let attributes = Self.attributes(values, count: count)
        let outer = open.count > 1 ? document.elements[open[open.count - 2]].font : 0
        document.elements[element].font = SVGFonts.font(in: outer, attributes)
        if textDepth > 0, attributes.contains(where: { $0.name == "transform" && SVGTransform($0.value).turns }) {
            document.elements[element].letterWeight = Self.turnedTextWeight
        }
        for (name, value) in attributes {
            self.count(value.count)
            attribute(name, value, of: element, kind, isFilter: isFilter)
        }
        if measures { measure(attributes, of: element, named: elementName) }
    }

    private static func attributes(
        _ values: UnsafeMutablePointer<UnsafePointer<xmlChar>?>?, count: Int
    ) -> [(name: String, value: UnsafeBufferPointer<UInt8>)] {
        (0..<count).compactMap { index in
            guard let values, let name = values[index * 5], let start = values[index * 5 + 3],
                let end = values[index * 5 + 4]
            else { return nil }
            return (String(cString: name), UnsafeBufferPointer(start: start, count: end - start))
        }
    }

    /// Counts the letters since the last tag.
    private func endLine() {
        guard line.bytes > 0, let element = open.last else { return }
        document.elements[element].letterWeight += line.shapes
        document.letters += line.bytes
        document.outlines += line.outlines
        document.elements[element].letters += line.bytes
        text.bytes += line.bytes
        text.longestLine = max(text.longestLine, line.outlines)
        line = SVGLine()
    }

    private func end() {
        endLine()
        guard let element = open.popLast() else { return }
        if failure == nil { writer?.end() }
        document.close(element)
        if textDepth > 0 { textDepth -= 1 }
        if textDepth == 0 {
            if document.elements[element].isText {
                document.longestText = max(document.longestText, text.bytes)
                document.longestLine = max(document.longestLine, text.longestLine)
            }
            text = (0, 0)
        }
        guard styleDepth > 0 else { return }
        styleDepth -= 1
        if styleDepth == 0 { document.styles.append(0x0A) }
    }
}
