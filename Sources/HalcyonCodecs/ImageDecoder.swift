import Foundation
import HalcyonImage
import HalcyonSystem

/// A reader of one or more image formats. Every method must accept arbitrary bytes without crashing.
public protocol ImageDecoder: ImageCoder {
    /// Whether files are decoded in workers only (`DecodeIsolation`), whatever a program asks for; headers may be read anywhere.
    /// False by default. True for code that is not trusted with a program's memory.
    var requiresIsolation: Bool { get }

    /// Returns whether the data begins with the signature of a format of this decoder. Costs a few byte comparisons.
    func canDecode(_ data: Data) -> Bool

    /// Reads only the header, never pixels.
    ///
    /// The first 64 KiB of a file are enough for every format that stores its header first. For an incomplete
    /// animation, the frame count is that of the frames that are present.
    ///
    /// - Throws: `CodecError.damaged`, also if the data ends before the header does.
    func probe(_ data: Data) throws -> ImageInfo

    /// Returns the number of bytes of the file that are neither pixels nor needed to read them (EXIF, ICC, XMP,
    /// comments), for `DecodeLimits.maximumMetadataBytes`. The default is 0.
    func metadataByteCount(_ data: Data) -> Int

    /// Returns the images in the file other than its own pixels that a decode unpacks, such as those embedded in a
    /// drawing.
    ///
    /// Each of them, and the sum of their pixels, is checked against `DecodeLimits`, and their memory is reserved from
    /// the `DecodeBudget`. The default is none.
    ///
    /// - Throws: `CodecError.damaged` if the header of one cannot be read.
    func embeddedImages(in data: Data) throws -> [EmbeddedImage]

    /// Returns the small picture that the file has of its own one, as a file: a JPEG, as cameras write it into the EXIF data, or
    /// a file of the decoder's own format. Nil, the default, if there is none or it has not arrived as a whole.
    ///
    /// The bytes are not trusted: `CoderRegistry` checks the size and the aspect ratio, and turns the thumbnail as the
    /// picture. Costs reading the header.
    func embeddedThumbnail(in data: Data) -> Data?

    /// Returns the colour profile of the file, or nil if its colours are plain sRGB or grey.
    ///
    /// If `plan.convertsColor` is set, the registry converts the pixels that `decode` returned by this profile. Nil
    /// also if `decode` converts by itself, from CMYK or from more than 8 bits. The default is nil.
    func colorProfile(of data: Data) -> ColorProfile?

    /// Returns the ICC profile of the decoded pixels, for `ColorHandling.asStored`. The default is the one in
    /// `colorProfile`.
    func embeddedProfile(of data: Data) -> Data?

    /// Returns the maximum number of bytes that a decode of this file takes in addition to the data and a bitmap of the
    /// native size.
    ///
    /// These bytes are reserved from the `DecodeBudget` before the decode begins. The default is 0.
    func workingBytes(of data: Data, info: ImageInfo, nativeSize: PixelSize) -> Int

    /// Returns the extent of the pixels that the data unpacks to, for `DecodeLimits`: a container may declare fewer
    /// pixels than it holds. The default is derived from the header: every frame has the size of the image.
    func codedExtent(of data: Data, info: ImageInfo) -> CodedExtent

    /// Returns the smallest size, in stored orientation, that the decoder can scale to at little cost and that is at
    /// least `size` on both sides. The default, for decoders that cannot scale, is the stored size.
    func scaledSize(for info: ImageInfo, atLeast size: PixelSize) -> PixelSize

    /// Returns the smallest size that the decoder can deliver of this file, as `scaledSize(for:atLeast:)` does, for a format whose
    /// files hold several sizes of one picture. The default asks that.
    func scaledSize(of data: Data, info: ImageInfo, atLeast size: PixelSize) -> PixelSize

    /// The formats of this decoder whose files may hold several sizes of one picture, of which a decode takes the one that suits:
    /// for those, `scaledSize(of:info:atLeast:)` depends on the file. None by default.
    var formatsOfSeveralSizes: [ImageFormat] { get }

    /// Whether the decoder makes smaller sizes by averaging pixels: then a decode in linear light (`TargetSize.light`) takes the
    /// stored size. True by default. False for drawings, and for files that hold several sizes of one picture.
    var scalesByAveraging: Bool { get }

    /// Returns the part of a native size that the stored image covers, in native pixels.
    ///
    /// It is less than `native` if the last column or row reaches past the edge of the image, as in a JPEG of 45 pixels
    /// at an eighth: 6 columns that represent 5.625. The default is all of `native`.
    func coverage(of info: ImageInfo, at native: PixelSize) -> (width: Double, height: Double)

    /// Decodes the image, or the first frame of an animation on its full canvas.
    ///
    /// - Returns: exactly `plan.nativeSize` pixels, in stored orientation; the registry applies the orientation.
    /// - Throws: `CodecError`, `BitmapError`, `CancellationError`. A truncated file is damaged, and never returned as a
    ///   partial image.
    func decode(_ data: Data, plan: DecodePlan, context: WorkContext) throws -> Bitmap
}

