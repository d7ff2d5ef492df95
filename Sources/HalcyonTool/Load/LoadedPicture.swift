import ArgumentParser
import Foundation
import Halcyon
import HalcyonCodecs

/// One picture of a source, without caches, for the commands that look at pixels.
enum LoadedPicture {
    /// Loads the first frame.
    ///
    /// - Parameter target: The box that it is decoded for; nil keeps its own size.
    /// - Throws: `FailureReport` that begins with the source.
    static func load(_ text: String, target: TargetSize? = nil) async throws -> Image {
        var request = ImageRequest(SourceList.source(text))
        request.cachePolicy = CachePolicy(reads: [], writes: [])
        request.decode.target = target
        request.decode.firstFrameOnly = true
        let pipeline = ImagePipeline.ofTool()
        do {
            return try await pipeline.image(for: request)
        } catch {
            let failure = FailureReport(error)
            throw FailureReport(
                code: failure.code, message: "\(SourceList.withoutUser(text)): \(failure.message)")
        }
    }

    /// Writes a picture in the format of the file's extension; PNG for a name without one.
    ///
    /// - Throws: `FailureReport`, `CodecError`.
    static func save(_ image: Image, to path: String) throws {
        let output = BytePath(argument: path)
        let format = try CoderRegistry.shared.formatToWrite(pathExtension: output.pathExtension) ?? .png
        try AtomicFile.write(try image.data(as: format, options: EncodeOptions()), to: output)
    }

    /// Runs the body of a command, and reports its error in a line.
    ///
    /// - Throws: `ExitCode`.
    static func reporting<Value>(_ body: () async throws -> Value) async throws -> Value {
        do {
            return try await body()
        } catch {
            Output.error("\(FailureReport(error))")
            throw ExitCode(1)
        }
    }
}
