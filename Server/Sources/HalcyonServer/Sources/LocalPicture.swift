import Foundation
import Halcyon
import ImageURLs

/// A picture of the server's own, which its settings name.
struct LocalPicture: Sendable {
    private let folder: SourceFolder
    private let name: String

    /// - Parameter key: the setting.
    /// - Throws: `ServerConfigurationError` if there is no such file.
    init(path: String, key: String, maximumBytes: Int) throws {
        let url = URL(filePath: path)
        name = url.lastPathComponent
        guard FileManager.default.isReadableFile(atPath: path) else {
            throw ServerConfigurationError.badValue(key: key, reason: "there is no file \(path)")
        }
        folder = try SourceFolder(
            path: url.deletingLastPathComponent().path(percentEncoded: false), maximumBytes: maximumBytes)
    }

    /// Returns where the picture is, for a job that uses it as its source.
    func address(for job: ImageJob, _ limits: ServerConfiguration.Source) async throws -> Originals.Address {
        let source = try await folder.source(at: name)
        var request = ImageRequest(.provider(source))
        request.decode = JobPlan.decodeOptions(job, limits)
        request.cachePolicy.writes.remove(.memory)
        return Originals.Address(
            request: request, key: "own \(source.cacheKey)", lastModified: source.lastModified)
    }
}
