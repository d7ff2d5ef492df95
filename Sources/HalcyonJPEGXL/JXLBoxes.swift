import Foundation
import HalcyonCodecs

/// The boxes of a file, with the places of the codestream that they hold.
struct JXLBoxes {
    /// A box of metadata.
    struct Metadata {
        let place: Range<Int>
        /// Whether Brotli has packed the bytes.
        let isPacked: Bool
    }

    /// More boxes than a file has.
    private static let maximumBoxes = 4096

    /// The places of the codestream, from the beginning of the data.
    private(set) var parts: [Range<Int>] = []
    private(set) var metadataByteCount = 0
    private(set) var isCut = false
    /// The place of the data from which a JPEG is rebuilt; nil if there is none.
    private(set) var reconstruction: Range<Int>?
    /// The first box of EXIF data and of XMP.
    private(set) var exif: Metadata?
    private(set) var xmp: Metadata?
    /// Whether there is a gain map (`jhgm`, ISO 21496-1).
    private(set) var hasGainMap = false

    /// - Throws: `CodecError.damaged`, `.limitExceeded`.
    init(_ data: Data) throws {
        guard !data.read({ $0.matches([0xFF, 0x0A], at: 0) }) else {
            parts = [0..<data.count]
            return
        }
        try data.read { try read($0) }
    }

    private mutating func read(_ file: ByteReader) throws {
        var (count, isOver, isWhole) = (0, false, false)
        for box in ISOBox.ofFile(file) {
            count += 1
            guard count <= Self.maximumBoxes else {
                throw CodecError.limitExceeded("boxes", value: count, limit: Self.maximumBoxes)
            }
            if box.isCut { isCut = true }
            let body = box.end - box.body.count..<box.end
            if box.isNamed("jxlc"), parts.isEmpty {
                parts = [body]
                (isOver, isWhole) = (true, true)
            } else if box.isNamed("jxlp"), !isWhole, !isOver {
                guard let number = box.body.bigEndian32(0) else { break }
                guard number & 0x7FFF_FFFF == parts.count else {
                    throw CodecError.damaged(.jpegXL, reason: "the parts of its codestream are out of order")
                }
                parts.append(body.dropFirst(4))
                isOver = number >> 31 == 1
            } else if !box.isNamed("JXL "), !box.isNamed("ftyp"), !box.isNamed("jxll") {
                add(box, at: body)
            }
        }
        if !isOver { isCut = true }
    }

    /// Adds a box beside the codestream.
    private mutating func add(_ box: ISOBox, at body: Range<Int>) {
        // The rest of a JPEG is no metadata of the picture, and has a limit of its own where it is read.
        guard !box.isNamed("jbrd") else {
            reconstruction = reconstruction ?? body
            return
        }
        metadataByteCount += box.body.count
        if box.isNamed("jhgm") { hasGainMap = true }
        let isPacked = box.isNamed("brob")
        let metadata = Metadata(place: isPacked ? body.dropFirst(4) : body, isPacked: isPacked)
        func holds(_ name: StaticString) -> Bool { isPacked ? box.body.matches(name, at: 0) : box.isNamed(name) }
        if exif == nil, holds("Exif") { exif = metadata }
        if xmp == nil, holds("xml ") { xmp = metadata }
    }

    /// Returns the codestream in the data, without a copy if it is in one part.
    ///
    /// - Throws: `CodecError.damaged` if it has no signature.
    func codestream(in data: Data) throws -> Data {
        func slice(_ range: Range<Int>) -> Data {
            data[data.startIndex + range.lowerBound..<data.startIndex + range.upperBound]
        }
        let codestream = parts.count == 1 ? slice(parts[0]) : parts.reduce(into: Data()) { $0.append(slice($1)) }
        guard codestream.count < 2 || codestream.read({ $0.matches([0xFF, 0x0A], at: 0) }) else {
            throw CodecError.damaged(.jpegXL, reason: "its codestream has no signature")
        }
        return codestream
    }
}
