import Foundation
import HalcyonImage

/// The metadata of a gain map in XMP, as Ultra HDR JPEGs had it before ISO 21496-1, and most readers still expect it.
extension GainMap.Metadata {
    static let xmpName: StaticString = "http://ns.adobe.com/xap/1.0/\0"
    static let xmpNamespace: StaticString = "http://ns.adobe.com/hdr-gain-map/1.0/"

    /// Reads the metadata of an XMP packet; nil if there is none, or numbers without a meaning.
    init?(xmp reader: ByteReader) {
        guard let properties = XMPProperties(reader, namespace: Self.xmpNamespace) else { return nil }
        let isOfHDR = properties.text("BaseRenditionIsHDR")?.lowercased() == "true"
        let (minima, maxima) = (properties.numbers("GainMapMin", or: 0), properties.numbers("GainMapMax"))
        let gammas = properties.numbers("Gamma", or: 1)
        let (usual, high) = (properties.numbers("OffsetSDR", or: 1 / 64), properties.numbers("OffsetHDR", or: 1 / 64))
        func channel(_ index: Int) -> GainMap.Channel {
            func value(_ values: [Double]) -> Double { values.count > 1 ? values[index] : values[0] }
            return GainMap.Channel(
                minimum: value(minima), maximum: value(maxima), gamma: value(gammas),
                baseOffset: value(isOfHDR ? high : usual), alternateOffset: value(isOfHDR ? usual : high))
        }
        let (least, most) = (properties.numbers("HDRCapacityMin", or: 0)[0], properties.numbers("HDRCapacityMax")[0])
        guard least < most else { return nil }
        self.init(
            red: channel(0), green: channel(1), blue: channel(2), baseHeadroom: isOfHDR ? most : least,
            alternateHeadroom: isOfHDR ? least : most)
    }

    /// The packet of a picture whose map is a file of so many bytes behind it.
    static func xmp(ofPictureWithMapOf byteCount: Int) -> String {
        packet(
            """
            xmlns:Container="http://ns.google.com/photos/1.0/container/" \
            xmlns:Item="http://ns.google.com/photos/1.0/container/item/" hdrgm:Version="1.0">\
            <Container:Directory><rdf:Seq><rdf:li rdf:parseType="Resource"><Container:Item Item:Semantic="Primary" \
            Item:Mime="image/jpeg"/></rdf:li><rdf:li rdf:parseType="Resource"><Container:Item Item:Semantic="GainMap" \
            Item:Mime="image/jpeg" Item:Length="\(byteCount)"/></rdf:li></rdf:Seq></Container:Directory>
            """)
    }

    /// The packet of the map.
    var xmp: String {
        let isOfHDR = baseHeadroom > alternateHeadroom
        func property(_ name: String, _ value: KeyPath<GainMap.Channel, Double>) -> String {
            let items = channels.map { "<rdf:li>\(Self.decimal($0[keyPath: value]))</rdf:li>" }.joined()
            return "<hdrgm:\(name)><rdf:Seq>\(items)</rdf:Seq></hdrgm:\(name)>"
        }
        // A list of one item is not what readers expect of a single value.
        func attribute(_ name: String, _ value: KeyPath<GainMap.Channel, Double>) -> String {
            " hdrgm:\(name)=\"\(Self.decimal(red[keyPath: value]))\""
        }
        let names: [(String, KeyPath<GainMap.Channel, Double>)] = [
            ("GainMapMin", \.minimum), ("GainMapMax", \.maximum), ("Gamma", \.gamma),
            ("OffsetSDR", isOfHDR ? \.alternateOffset : \.baseOffset),
            ("OffsetHDR", isOfHDR ? \.baseOffset : \.alternateOffset),
        ]
        let values = names.map { isMonochrome ? attribute($0.0, $0.1) : property($0.0, $0.1) }.joined()
        let head = """
            hdrgm:Version="1.0" hdrgm:HDRCapacityMin="\(Self.decimal(min(baseHeadroom, alternateHeadroom)))" \
            hdrgm:HDRCapacityMax="\(Self.decimal(max(baseHeadroom, alternateHeadroom)))" \
            hdrgm:BaseRenditionIsHDR="\(isOfHDR ? "True" : "False")"
            """
        return Self.packet(isMonochrome ? head + values + ">" : head + ">" + values)
    }

