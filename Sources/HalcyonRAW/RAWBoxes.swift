import HalcyonCodecs
import HalcyonImage

/// The boxes of a CR3, an ISO media file: a track has the largest preview, and boxes of Canon's own have smaller ones.
struct RAWBoxes {
    /// The maximum number of boxes that are examined in one other, and in the file.
    private static let maximumBoxes = 256

    private static let canon: [UInt8] = [
        0x85, 0xC0, 0xB6, 0x87, 0x82, 0x0F, 0x11, 0xE0, 0x81, 0x11, 0xF4, 0xCE, 0x46, 0x2B, 0x6A, 0x48,
    ]
    private static let preview: [UInt8] = [
        0xEA, 0xF4, 0x2B, 0x5E, 0x1C, 0x98, 0x4B, 0x88, 0xB9, 0xFB, 0xB7, 0xDC, 0x40, 0x6E, 0x4D, 0x16,
    ]

    private let reader: ByteReader
    private(set) var places = RAWPlaces()

    init(_ reader: ByteReader) {
        self.reader = reader
        for box in ISOBox.ofFile(reader).prefix(Self.maximumBoxes) {
            if box.isNamed("moov") {
                places.isCut = box.isCut
                Self.boxes(in: box.body).forEach { readPart($0) }
            } else if box.isNamed("uuid"), box.body.matches(Self.preview, at: 0) {
                // Eight bytes stand between the name and the boxes.
                Self.boxes(in: box.body, from: 24).filter { $0.isNamed("PRVW") }.forEach { add($0, countAt: 12) }
            }
        }
    }

    private static func boxes(in body: ByteReader, from start: Int = 0) -> some Sequence<ISOBox> {
        ISOBox.all(in: body, from: start).prefix(maximumBoxes)
    }

    private mutating func readPart(_ box: ISOBox) {
        if box.isNamed("trak") {
            readTrack(box)
        } else if box.isNamed("uuid"), box.body.matches(Self.canon, at: 0) {
            for part in Self.boxes(in: box.body, from: 16) {
                if part.isNamed("THMB") { add(part, countAt: 8) }
                if part.isNamed("CMT1"), let first = ExifDirectory.first(of: part.body) {
                    places.orientation = first.orientation
                }
            }
        }
    }

    /// Adds the JPEG in one of Canon's boxes, behind its size and its length.
    private mutating func add(_ box: ISOBox, countAt place: Int) {
        guard let count = box.body.bigEndian32(place), let start = offset(of: box.body) else { return }
        places.add(start + 16, count: count)
    }

    /// Adds the only sample of a track. That of a track with the sensor's values is no JPEG.
    private mutating func readTrack(_ track: ISOBox) {
        var body = track.body
        for name: StaticString in ["mdia", "minf", "stbl"] {
            guard let box = Self.boxes(in: body).first(where: { $0.isNamed(name) }) else { return }
            body = box.body
        }
        var start: Int?
        var count: Int?
        for box in Self.boxes(in: body) {
            if box.isNamed("stsz") { count = Self.count(box.body) }
            if box.isNamed("stco") { start = box.body.bigEndian32(8) }
            if box.isNamed("co64"), let high = box.body.bigEndian32(8), let low = box.body.bigEndian32(12) {
                start = min(high, 1 << 29) << 32 | low
            }
        }
        if let start, let count { places.add(start, count: count) }
    }

    /// Returns the length of the first sample, which the table says for all samples or for each.
    private static func count(_ table: ByteReader) -> Int? {
        let common = table.bigEndian32(4)
        return common == 0 ? table.bigEndian32(12) : common
    }

    /// Returns the offset of a part in the file.
    private func offset(of part: ByteReader) -> Int? {
        guard let start = reader.bytes.baseAddress, let place = part.bytes.baseAddress else { return nil }
        return place - start
    }
}
