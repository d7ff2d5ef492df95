import HalcyonCodecs
import HalcyonImage

/// A raw file: the preview that stands for it.
struct RAWFile {
    /// A picture that the file has beside the values of its sensor.
    struct Preview {
        let place: Range<Int>
        /// Whether it is a JPEG; otherwise it is rows of red, green and blue, a byte each.
        let isJPEG: Bool
        /// The facts in its header, with the format and the orientation of the file.
        let info: ImageInfo

        var area: Int { info.size.area ?? 0 }

        /// Whether this is no smaller than one that is missing, as far as bytes tell: a JPEG has more of them the larger it is,
        /// and plain pixels are a small picture.
        func isLarger(than missing: RAWPlaces.Preview) -> Bool {
            if let size = missing.pixels { return area >= size.area ?? .max }
            return isJPEG && place.count >= missing.place.count
        }
    }

    /// The largest of the previews.
    let preview: Preview

    var info: ImageInfo { preview.info }

    /// Finds the preview.
    ///
    /// - Throws: `CodecError.damaged` if there is none, or if a longer one is missing from a file that was cut off.
    init(_ reader: ByteReader) throws {
        let places = try Self.places(reader)
        var best: Preview?
        var missing: [RAWPlaces.Preview] = []
        // Only in a hostile file do several have the same place: each is examined once.
        var seen: Set<Int> = []
        for candidate in places.previews where seen.insert(candidate.place.lowerBound).inserted {
            if let preview = Self.preview(candidate, in: reader, of: places) {
                if preview.area > best?.area ?? 0 { best = preview }
            } else if Self.isMissing(candidate, in: reader) {
                missing.append(candidate)
            }
        }
        guard !places.isCut, !missing.contains(where: { best?.isLarger(than: $0) != true }) else {
            throw Self.damaged("it was cut off before the end of its preview")
        }
        guard let best else { throw Self.damaged("it has no preview") }
        preview = best
    }

    static func damaged(_ reason: String) -> CodecError { .damaged(.raw, reason: reason) }

    private static func places(_ reader: ByteReader) throws -> RAWPlaces {
        if reader.matches("FUJIFILMCCD-RAW ", at: 0) { return try fujifilm(reader) }
        if reader.matches("ftyp", at: 4) { return RAWBoxes(reader).places }
        guard let directories = RAWDirectories(reader) else { throw damaged("its directory is missing") }
        return directories.places
    }

    /// Returns the preview of a RAF, whose place stands behind the camera's name.
    private static func fujifilm(_ reader: ByteReader) throws -> RAWPlaces {
        guard let start = reader.bigEndian32(84), let count = reader.bigEndian32(88) else {
            throw damaged("its header is cut off")
        }
        var places = RAWPlaces()
        places.add(start, count: count)
        return places
    }

    /// Returns a preview that has a size; nil if it is none, or does not lie within the file.
    private static func preview(_ candidate: RAWPlaces.Preview, in reader: ByteReader, of file: RAWPlaces) -> Preview? {
        let place = candidate.place
        guard reader.has(place.count, at: place.lowerBound) else { return nil }
        if let size = candidate.pixels {
            let orientation = file.orientation ?? .up
            return Preview(
                place: place, isJPEG: false,
                info: ImageInfo(format: .raw, size: orientation.applied(to: size), orientation: orientation))
        }
        guard let header = header(at: place, in: reader), !header.isLossless else { return nil }
        var info = header.info
        let stored = info.storedSize
        info.format = .raw
        // The picture's own orientation is that of its pixels, whatever the file says of the sensor's.
        info.orientation = header.declaredOrientation ?? file.orientation ?? .up
        info.size = info.orientation.applied(to: stored)
        return Preview(place: place, isJPEG: true, info: info)
    }

    /// Returns whether a preview reaches beyond the file. The values of a sensor, which begin in another way, may be missing.
    private static func isMissing(_ candidate: RAWPlaces.Preview, in reader: ByteReader) -> Bool {
        let place = candidate.place
        guard place.upperBound > reader.count else { return false }
        guard candidate.pixels == nil, reader.has(3, at: place.lowerBound) else { return true }
        guard isJPEG(at: place, in: reader) else { return false }
        return header(at: place, in: reader)?.isLossless != true
    }

    private static func isJPEG(at place: Range<Int>, in reader: ByteReader) -> Bool {
        reader.matches([0xFF, 0xD8, 0xFF], at: place.lowerBound)
    }

    private static func header(at place: Range<Int>, in reader: ByteReader) -> JPEGHeader? {
        guard isJPEG(at: place, in: reader) else { return nil }
        return try? JPEGHeader(reader.part(at: place.lowerBound, length: place.count))
    }
}

/// The places of previews that a file declares, none of them examined yet.
struct RAWPlaces {
    struct Preview {
        let place: Range<Int>
        /// The size of plain pixels; nil for a JPEG.
        let pixels: PixelSize?
    }

    /// The maximum number of previews. Cameras write four at most.
    private static let maximumPreviews = 32

    private(set) var previews: [Preview] = []
    /// The orientation that the file declares; nil if it does not.
    var orientation: Orientation?
    /// Whether the file ends before its description does.
    var isCut = false

    mutating func add(_ start: Int, count: Int, pixels: PixelSize? = nil) {
        guard start > 0, count > 0, previews.count < Self.maximumPreviews else { return }
        let (end, overflow) = start.addingReportingOverflow(count)
        previews.append(Preview(place: start..<(overflow ? .max : end), pixels: pixels))
    }
}
