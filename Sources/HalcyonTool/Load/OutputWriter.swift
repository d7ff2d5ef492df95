import Foundation
import Halcyon

/// Writes loaded images where `-o` says.
struct OutputWriter: Sendable {
    let destination: OutputDestination
    let format: ImageFormat?
    let quality: Int?
    let coders: CoderRegistry

    /// - Returns: the file that was written, `-` for standard output, nil where nothing is asked for.
    /// - Parameter isUntouched: whether the request asked for no change of the pixels.
    func write(
        _ response: ImageResponse, isUntouched: Bool, index: Int, source: SourceList.Entry
    ) async throws -> String? {
        let isUntouched = isUntouched && response.image.size == response.image.info.size && quality == nil
        switch destination {
        case .none: return nil
        case .standardOutput:
            let (data, _) = try await encoded(response, isUntouched, as: format)
            try Output.writeImage(data)
            return "-"
        case .file(let path):
            // A name that says what the bytes are not would be a trap for who opens it.
            let byName = ImageFormat(name: URL(filePath: path).pathExtension)
            let (data, _) = try await encoded(response, isUntouched, as: format ?? byName)
            try save(data, to: path)
            return path
        case .folder(let folder):
            let (data, written) = try await encoded(response, isUntouched, as: format)
            let name = "\(index + 1)-\(Self.stem(of: source)).\(written.fileExtension)"
            let path = URL(filePath: folder).appending(path: name).path(percentEncoded: false)
            try save(data, to: path)
            return path
        }
    }

    /// The source's own bytes where nothing was changed, so that nothing is lost; else the image, encoded.
    private func encoded(
        _ response: ImageResponse, _ isUntouched: Bool, as wanted: ImageFormat?
    ) async throws -> (Data, ImageFormat) {
        let image = response.image
        let own = image.info.format
        if isUntouched, wanted == nil || wanted == own {
            // After a memory hit they may be kept nowhere any more.
            if let data = try? await response.data() { return (data, own) }
        }
        let format = wanted ?? coders.defaultFormat(for: image)
        guard coders.canEncode(format) else {
            throw FailureReport(code: "unsupportedFormat", message: "this build cannot encode \(format)")
        }
        var options = EncodeOptions()
        if let quality { options.quality = Double(quality) / 100 }
        let data = try await ExecutionDomains.cpu.run { [coders, options] context in
            try coders.encode(image, as: format, options: options, context: context)
        }
        return (data, format)
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

    /// The last path component without its extension, made safe for a file name.
    private static func stem(of entry: SourceList.Entry) -> String {
        let last: String
        switch entry.source {
        case .remote(let url), .file(let url): last = url.deletingPathExtension().lastPathComponent
        default: last = "image"
        }
        var safe = ""
        // By scalar, since a slash may hide in a character, and by byte, since that is what file systems count.
        for scalar in last.unicodeScalars {
            let isControl = scalar.value < 0x20 || scalar.value == 0x7F
            let text = isControl || scalar == "/" ? "_" : String(scalar)
            if safe.utf8.count + text.utf8.count > 150 { break }
            safe += text
        }
        return safe.isEmpty ? "image" : safe
    }
}
