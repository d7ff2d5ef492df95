import HalcyonImage

/// The cost of decoding the items, by their sizes.
extension ISOItems {
    /// Returns the largest picture that is decoded, and the pixels of all pictures: tiles as often as they are used,
    /// and alpha in addition.
    package func extent(of info: ImageInfo) -> CodedExtent {
        var extent = CodedExtent(largest: info.storedSize, totalPixels: 0)
        var costs: [Int: Int] = [:]
        for item in items.values { if let size = item.decodedSize { extent.add(size, pixels: 0) } }
        let roots = items.filter { $0.key == primary || !$0.value.auxiliaryOf.isEmpty }.keys
        extent.totalPixels = roots.reduce(0) { $0.adding(1, times: cost(of: $1, depth: 0, costs: &costs)) }
        extent.totalPixels = max(extent.totalPixels, info.storedSize.area ?? .max)
        return extent
    }

    /// Returns the bytes of a bitmap for everything that is decoded at the same time: the image, or its coded size if
    /// that is larger, and a tile or a part of an overlay.
    package func decodedBytes(of size: PixelSize) -> Int {
        let parts = Set(items.values.flatMap(\.parts))
        var (whole, part) = (size.bitmapBytes, 0)
        for (id, item) in items {
            let bytes = max(item.coded.size?.bitmapBytes ?? 0, item.decodedSize?.bitmapBytes ?? 0)
            if parts.contains(id) { part = max(part, bytes) } else { whole = max(whole, bytes) }
        }
        for track in tracks { whole = max(whole, track.coded.size?.bitmapBytes ?? 0) }
        return whole.adding(1, times: part)
    }

    private func cost(of id: Int, depth: Int, costs: inout [Int: Int]) -> Int {
        guard depth < Self.deepest else { return .max }
        if let known = costs[id] { return known }
        guard let item = items[id] else { return 0 }
        var sum = item.decodedSize?.area ?? 0
        sum = max(sum, 0).adding(max(0, item.coded.count - 1), times: sum)
        for part in item.parts { sum = sum.adding(1, times: cost(of: part, depth: depth + 1, costs: &costs)) }
        costs[id] = sum
        return sum
    }
}

extension ISOItems.Item {
    /// The unpacked size. Padding to whole blocks does not count against the limits.
    package var decodedSize: PixelSize? { size ?? coded.size }
}
