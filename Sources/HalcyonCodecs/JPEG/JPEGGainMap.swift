import Foundation
import HalcyonImage

/// The signs of a gain map in the segments of a JPEG: the picture is followed by another one, the map, which a list names (CIPA DC-007,
/// "MPF"), and is described as the base of one (Ultra HDR's XMP, or ISO 21496-1).
struct JPEGGainMap {
    private static let pictureCount = 0xB001
    private static let pictureList = 0xB002
    /// The bytes of a picture in the list: its attributes, size and offset, and two numbers of others.
    private static let listEntry = 16
    /// The pictures that are looked at. Phones write up to four: the map, a preview, a depth map.
    private static let mostPictures = 8

    private var isDescribed = false
    private var hasMorePictures = false
    /// The places of the first description of each kind, which are read only of a map: a file may have hundreds.
    private var iso: Range<Int>?
    private var xmp: Range<Int>?
    /// The places of the other pictures in the file, as the list says.
    private(set) var pictures: [Range<Int>] = []

    /// Whether the file has a gain map. One whose list was dropped, as by a program that does not know gain maps, has none any more.
    var isThere: Bool { isDescribed && hasMorePictures }

    /// Returns the metadata of the map, if the file is one. The standard's counts before XMP.
    func metadata(in file: ByteReader) -> GainMap.Metadata? {
        func part(_ place: Range<Int>?) -> ByteReader? {
            place.map { file.part(at: $0.lowerBound, length: $0.count) }
        }
        return part(iso).flatMap { GainMap.Metadata(iso: $0) } ?? part(xmp).flatMap { GainMap.Metadata(xmp: $0) }
    }

    /// Reads an APP1 or APP2 segment.
    ///
    /// - Parameter start: the place of the body in the file.
    mutating func read(_ body: ByteReader, at start: Int) {
        let (xmpName, isoName) = (GainMap.Metadata.xmpName, GainMap.Metadata.isoName)
        if body.matches(xmpName, at: 0) {
            guard body.firstMatch(GainMap.Metadata.xmpNamespace, from: xmpName.utf8CodeUnitCount) != nil else { return }
            isDescribed = true
            xmp = xmp ?? start + xmpName.utf8CodeUnitCount..<start + body.count
        } else if body.matches(isoName, at: 0) {
            isDescribed = true
            iso = iso ?? start + isoName.utf8CodeUnitCount..<start + body.count
        } else if body.matches("MPF\0", at: 0) {
            readList(body.part(at: 4, length: body.count - 4), at: start + 4)
        }
    }

    private mutating func readList(_ reader: ByteReader, at start: Int) {
        guard let list = ExifDirectory.first(of: reader), let count = list.value(of: Self.pictureCount), count > 1
        else {
            return
        }
        hasMorePictures = true
        guard pictures.isEmpty, let place = list.place(of: Self.pictureList) else { return }
        func number(_ offset: Int) -> Int? {
            list.isLittleEndian ? reader.littleEndian32(offset) : reader.bigEndian32(offset)
        }
        for index in 1..<min(count, Self.mostPictures) {
            let entry = place.offset + index * Self.listEntry
            guard let size = number(entry + 4), let offset = number(entry + 8), size > 0, offset > 0 else { continue }
            let picture = start + offset..<start + offset + size
            // A picture that is listed again is not read again.
            if !pictures.contains(where: { $0.lowerBound == picture.lowerBound }) { pictures.append(picture) }
        }
    }
}

extension JPEGCoder: GainMapImageDecoder {
    /// Returns the first of the pictures behind this one that describes itself as a map: where the list says, otherwise, since programs
    /// that insert metadata leave the list as it was, right behind the picture.
    package func gainMap(in data: Data) -> StoredGainMap? {
        data.read { reader in
            guard let header = try? JPEGHeader(reader), header.info.hasGainMap else { return nil }
            for place in header.gainMap.pictures where reader.has(place.count, at: place.lowerBound) {
                if let map = Self.map(in: data, at: place) { return map }
            }
            guard let end = JPEGMarkers.end(of: reader) else { return nil }
            return Self.map(in: data, at: end..<data.count)
        }
    }

    private static func map(in data: Data, at place: Range<Int>) -> StoredGainMap? {
        let picture = data.dropFirst(place.lowerBound).prefix(place.count)
        guard FormatSniffer.hasSignature(picture, of: .jpeg) else { return nil }
        return picture.read { reader in
            guard let header = try? JPEGHeader(reader), let metadata = header.gainMap.metadata(in: reader) else {
                return nil
            }
            var profile: Data?
            if case .icc(let data, _) = header.colorProfile { profile = data }
            return StoredGainMap(
                picture: picture, metadata: metadata, isGray: header.componentCount == 1, colorProfile: profile)
        }
    }
}
