/// Properties that a reader must know to draw an item.
extension ISOItems {
    /// The properties that libheif 1.15 draws by, or reads, and such as say nothing of the pixels.
    static let knownProperties: [StaticString] = [
        "hvcC", "av1C", "vvcC", "ispe", "pixi", "pasp", "clap", "irot", "imir", "auxC", "colr", "clli", "mdcv",
        "cclv", "amve", "reve", "ndwt", "rloc", "udes", "altt", "crtt", "mdft", "cmin", "cmex", "free", "skip",
    ]

    /// Checks that the properties which the primary item and the items that it is made of mark as essential are known (ISO/IEC
    /// 23008-12).
    ///
    /// libavif does so itself. libheif draws such an item as if the property were not there.
    ///
    /// - Throws: `CodecError.damaged`.
    package func checkProperties() throws {
        var left = primary.map { [$0] } ?? []
        var seen: Set<Int> = []
        while let id = left.popLast() {
            guard seen.insert(id).inserted, let item = items[id] else { continue }
            if let name = item.unknownProperty {
                throw damaged("a picture needs the property \(name), which is not known")
            }
            left += item.parts
        }
    }
}
