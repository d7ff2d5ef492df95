import CBrotli
import Foundation
import HalcyonCodecs
import HalcyonImage

/// A file from which libjxl can rebuild a JPEG in bounded memory and time.
///
/// libjxl 0.7 reads boxes in its own way: lengths of 64 bits, several codestreams, boxes with strange names, and packed metadata that go
/// on in the next box. So it gets a container that is put together of what has been checked, and nothing else.
struct JXLRebuildable {
    /// The number of scans that are read or written whatever the size is: less than a decode's, as nothing cancels the work.
    static let fewScans = 8
    private static let head = Data([0, 0, 0, 12]) + Data("JXL \r\n".utf8) + Data([0x87, 10])

    /// The container.
    let data: Data

    /// - Throws: `CodecError.encodingFailed` if the file was not made from a JPEG, or not as libjxl makes it; `.damaged`, `.limitExceeded`.
    init(_ data: Data, limits: DecodeLimits) throws {
        let file = try JXLFile(data)
        let boxes = file.boxes
        guard let place = boxes.reconstruction else {
            throw CodecError.encodingFailed(.jpeg, reason: "the file was not made from a JPEG")
        }
        guard !file.isCut else { throw JXLFile.cutOff }
        try Self.check(try data.read { try JXLReconstruction($0.part(at: place)) }, file, limits)
        var container = Self.head
        try Self.append("ftyp", Data("jxl \0\0\0\0jxl ".utf8), to: &container)
        try Self.append("jbrd", data.read { Data($0.part(at: place).bytes) }, to: &container)
        var bytes = 0
        for (name, box) in [("Exif", boxes.exif), ("xml ", boxes.xmp)] {
            guard let box else { continue }
            let body = try data.read { try Self.contents(of: box, in: $0, atMost: limits.maximumMetadataBytes - bytes) }
            bytes += body.count
            try Self.append(name, body, to: &container)
        }
        try Self.append("jxlc", file.codestream, to: &container)
        self.data = container
    }

    /// Checks the head of the data against the frame.
    private static func check(_ jpeg: JXLReconstruction, _ file: JXLFile, _ limits: DecodeLimits) throws {
        let header = file.header
        guard file.frames.count == 1, let frame = file.frames.first?.header, frame.mayBeOfJPEG,
            frame.size == header.size, !header.isXYB, !header.isDeep, header.extraChannels.isEmpty,
            header.animation == nil, header.previewSize == nil, jpeg.refinesWhatIsThere,
            jpeg.componentCount == 3 || jpeg.componentCount == 1 && !frame.isSubsampled
        else { throw JXLReconstruction.invalid }
        try limits.check(metadataBytes: jpeg.segmentBytes)
        try JPEGScans.check(count: jpeg.scans.count, size: header.size, few: fewScans)
        guard jpeg.hasOneFrame else { throw JXLReconstruction.invalid }
    }

    private static func append(_ name: String, _ body: Data, to container: inout Data) throws {
        guard let length = UInt32(exactly: body.count + 8) else { throw JXLReconstruction.invalid }
        withUnsafeBytes(of: length.bigEndian) { container.append(contentsOf: $0) }
        container.append(contentsOf: name.utf8)
        container.append(body)
    }

    // MARK: - Metadata

    /// Returns the metadata of a box, unpacked.
    ///
    /// - Throws: `CodecError.limitExceeded` for more than `most` bytes, `.encodingFailed` for a stream that is broken or goes on.
    private static func contents(of box: JXLBoxes.Metadata, in file: ByteReader, atMost most: Int) throws -> Data {
        let body = file.part(at: box.place).bytes
        guard box.isPacked else {
            try DecodeLimits.check(metadataBytes: body.count, atMost: most)
            return Data(body)
        }
        guard let decoder = BrotliDecoderCreateInstance(nil, nil, nil) else {
            throw BitmapError.outOfMemory(bytes: 0)
        }
        defer { BrotliDecoderDestroyInstance(decoder) }
        var (unpacked, left) = (Data(), body.count)
        var next = body.baseAddress?.assumingMemoryBound(to: UInt8.self)
        return try withUnsafeTemporaryAllocation(of: UInt8.self, capacity: 1 << 16) { part in
            while true {
                var (output, room) = (part.baseAddress, part.count)
                let result = BrotliDecoderDecompressStream(decoder, &left, &next, &room, &output, nil)
                unpacked.append(contentsOf: part.prefix(part.count - room))
                try DecodeLimits.check(metadataBytes: unpacked.count, atMost: most)
                if result == BROTLI_DECODER_RESULT_SUCCESS { return unpacked }
                guard result == BROTLI_DECODER_RESULT_NEEDS_MORE_OUTPUT else { throw JXLReconstruction.invalid }
            }
        }
    }
}

extension ByteReader {
    fileprivate func part(at place: Range<Int>) -> ByteReader { part(at: place.lowerBound, length: place.count) }
}
