import HalcyonImage

/// The canvases on which grids and overlays are put together.
extension ISOItems {
    /// Checks that the tiles of each grid cover it, and that overlays have no part left of them or above.
    ///
    /// libheif checks neither: in a hole it shows what memory held before, and for such a part it reads beyond the end of
    /// the part.
    ///
    /// - Throws: `CodecError.damaged`.
    package func checkCanvases(_ reader: ByteReader) throws {
        for item in items.values where item.type == "grid" || item.type == "iovl" {
            var problem: String?
            Self.withData(of: item, in: reader) { data in
                problem = item.type == "grid" ? gridProblem(item, data) : overlayProblem(item, data)
            }
            if let problem { throw damaged(problem) }
        }
    }

    private func gridProblem(_ item: Item, _ data: ByteReader) -> String? {
        guard let rows = data.byte(2), let columns = data.byte(3), let size = item.coded.size else {
            return "a grid cannot be read"
        }
        let sizes = item.parts.reduce(into: Set<PixelSize>()) { $0.formUnion(shownSizes(of: $1, depth: 0)) }
        // libheif lays tiles one after the other by their own sizes, which leaves holes beside smaller ones.
        guard let tile = sizes.first, sizes.count == 1 else { return "the tiles of a grid differ in size" }
        guard tile.width * (columns + 1) >= size.width, tile.height * (rows + 1) >= size.height else {
            return "the tiles of a grid of \(size) do not cover it"
        }
        return nil
    }

    /// Returns the sizes that an item may have once it is decoded; one of no pixels for an item that cannot be a tile, or
    /// whose coding is not read. Properties beyond the maximum are not read, and may turn or cut the item.
    private func shownSizes(of id: Int, depth: Int) -> Set<PixelSize> {
        let none: Set = [PixelSize(0, 0)]
        guard let item = items[id], depth < Self.deepest, item.properties.count < Item.maximumProperties,
            !item.properties.contains(where: { changesSize(property($0.index)) })
        else { return none }
        switch item.type {
        case "grid", "iovl": return item.coded.size.map { [$0] } ?? none
        case "iden": return item.parts.first.map { shownSizes(of: $0, depth: depth + 1) } ?? none
        default: return item.coded.shownSizes.isEmpty ? none : item.coded.shownSizes
        }
    }

    /// Whether a property turns a picture or cuts it.
    private func changesSize(_ property: ISOBox) -> Bool { property.isNamed("irot") || property.isNamed("clap") }

    private func overlayProblem(_ item: Item, _ data: ByteReader) -> String? {
        guard let flags = data.byte(1) else { return "an overlay cannot be read" }
        // The places follow a background colour of four numbers and the size of the canvas.
        let length = flags & 1 != 0 ? 4 : 2
        for index in 0..<item.parts.count * 2 {
            guard let first = data.byte(10 + (index + 2) * length) else { return "an overlay cannot be read" }
            guard first < 0x80 else { return "a part of an overlay begins outside of it" }
        }
        return nil
    }
}
