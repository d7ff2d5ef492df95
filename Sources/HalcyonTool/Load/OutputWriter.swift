import ArgumentParser
import Foundation
import Halcyon
import HalcyonCodecs
import HalcyonProcessing
import HalcyonSystem

/// Writes loaded images to the destination of `-o`.
struct OutputWriter: Sendable {
    let destination: OutputDestination
    let format: ImageFormat?
    /// The options of the encoder; nil for those of each format.
    let options: EncodeOptions?
    /// Whether an image that nothing changes is encoded anew instead of copied.
    let reencodes: Bool
    let coders: CoderRegistry

    /// Whether an output keeps the gain map of its source, which is decoded for it then: a JPEG does, if the processors do.
    ///
    /// - Parameter pathExtension: That of the output's name; nil if the format is the source's.
    func keepsGainMap(_ processors: [any ImageProcessor], pathExtension: String?) -> Bool {
        let isJPEG = format.map { $0 == .jpeg } ?? pathExtension.map(ImageFormat.jpeg.isNamed) ?? true
        return (options?.keepsGainMap ?? true) && isJPEG && processors.keepGainMap
    }

    /// Writes the image of a response.
    ///
    /// - Parameter isUntouched: Whether the request has no processors.
    /// - Returns: The path of the written file, `-` for standard output, nil without a destination.
    func write(
        _ response: ImageResponse, isUntouched: Bool, index: Int, source: SourceList.Entry
    ) async throws -> String? {
        let isUntouched = isUntouched && keepsBytes(of: response)
        switch destination {
        case .none: return nil
        case .standardOutput:
            let (found, _) = try await encoded(response, isUntouched, as: format)
            try Output.writeImage(found.data)
            return "-"
        case .file(let path):
            let pathExtension = URL(filePath: path).pathExtension
            let found = try await found(response, isUntouched: isUntouched, pathExtension: pathExtension)
            try save(found.data, to: path)
            return path
        case .folder(let folder):
            let (found, written) = try await encoded(response, isUntouched, as: format)
            let name = "\(index + 1)-\(Self.stem(of: source)).\(written.fileExtension)"
            let path = URL(filePath: folder).appending(path: name).path(percentEncoded: false)
            try save(found.data, to: path)
            return path
        }
    }

    /// Returns the bytes of a file whose name has this extension, which may be empty.
    ///
    /// - Parameter isUntouched: Whether the request has no processors.
    /// - Throws: `CodecError.unsupportedExtension` if no encoder writes it, unless the source's own bytes are copied.
    func found(
        _ response: ImageResponse, isUntouched: Bool, pathExtension: String
    ) async throws -> FoundEncoding {
        let isUntouched = isUntouched && keepsBytes(of: response)
        let format = try format ?? format(for: pathExtension, of: response.image, isUntouched: isUntouched)
        return try await encoded(response, isUntouched, as: format).0
    }

    /// Whether nothing but processors changes the image.
    private func keepsBytes(of response: ImageResponse) -> Bool {
        response.image.size == response.image.info.size && options == nil && !reencodes
    }

    /// Returns the format that a file's extension asks for, since one that contradicts the bytes would mislead other programs;
    /// nil for a name without an extension.
    private func format(for pathExtension: String, of image: Image, isUntouched: Bool) throws -> ImageFormat? {
        let own = image.info.format
        return isUntouched && own.isNamed(pathExtension) ? own : try coders.formatToWrite(pathExtension: pathExtension)
    }

    /// Returns the source's own bytes if nothing was changed, so that nothing is lost; otherwise the encoded image.
    private func encoded(
        _ response: ImageResponse, _ isUntouched: Bool, as wanted: ImageFormat?
    ) async throws -> (FoundEncoding, ImageFormat) {
        let image = response.image
        let own = image.info.format
        if isUntouched, wanted == nil || wanted == own {
            // After a memory hit the bytes may no longer be stored anywhere.
            if let data = try? await response.data() { return (FoundEncoding(data: data), own) }
        }
        let format = wanted ?? coders.defaultFormat(for: image)
        let options = options ?? EncodeOptions()
        let found = try await ThreadPools.cpu.run { [coders, options] context in
            try coders.found(image, as: format, options: options, context: context)
        }
        return (found, format)
    }

    private func save(_ data: Data, to path: String) throws {
        let url = URL(filePath: path)
        do {
            try FileManager.default.createDirectory(
                at: url.deletingLastPathComponent(), withIntermediateDirectories: true)
            try data.write(to: url, options: .atomic)
        } catch {
            throw FailureReport(code: "processing", message: "\(path) cannot be written: \(error.localizedDescription)")
        }
    }

    /// Returns the last path component without its extension, made safe for a file name.
    private static func stem(of entry: SourceList.Entry) -> String {
        let last: String
        switch entry.source {
        case .remote(let url), .file(let url): last = url.deletingPathExtension().lastPathComponent
        default: last = "image"
        }
        var safe = ""
        // Split by scalar, since a character may contain a slash, and limited by bytes, as file systems count them.
        for scalar in last.unicodeScalars {
            let isControl = scalar.value < 0x20 || scalar.value == 0x7F
            let text = isControl || scalar == "/" ? "_" : String(scalar)
            if safe.utf8.count + text.utf8.count > 150 { break }
            safe += text
        }
        return safe.isEmpty ? "image" : safe
    }
}

/// The destination that `-o` names.
enum OutputDestination: Sendable {
    case none
    case standardOutput
    case file(String)
    case folder(String)

    /// Parses the argument: a folder if the path is one, ends in a slash, or there are several sources; otherwise a file.
    ///
    /// - Throws: `ValidationError` if the argument is empty, or does not suit several sources.
    init(_ argument: String?, sourceCount: Int) throws {
        guard let argument else {
            self = .none
            return
        }
        if argument == "-" {
            guard sourceCount == 1 else { throw ValidationError("-o - takes one source.") }
            self = .standardOutput
            return
        }
        guard !argument.isEmpty else { throw ValidationError("-o is empty.") }
        var isFolder: ObjCBool = false
        let exists = FileManager.default.fileExists(atPath: argument, isDirectory: &isFolder)
        if exists, !isFolder.boolValue, sourceCount > 1 {
            throw ValidationError("-o \(argument) is a file; several sources need a folder.")
        }
        self = argument.hasSuffix("/") || isFolder.boolValue || sourceCount > 1 ? .folder(argument) : .file(argument)
    }

    var isStandardOutput: Bool {
        if case .standardOutput = self { true } else { false }
    }
}
