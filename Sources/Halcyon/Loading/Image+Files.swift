import Foundation

extension Image {
    /// Reads and decodes a file on the calling thread. Its `scale` is that of its name: 2 for `photo@2x.png`.
    ///
    /// - Parameter maximumBytes: the longest file that is read. 200,000,000 by default.
    /// - Throws: `ImagePipelineError.invalidRequest` for what is no file, `.badSource` for a file that cannot be read,
    ///   `CodecError`, `BitmapError`.
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

    /// Encodes the image and writes it as a whole: whoever reads the file sees the old one or the new one.
    ///
    /// - Parameter format: nil, the default, is that of the file's extension, else what `data(as:)` would take.
    /// - Throws: `CodecError`, `BitmapError`, and Foundation's error where the file cannot be written.
    public func write(
        to url: URL, as format: ImageFormat? = nil, options: EncodeOptions = EncodeOptions(),
        coders: CoderRegistry = .shared
    ) throws {
        let format = format ?? ImageFormat(name: url.pathExtension)
        try data(as: format, options: options, coders: coders).write(to: url, options: .atomic)
    }
}
