import Foundation
import HalcyonSystem

extension Image {
    /// Reads and decodes a file on the calling thread. Takes `scale` from the file's name: 2 for `photo@2x.png`.
    ///
    /// - Parameter maximumBytes: the length in bytes of the longest file that is read. 200,000,000 by default.
    /// - Throws: `ImagePipelineError.invalidRequest` for a URL that is not a file URL, `.badSource` for a file that cannot be
    ///   read, `CodecError`, `BitmapError`.
    public init(
        contentsOf url: URL, options: DecodeOptions = DecodeOptions(), coders: CoderRegistry = .shared,
        maximumBytes: Int = 200_000_000
    ) throws {
        guard url.isFileURL else {
            throw ImagePipelineError.invalidRequest(
                source: ImageSource(url).description, reason: "it is not the URL of a file")
        }
        let path = url.path(percentEncoded: false)
        do {
            let data = try FileSource.read(path, maximumBytes: maximumBytes).data
            try self.init(data: data, options: options, coders: coders)
        } catch let failure as FileSource.Failure {
            throw ImagePipelineError.badSource(source: path, reason: failure.description)
        }
        scale = ImageScale.named(in: path)
    }

    /// Encodes the image with a quality and writes the file atomically, as `write(to:as:options:coders:)` does.
    ///
    /// - Parameter quality: the quality of lossy formats, from 0 to 1.
    public func write(
        to url: URL, as format: ImageFormat? = nil, quality: Double, coders: CoderRegistry = .shared
    ) throws {
        try write(to: url, as: format, options: EncodeOptions(quality: quality), coders: coders)
    }

    /// Encodes the image and writes the file atomically: readers see either the old file or the new one.
    ///
    /// Nothing is written if that fails.
    ///
    /// - Parameter format: nil, the default, is the format of the file's extension among those that the coders write, as
    ///   `CoderRegistry.encodableFormat(named:)` finds it; for a name without an extension, the one that `data(as:)` would choose.
    /// - Throws: `CodecError`, `.unsupportedExtension` if no coder writes the format of the extension; `BitmapError`, and
    ///   Foundation's error if the file cannot be written.
    public func write(
        to url: URL, as format: ImageFormat? = nil, options: EncodeOptions = EncodeOptions(),
        coders: CoderRegistry = .shared
    ) throws {
        let format = try format ?? coders.formatToWrite(pathExtension: url.pathExtension)
        try data(as: format, options: options, coders: coders).write(to: url, options: .atomic)
    }
}

/// The scale in a file's name, as on Apple's platforms: `photo@2x.png`, also percent-encoded.
enum ImageScale {
    /// Returns 2 or 3 if the name says so, otherwise 1.
    static func named(in key: String) -> Double {
        key.withBytes { bytes in
            // The shortest such name is "a@2x.png".
            guard bytes.count >= 8, bytes.contains(byte: UInt8(ascii: "@")) || bytes.contains(byte: UInt8(ascii: "%"))
            else { return 1 }
            for index in 0..<bytes.count - 3 {
                if bytes[index] == UInt8(ascii: "@"), let scale = scale(bytes, at: index + 1) { return scale }
                if bytes[index] == UInt8(ascii: "%"), bytes[index + 1] == UInt8(ascii: "4"),
                    bytes[index + 2] == UInt8(ascii: "0"), let scale = scale(bytes, at: index + 3)
                {
                    return scale
                }
            }
            return 1
        }
    }

    private static func scale(_ bytes: UnsafeBufferPointer<UInt8>, at index: Int) -> Double? {
        guard index + 2 < bytes.count, bytes[index + 1] == UInt8(ascii: "x"), bytes[index + 2] == UInt8(ascii: ".")
        else { return nil }
        switch bytes[index] {
        case UInt8(ascii: "2"): return 2
        case UInt8(ascii: "3"): return 3
        default: return nil
        }
    }
}
