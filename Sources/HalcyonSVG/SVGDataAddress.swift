import HalcyonCodecs
import Foundation
import HalcyonImage
import HalcyonSystem

/// A picture or a drawing in a `data:` address, unpacked in the same way as librsvg does.
struct SVGDataAddress {
    /// The media types of pictures whose headers are read here. Without a type, the picture's own signature counts.
    private static let types: Set<String> = [
        "", "text/plain", "image/png", "image/x-png", "image/apng", "image/jpeg", "image/jpg", "image/pjpeg",
        "image/gif", "image/webp", "image/bmp", "image/x-bmp", "image/x-ms-bmp", "image/tiff",
    ]
    /// The media types of drawings.
    private static let drawingTypes: Set<String> = [
        "image/svg+xml", "image/svg", "image/svg-xml", "image/svg+xml-compressed",
    ]

    let data: Data
    private let type: String

    /// Returns whether a value is a `data:` address by the rules for addresses: leading control characters and
    /// blanks are ignored, and so are line breaks and tabs anywhere.
    static func isOne(_ value: some Sequence<UInt8>) -> Bool {
        var rest = value.lazy.filter { !isIgnored($0) }.drop { $0 <= 0x20 }.makeIterator()
        return "data:".utf8.allSatisfy { letter in
            rest.next().map(SVGStyleText.lowercased) == letter
        }
    }

    private static func isIgnored(_ byte: UInt8) -> Bool { byte == 0x09 || byte == 0x0A || byte == 0x0D }

    /// Returns the drawing in an address; nil if it holds something else.
    ///
    /// - Throws: `CodecError.damaged` for an address of neither a picture nor a drawing.
    static func drawing(in value: [UInt8]) throws -> Data? {
        let header = try Header(value)
        if Self.types.contains(header.type), !header.type.isEmpty { return nil }
        let address = try SVGDataAddress(header)
        if Self.drawingTypes.contains(address.type) { return address.data }
        return FormatSniffer.format(of: address.data) == .svg ? address.data : nil
    }

    /// The part of an address in front of its comma.
    private struct Header {
        let type: String
        let isPacked: Bool
        let body: ArraySlice<UInt8>

        init(_ value: [UInt8]) throws {
            let address = value.drop { $0 != UInt8(ascii: ":") }.dropFirst()
            guard let comma = address.firstIndex(of: UInt8(ascii: ",")),
                !SVGDataAddress.contains(address, anyOf: "#")
            else { throw SVGDataAddress.damaged }
            let start = address[..<comma].filter { !SVGDataAddress.isIgnored($0) }
            var header = String(decoding: start, as: UTF8.self).lowercased().trimmingCharacters(in: .whitespaces)
            isPacked = header.hasSuffix("base64")
            if isPacked { header = header.dropLast(6).trimmingCharacters(in: .whitespaces) }
            guard !isPacked || header.hasSuffix(";") else { throw SVGDataAddress.damaged }
            type = header.prefix { $0 != ";" }.trimmingCharacters(in: .whitespaces)
            body = address[(comma + 1)...]
        }
    }

    /// Unpacks an address.
    ///
    /// - Throws: `CodecError.damaged` if it is not a valid address of a picture or a drawing, or if it has a
    ///   fragment or the type of another document.
    init(_ value: [UInt8]) throws { try self.init(try Header(value)) }

    private init(_ header: Header) throws {
        // Ignored are line breaks of the address, not those that it spells with percent signs.
        let hasIgnored = Self.contains(header.body, anyOf: "\t\n\r")
        let text = hasIgnored ? header.body.filter { !Self.isIgnored($0) }[...] : header.body
        let body = Self.withoutPercents(text)
        guard Self.types.contains(header.type) || Self.drawingTypes.contains(header.type),
            let data = header.isPacked ? Self.unpacked(body) : Data(body)
        else { throw Self.damaged }
        self.data = data
        type = header.type
    }

    /// Searches the bytes with the C library, since an address may have millions of them.
    private static func contains(_ text: ArraySlice<UInt8>, anyOf characters: StaticString) -> Bool {
        text.withUnsafeBufferPointer { text in
            characters.withUTF8Buffer { $0.contains { text.contains(byte: $0) } }
        }
    }

    fileprivate static let damaged = CodecError.damaged(.svg, reason: "a picture inside of it cannot be read")

    private static func withoutPercents(_ text: ArraySlice<UInt8>) -> [UInt8] {
        guard contains(text, anyOf: "%") else { return Array(text) }
        var result: [UInt8] = []
        var rest = text
        while let byte = rest.popFirst() {
            let digits = rest.prefix(2).compactMap { Character(UnicodeScalar($0)).hexDigitValue }
            if byte == UInt8(ascii: "%"), digits.count == 2 {
                result.append(UInt8(digits[0] << 4 | digits[1]))
                rest = rest.dropFirst(2)
            } else {
                result.append(byte)
            }
        }
        return result
    }

    /// Decodes Base64 with or without padding; blanks are ignored.
    private static func unpacked(_ text: [UInt8]) -> Data? {
        var digits = text
        if contains(text[...], anyOf: " \t\n\r\u{C}") {
            digits.removeAll { $0 == 0x20 || $0 == 0x0C || isIgnored($0) }
        }
        while digits.last == UInt8(ascii: "=") { digits.removeLast() }
        guard digits.count % 4 != 1 else { return nil }
        digits += Array(repeating: UInt8(ascii: "="), count: (4 - digits.count % 4) % 4)
        return Data(base64Encoded: Data(digits))
    }

    /// Reads the picture's header by the coders of this build.
    ///
    /// - Throws: `CodecError.damaged` if they cannot read it.
    func image() throws -> EmbeddedImage {
        let decoders = BuiltInCoders.all.reversed().compactMap { $0 as? any ImageDecoder }
        guard let decoder = decoders.first(where: { !($0 is SVGCoder) && $0.canDecode(data) }) else {
            throw CodecError.damaged(.svg, reason: "a picture inside of it is of a kind that is not read")
        }
        let info = try decoder.probe(data)
        // GDK-Pixbuf keeps all frames of a GIF; its pixels and those of Cairo are two more copies.
        let copies = (info.format == .gif ? info.frameCount : 0) + 2
        let own = decoder.workingBytes(of: data, info: info, nativeSize: info.storedSize)
        return EmbeddedImage(
            info: info, workingBytes: max(own, 0).adding(copies, times: info.size.bitmapBytes))
    }
}
