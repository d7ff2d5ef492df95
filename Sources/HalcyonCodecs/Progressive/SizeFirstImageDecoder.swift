import Foundation
import HalcyonImage

/// A decoder whose files declare their size before their pixels, in a header that bounds-checked Swift reads without a library: a
/// program that isolates its decodes may read it, too.
package protocol SizeFirstImageDecoder: ImageDecoder {
    /// Returns the size that the beginning of a file declares, which is that of the whole file whatever follows; nil if it has not
    /// arrived.
    ///
    /// - Throws: `CodecError.limitExceeded` for a size that the decoder refuses whatever the limits are.
    func declaredSize(inBeginning data: Data) throws(CodecError) -> PixelSize?
}

extension SizeFirstImageDecoder {
    /// The size in the header, which is an error before it is complete.
    package func declaredSize(inBeginning data: Data) -> PixelSize? { (try? probe(data))?.size }
}

extension BMPCoder: SizeFirstImageDecoder {}
extension GIFCoder: SizeFirstImageDecoder {}
extension JPEGCoder: SizeFirstImageDecoder {}
extension QOICoder: SizeFirstImageDecoder {}
extension WebPCoder: SizeFirstImageDecoder {}

extension PNGCoder: SizeFirstImageDecoder {
    /// The size in the header, once its checksum is there as well.
    package func declaredSize(inBeginning data: Data) -> PixelSize? {
        data.read { $0.has(PNGHeader.byteCount, at: 0) ? (try? PNGHeader.info($0))?.size : nil }
    }
}

extension CoderRegistry {
    /// The number of bytes in which every format has its signature.
    private static let signatureBytes = 512

    /// Checks the size that the beginning of a file declares, as a decode of the whole file does first.
    ///
    /// - Returns: whether more bytes would say no more: the size is within the limits, or the format does not declare it first.
    /// - Throws: `CodecError.limitExceeded`, as a decode of the whole file would.
    package func checkBeginning(_ data: Data, limits: DecodeLimits) throws(CodecError) -> Bool {
        guard let decoder = decoder(for: data) else { return data.count >= Self.signatureBytes }
        guard let decoder = decoder as? any SizeFirstImageDecoder else { return true }
        guard let size = try decoder.declaredSize(inBeginning: data) else { return false }
        try limits.check(declared: size)
        return true
    }
}
