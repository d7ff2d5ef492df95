import CXML2

/// The tag of an element as the parser delivers it, to be written again.
struct SVGTag {
    struct Attribute {
        /// With its prefix.
        let name: String
        var value: [UInt8]

        init(_ name: String, _ value: [UInt8]) { (self.name, self.value) = (name, value) }

        init(_ name: String, _ value: String) { self.init(name, Array(value.utf8)) }

        /// Without the prefix.
        var localName: Substring {
            name.lastIndex(of: ":").map { name[name.index(after: $0)...] } ?? name[...]
        }
    }

    /// Without its prefix.
    var name: String
    let prefix: String?
    let isDrawing: Bool
    /// The declarations of namespaces.
    let namespaces: [Attribute]
    var attributes: [Attribute] = []

    private static let drawingSpace = "http://www.w3.org/2000/svg"

    typealias Texts = UnsafeMutablePointer<UnsafePointer<xmlChar>?>

    init?(
        _ name: UnsafePointer<xmlChar>?, prefix: UnsafePointer<xmlChar>?, _ space: UnsafePointer<xmlChar>?,
        spaces: (Texts?, Int), values: (Texts?, Int)
    ) {
        guard let name else { return nil }
        self.name = String(cString: name)
        self.prefix = prefix.map { String(cString: $0) }
        isDrawing = space.map { String(cString: $0) } == Self.drawingSpace
        namespaces = (0..<spaces.1).map { index in
            let prefix = spaces.0?[index * 2].map { "xmlns:" + String(cString: $0) }
            return Attribute(prefix ?? "xmlns", spaces.0?[index * 2 + 1].map { String(cString: $0) } ?? "")
        }
        for index in 0..<values.1 {
            guard let texts = values.0, let name = texts[index * 5], let start = texts[index * 5 + 3],
                let end = texts[index * 5 + 4]
            else { continue }
            let prefix = texts[index * 5 + 1].map { String(cString: $0) + ":" } ?? ""
            let value = Array(UnsafeBufferPointer(start: start, count: end - start))
            attributes.append(Attribute(prefix + String(cString: name), value))
        }
    }

    /// Returns an attribute without a prefix.
    subscript(name: String) -> [UInt8]? { attributes.first { $0.name == name }?.value }

    /// Returns a tag of the same kind with another name.
    func named(_ name: String, _ attributes: [Attribute]) -> SVGTag {
        var tag = self
        (tag.name, tag.attributes) = (name, attributes)
        return tag
    }

    /// The name with its prefix.
    var fullName: String { prefix.map { "\($0):\(name)" } ?? name }
}
