import CBrotli
import Foundation
import HalcyonCodecs

/// The head of the data from which a JPEG is rebuilt (ISO/IEC 18181-2, annex A), as far as it decides on memory and time.
///
/// libjxl 0.7 allocates by it without a limit, writes a scan for every one that it names, and writes beyond its memory if it contradicts
/// the frame, so it is read and checked here first.
struct JXLReconstruction {
    /// The most markers that libjxl reads.
    private static let maximumMarkers = 1 << 14
    /// The most bytes behind the end of the JPEG that it may name.
    static let tailBytes = 65_793 + 1 << 22
    private static let endOfImage = 0xD9
    /// The number of scans that are read or written whatever the size is: less than a decode's, as nothing cancels the work.
    static let fewScans = 8

    /// The number of scans of the JPEG.
    private(set) var scanCount = 0
    /// The number of its channels.
    private(set) var componentCount = 1
    /// The most bytes of segments and other data beside its header and pixels.
    private(set) var segmentBytes = tailBytes

    /// - Throws: `CodecError.damaged`.
    init(_ box: ByteReader) throws {
        var reader = JXLBitReader(box)
        reader.skip(1)
        let (segments, comments) = try readMarkers(&reader)
        for _ in 0..<segments {
            _ = reader.number(.value(0), .value(1), .bits(1, from: 2), .bits(2, from: 4))
            segmentBytes += 1 + reader.bits(16)
        }
        for _ in 0..<comments { segmentBytes += 1 + reader.bits(16) }
        let tables = reader.number(.value(1), .value(2), .value(3), .value(4))
        // The precision of each table, its number, and whether its segment ends.
        reader.skip(tables * 4)
        switch reader.bits(2) {
        case 0: componentCount = 1
        case 3: componentCount = reader.number(.value(1), .value(2), .value(3), .value(4))
        default: componentCount = 3
        }
        guard !reader.isOver else { throw Self.invalid }
    }

    /// Reads the order of the markers, and returns the numbers of APP segments and of comments.
    private mutating func readMarkers(_ reader: inout JXLBitReader) throws -> (segments: Int, comments: Int) {
        var (segments, comments) = (0, 0)
        for _ in 0..<Self.maximumMarkers {
            switch 0xC0 + reader.bits(6) {
            case Self.endOfImage: return (segments, comments)
            case 0xDA: scanCount += 1
            case 0xE0...0xEF: segments += 1
            case 0xFE: comments += 1
            // Bytes between two markers, whose number follows much later.
            case 0xFF: segmentBytes += 1 << 16
            default: break
            }
            guard !reader.isOver else { throw Self.invalid }
        }
        throw Self.invalid
    }

    static var invalid: CodecError { .damaged(.jpegXL, reason: "the JPEG in it cannot be rebuilt") }
}

extension JXLFile {
    /// Checks that libjxl can rebuild the JPEG that the file was made from, in bounded memory and time.
    ///
    /// - Throws: `CodecError.encodingFailed` if the file was not made from a JPEG, `.damaged`, `.limitExceeded`.
    static func checkReconstruction(of data: Data, limits: DecodeLimits) throws {
        let (file, boxes) = (try JXLFile(data), try JXLBoxes(data))
        guard let place = boxes.reconstruction else {
            throw CodecError.encodingFailed(.jpeg, reason: "the file was not made from a JPEG")
        }
        guard !file.isCut else { throw cutOff }
        let reconstruction = try data.read {
            try JXLReconstruction($0.part(at: place.lowerBound, length: place.count))
        }
        let header = file.header
        guard file.frames.count == 1, let frame = file.frames.first?.header, frame.mayBeOfJPEG,
            frame.size == header.size, !header.isXYB, !header.isDeep, header.extraChannels.isEmpty,
            header.animation == nil, header.previewSize == nil,
            reconstruction.componentCount == 3 || reconstruction.componentCount == 1 && !frame.isSubsampled
        else { throw JXLReconstruction.invalid }
        try limits.check(metadataBytes: reconstruction.segmentBytes - JXLReconstruction.tailBytes)
        try JPEGScans.check(count: reconstruction.scanCount, size: header.size, few: JXLReconstruction.fewScans)
        var unpacked = 0
        for place in boxes.packed {
            unpacked += data.read {
                unpackedBytes(
                    of: $0.part(at: place.lowerBound, length: place.count), most: limits.maximumMetadataBytes)
            }
            try limits.check(metadataBytes: unpacked)
        }
    }

    /// Returns the number of bytes that a box unpacks to, or one that is larger than `most`. Only boxes that libjxl unpacks count.
    private static func unpackedBytes(of box: ByteReader, most: Int) -> Int {
        guard box.matches("Exif", at: 0) || box.matches("xml ", at: 0),
            let decoder = BrotliDecoderCreateInstance(nil, nil, nil)
        else { return 0 }
        defer { BrotliDecoderDestroyInstance(decoder) }
        let packed = box.bytes.dropFirst(4)
        return withUnsafeTemporaryAllocation(of: UInt8.self, capacity: 1 << 16) { part in
            var (input, left) = (UnsafeRawBufferPointer(rebasing: packed).baseAddress, packed.count)
            var (next, count) = (input?.assumingMemoryBound(to: UInt8.self), 0)
            var result = BROTLI_DECODER_RESULT_NEEDS_MORE_OUTPUT
            while result == BROTLI_DECODER_RESULT_NEEDS_MORE_OUTPUT, count <= most {
                var (output, room) = (part.baseAddress, part.count)
                result = BrotliDecoderDecompressStream(decoder, &left, &next, &room, &output, nil)
                count += part.count - room
            }
            return count
        }
    }
}
