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
    /// once more as it is coded, twice with the most effort. With them come the metadata, packed and unpacked, and the result.
    package func workingBytes(toTranscode info: ImageInfo, fileBytes: Int, limits: DecodeLimits) -> Int {
        (8 << 20).adding(info.format == .jpeg ? 80 : 12, times: info.size.area ?? .max).adding(4, times: fileBytes)
            .adding(2, times: limits.maximumMetadataBytes)
            .adding(1, times: Self.mostBytes(ofJPEG: info.size, limits))
    }

    /// Returns the most bytes of a JPEG that is rebuilt. One of noise at full quality has four for each pixel.
    private static func mostBytes(ofJPEG size: PixelSize, _ limits: DecodeLimits) -> Int {
        JXLReconstruction.tailBytes.adding(8, times: size.area ?? .max).adding(1, times: limits.maximumMetadataBytes)
    }

    /// Rewrites a file, without a look at the context once libjxl has begun.
    package func transcode(
        _ data: Data, info: ImageInfo, to target: ImageFormat, limits: DecodeLimits, effort: Double?,
        context: WorkContext
    ) throws -> Data {
        guard target == .jpegXL else {
            let most = Self.mostBytes(ofJPEG: info.size, limits)
            return try Self.jpeg(from: data, limits: limits, most: most, context: context)
        }
        try data.read { try JPEGScans.check($0, size: info.storedSize, few: JXLReconstruction.fewScans) }
        let file = try Self.file(of: data, effort: effort, context: context)
        // Nothing that libjxl overlooks may pass for a file without loss.
        guard try Self.jpeg(from: file, limits: limits, most: data.count + 1, context: context) == data else {
            throw CodecError.encodingFailed(.jpegXL, reason: "this JPEG could not be rebuilt")
        }
        return file
    }

    private static func file(of jpeg: Data, effort: Double?, context: WorkContext) throws -> Data {
        let encoder = try JXLEncoder()
        try encoder.add(jpeg: jpeg, effort: effort)
        try context.checkCancellation()
        return try encoder.finish()
    }

    /// Rebuilds the JPEG that a file was made from.
    private static func jpeg(from data: Data, limits: DecodeLimits, most: Int, context: WorkContext) throws -> Data {
        try JXLFile.checkReconstruction(of: data, limits: limits)
        try context.checkCancellation()
        return try data.withUnsafeBytes { try JXLDecoder(file: $0, context: context).rebuiltJPEG(most: most) }
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
