import Foundation
import HalcyonImage

/// A decoder of one format whose files are containers of items, which are read here, in Swift.
package protocol ISOImageDecoder: SizeFirstImageDecoder, ThumbnailImageDecoder {
    var isoFormat: ImageFormat { get }
}

extension ISOImageDecoder {
    package var formats: [ImageFormat] { [isoFormat] }

    package func canDecode(_ data: Data) -> Bool { FormatSniffer.hasSignature(data, of: isoFormat) }

    package func embeddedThumbnail(in data: Data) -> Data? { ISOThumbnail.file(in: data, format: isoFormat) }

    package func awaitsThumbnail(in data: Data) -> Bool { ISOThumbnail.isArriving(in: data, format: isoFormat) }

    /// The size of the primary item, once all items are declared. A sequence has that of its track instead.
    package func declaredSize(inBeginning data: Data) throws(CodecError) -> PixelSize? {
        let size = data.read { file in
            Result { () throws(CodecError) -> PixelSize? in
                try ISOImageHeader(file).check()
                let areDeclared = ISOBox.ofFile(file).contains { $0.isNamed("meta") && !$0.isCut }
                guard areDeclared, !file.matches("avis", at: 8) else { return nil }
                return (try? ISOItems(file, format: isoFormat))?.primarySize
            }
        }
        return try size.get()
    }

    package func metadataByteCount(_ data: Data) -> Int { data.read { ISOImageHeader($0).profileByteCount } }

    package func codedExtent(of data: Data, info: ImageInfo) -> CodedExtent {
        data.read { try? ISOItems($0, format: isoFormat).extent(of: info) } ?? CodedExtent(info)
    }
}
