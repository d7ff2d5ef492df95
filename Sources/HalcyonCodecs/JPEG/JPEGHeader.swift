import Foundation
import HalcyonImage

/// The contents of the segments before a JPEG's pixels, read without libjpeg.
package struct JPEGHeader {
    /// The size as stored; nil until a frame header is found.
    private(set) var size: PixelSize?
    /// Whether the frame is lossless, as cameras pack the values of their sensors. libjpeg does not read it.
    package private(set) var isLossless = false
    private(set) var bitsPerChannel = 8
    private(set) var componentCount = 0
    /// The bytes of coefficients that are kept for a file that is not decoded row by row: two per coefficient, as
    /// many as samples.
    private(set) var coefficientBytes = 0
    /// The orientation; nil if the file does not declare one.
    package private(set) var declaredOrientation: Orientation?
    /// The place of the thumbnail in the file; nil if there is none.
    private(set) var thumbnail: Range<Int>?
    private(set) var metadataByteCount = 0
    /// Whether the pixels, or the end of the file, were reached. No header follows them.
    private(set) var isWhole = false
    private var isProgressive = false
    /// Whether the file is arithmetically coded. libjpeg reads such files only as a whole.
    private(set) var isArithmetic = false
    private var hasExif = false
    private var hasJFIF = false
    /// The transform of the last segment of Adobe's: 0 for none.
    private var adobeTransform: Int?
    private var componentNames: [Int] = []
    private var profile = JPEGProfile()
    private(set) var gainMap = JPEGGainMap()

    /// Reads the segments up to the pixels.
    ///
    /// - Throws: `CodecError.damaged` if there is no complete frame header.
    package init(_ reader: ByteReader) throws {
        var offset = 2
        while let segment = Segment(reader, at: offset) {
            // The pixels begin or the file ends here: no header follows.
            if segment.marker == 0xDA || segment.marker == 0xD9 {
                isWhole = true
                readScan(segment.body)
                break
            }
            try read(segment)
            offset = segment.end
        }
        guard let size else { throw Self.damaged("there is no frame header") }
        guard size.height > 0 else { throw Self.damaged("its height is missing") }
        guard size.width > 0 else { throw Self.damaged("its width is zero") }
    }

    package var info: ImageInfo {
        let orientation = declaredOrientation ?? .up
        var info = ImageInfo(
            format: .jpeg, size: orientation.applied(to: size ?? PixelSize(0, 0)), bitsPerChannel: bitsPerChannel,
            orientation: orientation, colorSpace: colorSpace)
        info.hasGainMap = gainMap.isThere
        return info
    }

    /// Whether libjpeg takes three channels for red, green and blue, and not for luma and chroma; nil for another number of channels.
    package var isRGB: Bool? {
        guard componentCount == 3 else { return nil }
        if hasJFIF { return false }
        return adobeTransform.map { $0 == 0 } ?? (componentNames == [0x52, 0x47, 0x42])
    }

    private var colorSpace: ColorSpace {
        // Further parts may follow for as long as not all of the header is there.
        if profile.isWhole || !isWhole && !profile.isEmpty { return .icc(profile.name) }
        switch componentCount {
        case 1: return .gray
        case 4: return .cmyk
        default: return .sRGB
        }
    }

    /// The embedded profile; nil if there is none or a part of it is missing.
    var colorProfile: ColorProfile? {
        let model: ColorModel? = [1: .gray, 3: .rgb, 4: .cmyk][componentCount]
        guard let model, let data = profile.data else { return nil }
        return .icc(data, model)
    }

    private mutating func read(_ segment: Segment) throws {
        let body = segment.body
        switch segment.marker {
        // Frame headers of every kind. DHT, JPG and DAC share their range.
        case 0xC0...0xCF where ![0xC4, 0xC8, 0xCC].contains(segment.marker):
            isArithmetic = segment.marker > 0xC8
            isLossless = segment.marker & 3 == 3
            isProgressive = [0xC2, 0xC6, 0xCA, 0xCE].contains(segment.marker)
            try readFrame(body)
        case 0xE1 where body.matches("Exif\0", at: 0) && body.count >= 14:
            // The first segment that can have a directory counts: later ones belong to embedded previews.
            guard !hasExif else { break }
            hasExif = true
            declaredOrientation = Exif.declaredOrientation(in: body)
            thumbnail = Exif.thumbnail(in: body).map {
                segment.start + $0.lowerBound..<segment.start + $0.upperBound
            }
        case 0xE0 where body.count >= 14 && body.matches("JFIF\0", at: 0):
            hasJFIF = true
        case 0xEE where body.count >= 12 && body.matches("Adobe", at: 0):
            adobeTransform = body.byte(11)
        case 0xE2 where body.matches("ICC_PROFILE\0", at: 0):
            profile.add(body)
        case 0xE1, 0xE2:
            gainMap.read(body, at: segment.start)
        default:
            break
        }
        if (0xE0...0xEF).contains(segment.marker) || segment.marker == 0xFE {
            metadataByteCount += segment.declaredLength
        }
    }

    private mutating func readFrame(_ body: ByteReader) throws {
        // Only the first frame header counts: libjpeg refuses a second one.
        guard size == nil else { return }
        guard let bits = body.byte(0), let height = body.bigEndian16(1), let width = body.bigEndian16(3),
            let components = body.byte(5)
        else { throw Self.damaged("its frame header is cut off") }
        size = PixelSize(width, height)
        bitsPerChannel = bits
        componentCount = components
        componentNames = (0..<components).map { body.byte(6 + $0 * 3) ?? 0 }
        // Frames of every kind may come in several scans, also baseline ones. `readScan` resets the figure if they
        // do not.
        guard components > 0 else { return }
        let factors = (0..<components).map { (body.byte(7 + $0 * 3) ?? 0x11) }
        let widest = max(1, factors.map { $0 >> 4 }.max() ?? 1)
        let highest = max(1, factors.map { $0 & 15 }.max() ?? 1)
        // The number of blocks of all channels in an MCU, which covers one block at the coarsest sampling.
        let samples = factors.reduce(0) { $0 + ($1 >> 4) * ($1 & 15) }
        let blocks = ((width + 8 * widest - 1) / (8 * widest)) * ((height + 8 * highest - 1) / (8 * highest))
        coefficientBytes = blocks * 64 * samples * 2
    }

    private mutating func readScan(_ body: ByteReader) {
        // A sequential frame whose first scan has all channels is decoded row by row.
        if !isProgressive, body.byte(0) == componentCount { coefficientBytes = 0 }
    }

    private static func damaged(_ reason: String) -> CodecError { .damaged(.jpeg, reason: reason) }
}

