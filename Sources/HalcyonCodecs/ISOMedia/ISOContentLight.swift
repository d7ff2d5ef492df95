import HalcyonImage

/// The light of a HEIC or AVIF, in its properties or in the description of its sequence.
package enum ISOContentLight {
    /// Returns the light of the brightest pixel of the primary item in cd/m2 (`clli`), or else that of the display that it was graded
    /// on (`mdcv`); those of the sequence if the item has neither. Nil if the file does not say it.
    package static func peak(of file: ByteReader, format: ImageFormat) -> Double? {
        guard let items = try? ISOItems(file, format: format) else { return nil }
        let properties = items.primary.flatMap { items.items[$0] }?.properties ?? []
        return peak(properties.lazy.map { items.property($0.index) }) ?? peak(ofSequence: file)
    }

    private static func peak(ofSequence file: ByteReader) -> Double? {
        var boxes = ISOBox.ofFile(file).filter { $0.isNamed("moov") }
        for name: StaticString in ["trak", "mdia", "minf", "stbl", "stsd"] {
            boxes = boxes.flatMap { ISOBox.all(in: $0.body) }.filter { $0.isNamed(name) }
        }
        let formats = boxes.flatMap { ISOBox.all(in: $0.body, from: 8) }.filter { $0.isNamed("av01") }
        // The fields of a picture precede the boxes.
        return formats.lazy.compactMap { peak(ISOBox.all(in: $0.body, from: 78)) }.first
    }

    private static func peak(_ boxes: some Sequence<ISOBox>) -> Double? {
        var (content, display) = (0.0, 0.0)
        for box in boxes {
            if box.isNamed("clli"), let level = box.body.bigEndian16(0) { content = Double(level) }
            if box.isNamed("mdcv"), let level = box.body.bigEndian32(16) { display = Double(level) / 10_000 }
        }
        return [content, display].first { $0 > 0 }
    }
}