    /// XMP's numbers have no exponents.
    private static func decimal(_ number: Double) -> String { String(format: "%.9f", number) }

    /// - Parameter content: the rest of a description, from its attributes on.
    private static func packet(_ content: String) -> String {
        """
        <x:xmpmeta xmlns:x="adobe:ns:meta/"><rdf:RDF xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#">\
        <rdf:Description rdf:about="" xmlns:hdrgm="\(xmpNamespace)" \(content)</rdf:Description></rdf:RDF></x:xmpmeta>
        """
    }
}

/// The properties of one namespace in an XMP packet: attributes, or elements with a text or a list.
///
/// The packet is searched as bytes, since an XML parser is a dependency, and a surface, for a dozen numbers.
struct XMPProperties {
    /// The mentions of a name that are looked at.
    private static let mostMentions = 4
    /// The longest prefix, in bytes: the packet is searched for it once for each property.
    private static let longestPrefix = 16
    /// The longest value, in bytes.
    private static let longest = 1000

    private let packet: ByteReader
    private let prefix: [UInt8]

    /// Returns nil if the packet has nothing of the namespace.
    init?(_ packet: ByteReader, namespace: StaticString) {
        self.packet = packet
        // xmlns:hdrgm="http://ns.adobe.com/hdr-gain-map/1.0/"
        guard let place = packet.firstMatch(namespace, from: 0) else { return nil }
        let declaration = packet.part(at: max(0, place - 100), length: min(place, 100))
        var start: Int?
        while let next = declaration.firstMatch("xmlns:", from: start ?? 0) { start = next + 6 }
        guard let start else { return nil }
        prefix = [UInt8](declaration.bytes[start...].prefix { $0 != UInt8(ascii: "=") && $0 > 0x20 })
        guard (1...Self.longestPrefix).contains(prefix.count) else { return nil }
    }

    /// Returns the text of a property; nil if there is none, or none of a reasonable length.
    func text(_ name: String) -> String? {
        let wanted = prefix + [UInt8(ascii: ":")] + name.utf8
        var from = 0
        for _ in 0..<Self.mostMentions {
            guard let place = packet.firstMatch(wanted, from: from) else { return nil }
            from = place + wanted.count
            let rest = packet.part(at: from, length: Self.longest)
            let isElement = place > 0 && packet.byte(place - 1) == Int(UInt8(ascii: "<"))
            if let text = isElement ? Self.content(rest, endingWith: wanted) : Self.attribute(rest) { return text }
        }
        return nil
    }

    private static func content(_ rest: ByteReader, endingWith name: [UInt8]) -> String? {
        guard let start = rest.firstIndex(of: UInt8(ascii: ">"), from: 0),
            let end = rest.firstMatch(Array("</".utf8) + name, from: start)
        else { return nil }
        return String(decoding: rest.bytes[start + 1..<end], as: UTF8.self)
    }

    private static func attribute(_ rest: ByteReader) -> String? {
        let blanks = [" ", "=", "\n", "\r", "\t"].map { (blank: Unicode.Scalar) in UInt8(ascii: blank) }
        guard let start = rest.bytes.firstIndex(where: { !blanks.contains($0) }),
            case let quote = rest.bytes[start], [UInt8(ascii: "\""), UInt8(ascii: "'")].contains(quote),
            let end = rest.firstIndex(of: quote, from: start + 1)
        else { return nil }
        return String(decoding: rest.bytes[start + 1..<end], as: UTF8.self)
    }

    /// Returns the numbers of a property: one, or three of a list; not a number for anything else, and the default for a property
    /// that is not there.
    func numbers(_ name: String, or usual: Double = .nan) -> [Double] {
        guard let text = text(name) else { return [usual] }
        let items = text.contains("<") ? text.components(separatedBy: "<rdf:li").dropFirst() : [">" + text]
        let numbers = items.map { item in
            let value = item.drop { $0 != ">" }.dropFirst().prefix { $0 != "<" }
            return Double(value.trimmingCharacters(in: .whitespacesAndNewlines)) ?? .nan
        }
        return numbers.count == 1 || numbers.count == 3 ? numbers : [.nan]
    }
}
