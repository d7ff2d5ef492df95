import Foundation
import HalcyonImage

/// The metadata of a gain map in XMP, as Ultra HDR JPEGs had it before ISO 21496-1, and most readers still expect it.
extension GainMap.Metadata {
    static let xmpName: StaticString = "http://ns.adobe.com/xap/1.0/\0"
    static let xmpNamespace: StaticString = "http://ns.adobe.com/hdr-gain-map/1.0/"

    /// Reads the metadata of an XMP packet; nil if there is none, or numbers without a meaning.
    init?(xmp reader: ByteReader) {
        guard let properties = XMPProperties(reader, namespace: Self.xmpNamespace),
            let maxima = properties.numbers("GainMapMax"), let most = properties.numbers("HDRCapacityMax")?.first
        else { return nil }
        let isOfHDR = properties.text("BaseRenditionIsHDR")?.lowercased() == "true"
        let minima = properties.numbers("GainMapMin") ?? [0]
        let gammas = properties.numbers("Gamma") ?? [1]
        let usual = properties.numbers("OffsetSDR") ?? [1 / 64]
        let high = properties.numbers("OffsetHDR") ?? [1 / 64]
        func channel(_ index: Int) -> GainMap.Channel {
            func value(_ values: [Double]) -> Double { values.count > 1 ? values[index] : values[0] }
            return GainMap.Channel(
                minimum: value(minima), maximum: value(maxima), gamma: value(gammas),
                baseOffset: value(isOfHDR ? high : usual), alternateOffset: value(isOfHDR ? usual : high))
        }
        let least = properties.numbers("HDRCapacityMin")?.first ?? 0
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
            let items = (isMonochrome ? [red] : channels).map { "<rdf:li>\($0[keyPath: value])</rdf:li>" }.joined()
            return "<hdrgm:\(name)><rdf:Seq>\(items)</rdf:Seq></hdrgm:\(name)>"
        }
        // A list of one item is not what readers expect of a single value.
        func attribute(_ name: String, _ value: KeyPath<GainMap.Channel, Double>) -> String {
            " hdrgm:\(name)=\"\(red[keyPath: value])\""
        }
        let names: [(String, KeyPath<GainMap.Channel, Double>)] = [
            ("GainMapMin", \.minimum), ("GainMapMax", \.maximum), ("Gamma", \.gamma),
            ("OffsetSDR", isOfHDR ? \.alternateOffset : \.baseOffset),
            ("OffsetHDR", isOfHDR ? \.baseOffset : \.alternateOffset),
        ]
        let values = names.map { isMonochrome ? attribute($0.0, $0.1) : property($0.0, $0.1) }.joined()
        let head = """
            hdrgm:Version="1.0" hdrgm:HDRCapacityMin="\(min(baseHeadroom, alternateHeadroom))" \
            hdrgm:HDRCapacityMax="\(max(baseHeadroom, alternateHeadroom))" \
            hdrgm:BaseRenditionIsHDR="\(isOfHDR ? "True" : "False")"
            """
        return Self.packet(isMonochrome ? head + values + ">" : head + ">" + values)
    }

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
/// The packet is searched as text, since an XML parser is a dependency, and a surface, for a dozen numbers.
struct XMPProperties {
    /// The mentions of a name that are looked at.
    private static let mostMentions = 4

    private let text: String
    private let prefix: String

    /// Returns nil if the packet has nothing of the namespace.
    init?(_ reader: ByteReader, namespace: StaticString) {
        guard reader.firstMatch(namespace, from: 0) != nil else { return nil }
        text = String(decoding: reader.bytes, as: UTF8.self)
        // xmlns:hdrgm="http://ns.adobe.com/hdr-gain-map/1.0/"
        guard let place = text.range(of: "\(namespace)"),
            let declaration = text.range(of: "xmlns:", options: .backwards, range: text.startIndex..<place.lowerBound)
        else { return nil }
        prefix = String(
            text[declaration.upperBound..<place.lowerBound].prefix { $0.isLetter || $0.isNumber || $0 == "_" })
        guard !prefix.isEmpty else { return nil }
    }

    /// Returns the text of a property; nil if there is none, or none of at most 1,000 characters.
    func text(_ name: String) -> String? {
        var from = text.startIndex
        for _ in 0..<Self.mostMentions {
            guard let place = text.range(of: "\(prefix):\(name)", range: from..<text.endIndex) else { return nil }
            from = place.upperBound
            let rest = text[place.upperBound...].prefix(1000)
            if text[..<place.lowerBound].last == "<" {
                guard let start = rest.firstIndex(of: ">"),
                    let end = rest.range(of: "</\(prefix):\(name)>", range: start..<rest.endIndex)
                else { continue }
                return String(rest[rest.index(after: start)..<end.lowerBound])
            }
            let value = rest.drop { $0 == " " || $0 == "=" }
            guard let quote = value.first, quote == "\"" || quote == "'" else { continue }
            let inside = value.dropFirst()
            guard let end = inside.firstIndex(of: quote) else { continue }
            return String(inside[..<end])
        }
        return nil
    }

    /// Returns the numbers of a property: one, or three of a list; nil if there are others.
    func numbers(_ name: String) -> [Double]? {
        guard let text = text(name) else { return nil }
        let items = text.contains("<") ? text.components(separatedBy: "<rdf:li>").dropFirst() : [text]
        let numbers = items.map { item in
            Double(item.prefix { $0 != "<" }.trimmingCharacters(in: .whitespacesAndNewlines)) ?? .nan
        }
        return numbers.count == 1 || numbers.count == 3 ? numbers : nil
    }
}
