import CJXL
import Foundation
import HalcyonCodecs
import HalcyonImage
import HalcyonSystem

/// The rewriting of JPEGs as JPEG XL, and back, byte for byte: the coefficients of the JPEG are coded anew, and the rest of it is kept
/// beside them.
extension JXLCoder: ImageTranscoder {
    package func canTranscode(from source: ImageFormat, to target: ImageFormat) -> Bool {
        source == .jpeg && target == .jpegXL || source == .jpegXL && target == .jpeg
    }

    /// Returns the bytes that libjxl 0.7 takes, measured: planes of floating point, the coefficients, and, if it writes, each of those
    /// once more as it is coded, twice with the most effort; if it rebuilds, coefficients in several passes. It works in squares, so
    /// that thin pictures take more. With them come the file in another container, metadata, and the result, here and in a worker.
    /// A result that is rebuilt is written again to check it, when libjxl has given the memory for the first back.
    package func workingBytes(
        toTranscode info: ImageInfo, fileBytes: Int, effort: Double?, limits: DecodeLimits
    ) -> Int {
        let isWritten = info.format == .jpeg
        func pixels(_ pad: (Int) -> Int) -> Int { PixelSize(pad(info.size.width), pad(info.size.height)).area ?? .max }
        let base = (8 << 20).adding(2, times: limits.maximumMetadataBytes)
        guard isWritten else {
            // The points of a JPEG's scans take sixteen times their bits.
            return base.adding(52, times: pixels { ($0 + 255) / 256 * 256 }).adding(20, times: fileBytes)
                .adding(2, times: Self.mostBytes(ofJPEG: info.size, limits))
        }
        let isMost = EncodeOptions(effort: effort).effortLevel(8) == 8
        return base.adding(isMost ? 80 : 52, times: pixels { max(128, $0) }).adding(6, times: fileBytes)
    }

    /// Returns the most bytes of a JPEG that is rebuilt. One of noise at full quality has four for each pixel.
    private static func mostBytes(ofJPEG size: PixelSize, _ limits: DecodeLimits) -> Int {
        JXLReconstruction.tailBytes.adding(6, times: size.area ?? .max).adding(1, times: limits.maximumMetadataBytes)
    }

    /// Rewrites a file, without a look at the context once libjxl writes.
    ///
    /// A JPEG that is rebuilt is decoded, written as JPEG XL and compared before it is returned, which takes as long again.
    package func transcode(
        _ data: Data, info: ImageInfo, to target: ImageFormat, limits: DecodeLimits, effort: Double?,
        context: WorkContext
    ) throws -> Data {
        guard target == .jpegXL else {
            let most = Self.mostBytes(ofJPEG: info.size, limits)
            let jpeg = try Self.jpeg(from: data, limits: limits, most: most, context: context)
            try Self.check(jpeg, of: data, limits: limits, context: context)
            return jpeg
        }
        // libjxl reads on inside of a segment that it does not know, where another picture may be.
        guard data.read({ JPEGMarkers($0).areKnownToAll }), Self.hasFittingProfile(data) else {
            throw JXLEncoder.unknownKind
        }
        try data.read { try JPEGScans.check($0, size: info.storedSize, few: JXLRebuildable.fewScans) }
        do {
            try JPEGCoder().checkCoefficients(of: data, context: context)
        } catch CodecError.damaged {
            throw JXLEncoder.unknownKind
        }
        let file = try Self.file(of: data, effort: effort, context: context)
        // Nothing that libjxl overlooks may pass for a file without loss: no byte, nor how the picture lies and what its channels are.
        let rebuilt: Data
        do {
            rebuilt = try Self.jpeg(from: file, limits: limits, most: data.count + 1, context: context)
        } catch CodecError.damaged {
            throw Self.lossy
        }
        guard rebuilt == data, Self.isShown(data, as: try JXLFile(file)) else { throw Self.lossy }
        return file
    }

    private static var lossy: CodecError { .encodingFailed(.jpegXL, reason: "this JPEG could not be rebuilt") }

    /// Whether the profile of three channels is for these. Others are ignored in a JPEG, and convert the colours of a JPEG XL.
    private static func hasFittingProfile(_ jpeg: Data) -> Bool {
        guard case .icc(let profile, .rgb)? = JPEGCoder().colorProfile(of: jpeg) else { return true }
        return profile.read { $0.matches("RGB ", at: 16) }
    }

