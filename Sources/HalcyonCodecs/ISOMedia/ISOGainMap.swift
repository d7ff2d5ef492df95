extension ISOItems {
    /// The names of the auxiliary picture, in the spellings that Apple's software has used.
    private static let names: [StaticString] = [
        "urn:com:apple:photo:2020:aux:hdrgainmap", "urn:com:apple:photos:2020:aux:hdrgainmap",
    ]

    /// Whether the primary picture is the base of a gain map: by an item that maps its tones with one (`tmap`, ISO 21496-1), or by the
    /// auxiliary picture that Apple's cameras write.
    package var hasGainMap: Bool {
        guard let primary else { return false }
        return items.values.contains { item in
            if item.type == "tmap" { return item.parts.first == primary }
            guard item.auxiliaryOf.contains(primary) else { return false }
            return item.properties.map { property($0.index) }.contains { box in
                box.isNamed("auxC") && Self.names.contains { box.body.matches($0, at: 4) }
            }
        }
    }
}