/// A decoder that opens libraries or reads folders, which a worker can do only before it gives up its rights.
package protocol PreparedDecoder: ImageDecoder {
    /// Opens and reads them, in a process without other threads.
    func prepare()
}

extension ImageDecoder {
    public var requiresIsolation: Bool { false }

    public func codedExtent(of data: Data, info: ImageInfo) -> CodedExtent { CodedExtent(info) }

    public func colorProfile(of data: Data) -> ColorProfile? { nil }

    public func embeddedProfile(of data: Data) -> Data? {
        guard case .icc(let profile, _) = colorProfile(of: data) else { return nil }
        return profile
    }

    public func workingBytes(of data: Data, info: ImageInfo, nativeSize: PixelSize) -> Int { 0 }

    public func metadataByteCount(_ data: Data) -> Int { 0 }

    public func embeddedImages(in data: Data) throws -> [EmbeddedImage] { [] }

    public func embeddedThumbnail(in data: Data) -> Data? { nil }

    public func scaledSize(for info: ImageInfo, atLeast size: PixelSize) -> PixelSize { info.storedSize }

    public func scaledSize(of data: Data, info: ImageInfo, atLeast size: PixelSize) -> PixelSize {
        scaledSize(for: info, atLeast: size)
    }

    public var formatsOfSeveralSizes: [ImageFormat] { [] }

    public var scalesByAveraging: Bool { true }

    public func coverage(of info: ImageInfo, at native: PixelSize) -> (width: Double, height: Double) {
        (Double(native.width), Double(native.height))
    }
}

/// An image embedded in another file.
public struct EmbeddedImage: Hashable, Sendable {
    /// The facts in the embedded image's header.
    public let info: ImageInfo
    /// The maximum number of bytes that it takes until the decode of the enclosing file ends.
    public let workingBytes: Int

    /// Creates the description of an embedded image, whose decode takes at most `workingBytes`.
    public init(info: ImageInfo, workingBytes: Int) {
        self.info = info
        self.workingBytes = workingBytes
    }
}

/// A decoder that can deliver the rows of some files one after the other, so that the registry scales or crops them as
/// they arrive and the whole image is never in memory.
public protocol RowImageDecoder: ImageDecoder {
    /// Returns whether the rows of this file are delivered in order, from top to bottom. Costs reading the header.
    func deliversRows(of data: Data, info: ImageInfo) -> Bool

    /// Decodes like `decode`, but row by row: `plan.nativeSize` in stored orientation, from the top.
    ///
    /// Rows need not be put any more once the sink `isFull`; a file that is truncated after them is damaged all the
    /// same.
    ///
    /// - Throws: the errors of `decode`.
    func decodeRows(of data: Data, plan: DecodePlan, into sink: RowSink, context: WorkContext) throws
}

/// A decoder that can deliver more than 8 bits a channel of some files.
public protocol DeepImageDecoder: ImageDecoder {
    /// Returns the kind of pixels that `decodeDeep` makes of this file; nil if it has no more than 8 bits a channel, or is of a kind of
    /// which only 8 are delivered. Costs reading the header, the profile included.
    ///
    /// - Parameter format: the format that they are converted to afterwards.
    func deepPixels(of data: Data, info: ImageInfo, for format: DeepBitmap.Format) -> DeepPixels?

    /// Decodes the image, or the first frame of an animation, to `plan.nativeSize` pixels in stored orientation: RGBA of 16 bits a
    /// channel in the machine's order, rows from the top without padding, 8 bytes a pixel.
    ///
    /// Alpha has no effect if `plan.info.hasAlpha` is false. The colours are those that `deepPixels` describes, whatever
    /// `plan.convertsColor` is.
    ///
    /// - Parameter words: memory for all pixels, every byte of which is to be written.
    /// - Throws: the errors of `decode`.
    func decodeDeep(
        _ data: Data, plan: DecodePlan, format: DeepBitmap.Format, into words: UnsafeMutableRawBufferPointer,
        context: WorkContext
    ) throws
}

/// The kind of pixels that a `DeepImageDecoder` makes.
public struct DeepPixels: Sendable {
    /// The type of a channel. Integers are scaled to all of 16 bits.
    public var channels: DeepBitmap.Channels
    /// The colours of the pixels; nil for sRGB. A grey profile is for pixels whose three colours are equal.
    public var profile: ColorProfile?
    /// Whether colours are multiplied by their alpha. False by default.
    public var isMultiplied: Bool

    /// Creates a description; by default of straight integers in sRGB.
    public init(channels: DeepBitmap.Channels = .uint16, profile: ColorProfile? = nil, isMultiplied: Bool = false) {
        (self.channels, self.profile, self.isMultiplied) = (channels, profile, isMultiplied)
    }

    /// Returns the type in which a file of floating-point numbers is decoded for a format: integers, which are finer, unless the
    /// format holds what is brighter than white.
    package static func channelsOfFloats(for format: DeepBitmap.Format) -> DeepBitmap.Channels {
        format.colorSpace.isBright ? .float16 : format.channels
    }
}