extension JPEGHeader {
    /// A marker and its segment.
    private struct Segment {
        let marker: Int
        /// The contents of the segment, shorter than declared if the data ends.
        let body: ByteReader
        let declaredLength: Int
        /// The place of the body in the file.
        let start: Int
        let end: Int

        /// Finds the segment at or after `offset` as libjpeg does, skipping anything that is not a marker.
        init?(_ reader: ByteReader, at offset: Int) {
            var from = offset
            while let position = reader.firstIndex(of: 0xFF, from: from), let next = reader.byte(position + 1) {
                // Restart markers, TEM and a second SOI stand alone; 00 and FF are not markers.
                guard next > 1, next != 0xFF, next < 0xD0 || next > 0xD8 else {
                    from = position + 1
                    continue
                }
                marker = next
                declaredLength = next == 0xD9 ? 2 : max(2, reader.bigEndian16(position + 2) ?? 2)
                body = reader.part(at: position + 4, length: declaredLength - 2)
                start = position + 4
                end = position + 2 + declaredLength
                return
            }
            return nil
        }
    }
}

/// The parts of an ICC profile, each in a segment of its own because a segment holds at most 64 KiB.
struct JPEGProfile {
    /// The parts by their numbers, which begin with 1.
    private var parts: [Int: Data] = [:]
    private var count: Int?
    /// Whether a part contradicts the others. Readers then ignore the profile, libjpeg's own among them.
    private var isInvalid = false

    var isEmpty: Bool { parts.isEmpty || isInvalid }
    /// Whether all parts are there. Their numbers are within the count and each is different.
    var isWhole: Bool { parts.count == count && !isInvalid }

    /// Adds the contents of an APP2 segment: a name of 12 bytes, the number of this part, the number of parts, and
    /// the part.
    mutating func add(_ body: ByteReader) {
        guard let number = body.byte(12), let total = body.byte(13) else { return }
        guard 1 <= number, number <= total, total == count ?? total, parts[number] == nil else {
            isInvalid = true
            return
        }
        count = total
        parts[number] = Data(body.part(at: 14, length: body.count - 14).bytes)
    }

    /// The whole profile; nil if a part is missing.
    var data: Data? {
        guard isWhole, let count else { return nil }
        var whole = Data()
        for number in 1...count {
            guard let part = parts[number] else { return nil }
            whole.append(part)
        }
        return whole
    }

    /// The name of the profile, which is usually in the first part already.
    var name: String { (data ?? parts[1]).map { $0.read { ICCProfile.name(of: $0) } } ?? "" }
}
