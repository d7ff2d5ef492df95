import Foundation
import HalcyonImage
import HalcyonSystem

/// A coder for GIF, including animations. giflib writes; the reader is Halcyon's own, since giflib's refuses files
/// that browsers show.
///
/// Areas that no frame covers are transparent, as in browsers, whatever background colour the file names.
package struct GIFCoder: ImageDecoder {
    package init() {}

    package var formats: [ImageFormat] { [.gif] }

    package func canDecode(_ data: Data) -> Bool { FormatSniffer.hasSignature(data, of: .gif) }

    /// Reads the length of every block, because only the blocks reveal the number of frames.
    package func probe(_ data: Data) throws -> ImageInfo { try data.read { try GIFHeader($0).info } }

    package func metadataByteCount(_ data: Data) -> Int {
        data.read { try? GIFHeader($0).metadataByteCount } ?? 0
    }

    package func codedExtent(of data: Data, info: ImageInfo) -> CodedExtent {
        data.read { try? GIFHeader($0).extent } ?? CodedExtent(info)
    }

    /// The memory of two canvases beside that of the first frame for an animation, and of rows and tables.
    package func workingBytes(of data: Data, info: ImageInfo, nativeSize: PixelSize) -> Int {
        nativeSize.bitmapBytes * (info.isAnimated ? 2 : 0) + nativeSize.bitmapBytes / 4
    }

    /// Decodes up to the end of the first frame. A file whose later frames are truncated therefore still decodes:
    /// the requested image is complete.
    package func decode(_ data: Data, plan: DecodePlan, context: WorkContext) throws -> Bitmap {
        try Self.decode(data, plan: plan, allowsMissing: false, context: context)
    }

    private static func decode(
        _ data: Data, plan: DecodePlan, allowsMissing: Bool, context: WorkContext
    ) throws -> Bitmap {
        try data.read { reader in
            guard let first = try GIFHeader(reader).frames.first else { throw GIFFrame.cutOff }
            return try GIFFrame(first, in: reader)
                .draw(on: plan.nativeSize, allowsMissing: allowsMissing, context: context)
        }
    }
}

extension GIFCoder: IncompleteImageDecoder {
    package func decodeIncomplete(_ data: Data, plan: DecodePlan, context: WorkContext) throws -> Bitmap {
        try Self.decode(data, plan: plan, allowsMissing: true, context: context)
    }

    package func lacksFrames(_ data: Data, info: ImageInfo) -> Bool {
        data.read { reader in
            guard let header = try? GIFHeader(reader), let frames = try? GIFHeader.wholeFrames(reader) else {
                return true
            }
            return header.endsInExtension || frames.count < info.frameCount
        }
    }
}

extension GIFCoder: ProgressiveImageDecoder {
    /// Creates a progressive decode, which shows the first frame once it is complete and grows with the frames
    /// after it.
    package func makeProgressive(options: DecodeOptions, budget: DecodeBudget) -> any ProgressiveDecoding {
        ArrivingFile(self, options: options, budget: budget)
    }
}