    private static func file(of jpeg: Data, effort: Double?, context: WorkContext) throws -> Data {
        let encoder = try JXLEncoder()
        try encoder.add(jpeg: jpeg, effort: effort)
        try context.checkCancellation()
        return try encoder.finish()
    }

    /// Rebuilds the JPEG that a file was made from.
    private static func jpeg(from data: Data, limits: DecodeLimits, most: Int, context: WorkContext) throws -> Data {
        let file = try JXLRebuildable(data, limits: limits)
        try context.checkCancellation()
        return try file.data.withUnsafeBytes { try JXLDecoder(file: $0, context: context).rebuiltJPEG(most: most) }
    }

    /// Checks that a JPEG that was rebuilt from a file is whole, and is shown as it.
    ///
    /// Its segments, codes and tables, and the order of all of them, are what the file says. They may make another picture of the
    /// coefficients, or none, and libjxl shows scales, filters and colours that no JPEG has. So the JPEG is rewritten as JPEG XL again:
    /// libjxl draws the same pixels of both files if they have the same coefficients and tables. Those of libjpeg differ too much, in
    /// pictures of noise, to tell; but they are of the same picture if its coefficients are those of one.
    ///
    /// - Throws: `CodecError.encodingFailed`; `BitmapError.outOfMemory`, `CancellationError`.
    private static func check(_ jpeg: Data, of data: Data, limits: DecodeLimits, context: WorkContext) throws {
        do {
            let file = try JXLFile(data)
            guard isShown(jpeg, as: file), jpeg.read({ JPEGMarkers($0).areKnownToAll }) else {
                throw JXLReconstruction.invalid
            }
            try JPEGCoder().checkCoefficients(of: jpeg, context: context)
            let again = try Self.file(of: jpeg, effort: 0, context: context)
            guard try JXLFile(again).deliveredProfile == file.deliveredProfile,
                haveEqualBytes(try bitmap(of: data, limits, context), try bitmap(of: again, limits, context))
            else { throw JXLReconstruction.invalid }
        } catch is CodecError {
            throw JXLReconstruction.invalid
        }
    }

    private static func haveEqualBytes(_ first: Bitmap, _ second: Bitmap) -> Bool {
        first.withPixels { pixels in
            second.withPixels { others in
                guard pixels.count == others.count, let start = pixels.baseAddress, let other = others.baseAddress
                else { return false }
                return memcmp(start, other, pixels.count) == 0
            }
        }
    }

    private static func bitmap(of data: Data, _ limits: DecodeLimits, _ context: WorkContext) throws -> Bitmap {
        let coder = JXLCoder()
        let plan = try DecodePlan(
            info: try coder.probe(data), options: DecodeOptions(limits: limits), decoder: coder)
        return try coder.decode(data, plan: plan, context: context)
    }

    /// Whether a JPEG has the size, the orientation and the profile of a JPEG XL, and the same kind of channels: red, green and blue, or
    /// luma and chroma.
    private static func isShown(_ jpeg: Data, as file: JXLFile) -> Bool {
        let (info, isYCbCr) = (file.info, file.frames.first?.header.isYCbCr)
        guard JPEGCoder().colorProfile(of: jpeg) == file.deliveredProfile else { return false }
        return jpeg.read { reader in
            guard let header = try? JPEGHeader(reader) else { return false }
            return header.info.size == info.size && header.info.orientation == info.orientation
                && (header.isRGB == nil || header.isRGB != isYCbCr)
        }
    }
}

extension JXLDecoder {
    /// Returns the JPEG that the file was made from.
    ///
    /// - Throws: `CodecError.damaged`, `.limitExceeded` for more than `most` bytes; `BitmapError.outOfMemory`, `CancellationError`.
    fileprivate func rebuiltJPEG(most: Int) throws -> Data {
        guard try next() == JXL_DEC_JPEG_RECONSTRUCTION else { throw JXLReconstruction.invalid }
        var capacity = min(most, 1 << 20)
        while true {
            guard let memory = malloc(capacity) else { throw BitmapError.outOfMemory(bytes: capacity) }
            do {
                if let count = try rebuild(in: memory, capacity) {
                    // Gives back what is left over.
                    let fitting = realloc(memory, max(1, count)) ?? memory
                    return Data(bytesNoCopy: fitting, count: count, deallocator: .free)
                }
            } catch {
                free(memory)
                throw error
            }
            free(memory)
            guard capacity < most else {
                throw CodecError.limitExceeded("bytes of a JPEG", value: most + 1, limit: most)
            }
            // libjxl begins anew.
            capacity = min(most, capacity * 4)
        }
    }
}
