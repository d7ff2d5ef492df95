import HalcyonCodecs
import HalcyonImage

/// The attributes of an element.
extension SVGReader {
    func attribute(
        _ name: String, _ value: UnsafeBufferPointer<UInt8>, of element: Int, _ kind: SVGDocument.Kind,
        isFilter: Bool
    ) {
        switch name {
        case "id": document.identifiers[Array(value), default: []].append(element)
        case "href": address(value, of: element, kind)
        case "d", "points": document.elements[element].points = value.count / 2
        case "numOctaves" where isFilter, "kernelMatrix" where isFilter, "order" where isFilter:
            do { try SVGCost.checkFilter(name, value) } catch { refuse(error) }
        case "class": document.classBytes += max(0, value.count - 32)
        case "kernelUnitLength" where isFilter: document.hasUnitLengths = true
        default: property(name, value, of: element)
        }
    }

    private func address(_ value: UnsafeBufferPointer<UInt8>, of element: Int, _ kind: SVGDocument.Kind) {
        guard kind != .link else { return }
        if SVGDataAddress.isOne(value) {
            guard kind == .picture else { return refuse("it embeds another document") }
            document.pictures.append(Array(value))
        } else if let sign = value.lastIndex(of: UInt8(ascii: "#")) {
            guard kind != .gradient else { return document.sources[element] = Array(value[(sign + 1)...]) }
            document.elements[element].isUse = true
            document.references.append(
                SVGDocument.Reference(
                    holder: element, target: Array(value[(sign + 1)...]), isUse: true, isInherited: false))
        }
    }

    // MARK: Properties

    /// The properties that elements within do not inherit.
    private static let ownProperties: Set<String> = ["clip-path", "mask", "filter"]

    private func property(_ name: String, _ value: UnsafeBufferPointer<UInt8>, of element: Int) {
        let isStyle = name == "style"
        if SVGStyleText.layers.contains(name) { document.hasLayers = true }
        if isStyle, !document.hasLayers, SVGStyleText.mayName(SVGStyleText.layers, in: value) {
            document.hasLayers = true
        }
        if name == "filter" || isStyle && !document.hasFilters && SVGStyleText.mayName(SVGStyleText.filters, in: value)
        {
            document.hasFilters = true
        }
        if !measures {
            if isStyle {
                document.dashes.read(style: SVGStyleText(value).bytes)
            } else {
                document.dashes.read(name, value, isStyle: false)
            }
        }
        if value.elementsEqual("inherit".utf8) || isStyle && value.firstRange(of: Array("inherit".utf8)) != nil {
            document.inheritsAll = true
        }
        let hasEscapes = value.contains(UInt8(ascii: "\\"))
        guard hasEscapes || value.contains(UInt8(ascii: "#")) && value.contains(UInt8(ascii: "(")) else { return }
        let text = SVGStyleText(value)
        guard !text.loadsDocument else { return refuse("it embeds another document") }
        guard isStyle, !hasEscapes, value.firstRange(of: Array("/*".utf8)) == nil else {
            return refer(
                to: text.names, from: element, isInherited: !Self.ownProperties.contains(name),
                isMarker: isStyle || Self.isMarker(name))
        }
        for declaration in text.bytes.split(separator: UInt8(ascii: ";")) {
            let name = declaration.prefix { $0 != UInt8(ascii: ":") }.filter { $0 > 0x20 }
            let isOwn = Self.ownProperties.contains(String(decoding: name, as: UTF8.self))
            refer(
                to: SVGStyleText(declaration).names, from: element, isInherited: !isOwn,
                isMarker: Self.isMarker(String(decoding: name, as: UTF8.self)))
        }
    }

    /// Returns whether a property's markers are drawn at all points of an outline. The two at its ends are drawn
    /// once.
    private static func isMarker(_ property: String) -> Bool {
        ["marker", "marker-mid"].contains(property.lowercased())
    }

    private func refer(to names: [[UInt8]], from element: Int, isInherited: Bool, isMarker: Bool) {
        document.references += names.map {
            SVGDocument.Reference(
                holder: element, target: $0, isUse: false, isInherited: isInherited, isMarker: isMarker)
        }
    }

    // MARK: Outlines

    func measure(
        _ attributes: [(name: String, value: UnsafeBufferPointer<UInt8>)], of index: Int, named name: String
    ) {
        let (dashes, parent) = (document.dashes, document.elements[index].parent)
        let outer = parent < 0 ? nil : document.elements[parent]
        var element = document.elements[index]
        let growth = attributes.reduce(dashes.fontGrowth) { max($0, SVGDashes.fontGrowth($1.name, $1.value)) }
        element.fontGrowth = growth * (outer?.fontGrowth ?? 1)
        element.scale = outer?.scale ?? dashes.outerScale
        // Includes `patternTransform`.
        for attribute in attributes where attribute.name.lowercased().hasSuffix("transform") {
            element.scale *= dashes.scale(of: attribute.value)
        }
        element.outline = attributes.reduce(dashes.styledOutline(of: name, growth: element.fontGrowth)) {
            $0 + dashes.outline(of: name, $1.name, $1.value, growth: element.fontGrowth)
        }
        element.outline *= element.scale
        document.elements[index] = element
    }
}
