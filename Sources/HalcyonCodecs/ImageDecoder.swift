import Foundation
import HalcyonImage
import HalcyonSystem

/// Reads one or more image formats. Every method must survive arbitrary bytes.
public protocol ImageDecoder: ImageCoder {
    /// Whether the data begins with the signature of a format of this decoder. Costs a few byte comparisons.
    func canDecode(_ data: Data) -> Bool

    /// Reads the header only, never pixels.
    ///
    /// The first 64 KiB of a file are enough wherever the format puts its header first. Of a part of an animation, it
    /// counts the frames that are there.
    ///
    /// - Throws: `CodecError.damaged`, also where the data ends before the header does.
    func probe(_ data: Data) throws -> ImageInfo

    /// How many bytes of the file are neither pixels nor what is needed to read them (EXIF, ICC, XMP, comments), for
    /// `DecodeLimits.maximumMetadataBytes`. The default is 0.
    func metadataByteCount(_ data: Data) -> Int

    /// The images that the file holds beside its own pixels and that a decode unpacks, such as those inside of a drawing.
    ///
    /// Each of them, and the sum of their pixels, is held against `DecodeLimits`, and their memory is reserved from the
    /// `DecodeBudget`. The default is none.
    ///
    /// - Throws: `CodecError.damaged` for one whose header cannot be read.
    func embeddedImages(in data: Data) throws -> [EmbeddedImage]

    /// How the file says what its colours are; nil where they are plain sRGB or grey.
    ///
    /// The registry converts by it what `decode` returned, where `plan.convertsColor`. Nil also where `decode` does that
    /// itself, from ink or from more than 8 bits. The default is nil.
    func colorProfile(of data: Data) -> ColorProfile?

    /// The ICC profile of the decoded pixels, for `ColorHandling.asStored`. The default is that of `colorProfile`.
    func embeddedProfile(of data: Data) -> Data?

    /// The most bytes of memory that a decode of this file takes beside the data and a bitmap of the native size.
    ///
    /// What it returns is reserved from the `DecodeBudget` before the decode begins. The default is 0.
    func workingBytes(of data: Data, info: ImageInfo, nativeSize: PixelSize) -> Int

    /// The pixels that the data unpacks to, which a container may declare too low, for `DecodeLimits`. The default is what
    /// the header says: every frame as large as the image.
    func codedExtent(of data: Data, info: ImageInfo) -> CodedExtent

    /// The smallest size, in stored orientation, that it can decode to at little cost and that is no smaller than
    /// `size` on either side. The default is the stored size, for decoders that cannot scale.
    func scaledSize(for info: ImageInfo, atLeast size: PixelSize) -> PixelSize

    /// How much of a native size the stored image covers, in native pixels.
    ///
    /// Less than `native` where the last column or row reaches past the edge of the image, as in a JPEG at an eighth
    /// of 45 pixels: 6 columns that stand for 5.625. The default is all of it.
    func coverage(of info: ImageInfo, at native: PixelSize) -> (width: Double, height: Double)

    /// Decodes the image, of an animation the first frame on its full canvas.
    ///
    /// - Returns: exactly `plan.nativeSize` pixels, in stored orientation: the registry turns them.
    /// - Throws: `CodecError`, `BitmapError`, `CancellationError`. A file that was cut off is damaged, never half an
    ///   image.
    func decode(_ data: Data, plan: DecodePlan, context: WorkContext) throws -> Bitmap
}

extension ImageDecoder {
    public func codedExtent(of data: Data, info: ImageInfo) -> CodedExtent { CodedExtent(info) }

    public func colorProfile(of data: Data) -> ColorProfile? { nil }

    public func embeddedProfile(of data: Data) -> Data? {
        guard case .icc(let profile, _) = colorProfile(of: data) else { return nil }
        return profile
    }

    public func workingBytes(of data: Data, info: ImageInfo, nativeSize: PixelSize) -> Int { 0 }

    public func metadataByteCount(_ data: Data) -> Int { 0 }

    public func embeddedImages(in data: Data) throws -> [EmbeddedImage] { [] }

    public func scaledSize(for info: ImageInfo, atLeast size: PixelSize) -> PixelSize { info.storedSize }

    public func coverage(of info: ImageInfo, at native: PixelSize) -> (width: Double, height: Double) {
        (Double(native.width), Double(native.height))
    }
}

/// An image inside of another file.
public struct EmbeddedImage: Hashable, Sendable {
    public let info: ImageInfo
    /// The most bytes of memory that it takes until the decode of what holds it ends.
    public let workingBytes: Int

    public init(info: ImageInfo, workingBytes: Int) {
        self.info = info
        self.workingBytes = workingBytes
    }
}
