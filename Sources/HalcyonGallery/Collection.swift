import DemoServer
import Foundation
import Halcyon

/// The pictures on show, and the server that serves them.
struct Collection: Sendable {
    let pictures: [Picture]
    private let server: GalleryServer

    private struct Listed: Decodable {
        let file: String
        let title: String
    }

    /// - Parameters:
    ///   - folder: The folder of the pictures, with a `gallery.json`.
    ///   - generated: The folder for pictures in further formats, which are made once.
    ///   - count: The number of pictures. Files repeat as often as needed, under another URL each time.
    ///   - latency: The longest delay of a response.
    ///   - own: A file that comes before all others.
    static func open(
        _ folder: URL, generated: URL, count: Int, latency: Duration, own: URL? = nil
    ) async throws -> Collection {
        var listed = try JSONDecoder().decode(
            [Listed].self, from: Data(contentsOf: folder.appending(path: "gallery.json")))
        listed += try FurtherFormats.make(of: folder, in: generated).map { Listed(file: $0.file, title: $0.title) }
        let server = try await GalleryServer.start(folders: [folder, generated]) { path in
            // The same delay for a picture each time, but different ones among the pictures.
            latency * Double(path.utf8.reduce(7) { ($0 &* 31 &+ Int($1)) & 0xFF }) / 255
        }
        let hashes = await hashes(of: listed.map(\.file), in: [folder, generated])
        let pictures = (0..<count).map { index in
            let (file, title) = (listed[index % listed.count].file, listed[index % listed.count].title)
            return Picture(
                title: title, url: server.base.appending(path: "\(index / listed.count)/\(file)"), hash: hashes[file])
        }
        let first = own.map { Picture(title: $0.lastPathComponent, url: $0, hash: nil) }
        return Collection(pictures: (first.map { [$0] } ?? []) + pictures, server: server)
    }

    func close() async { await server.stop() }

    /// Computes the BlurHash of each file that is an image.
    private static func hashes(of files: [String], in folders: [URL]) async -> [String: String] {
        await withTaskGroup(of: (String, String?).self) { group in
            for file in files {
                group.addTask {
                    let found = folders.map { $0.appending(path: file) }.first {
                        FileManager.default.fileExists(atPath: $0.path(percentEncoded: false))
                    }
                    var options = DecodeOptions()
                    options.target = TargetSize(PixelSize(32, 32))
                    options.firstFrameOnly = true
                    let request = ImageRequest(found, decode: options)
                    guard let image = try? await ImagePipeline.shared.image(for: request) else { return (file, nil) }
                    return (file, try? BlurHash(encoding: image).text)
                }
            }
            return await group.reduce(into: [:]) { $0[$1.0] = $1.1 }
        }
    }
}

/// A picture of the gallery.
struct Picture: Sendable {
    let title: String
    let url: URL
    /// The BlurHash of the file, which is shown until the picture is loaded.
    let hash: String?

    var format: String { url.pathExtension.uppercased() }
}
