import Foundation
import Halcyon
import HalcyonCache
import HalcyonCodecs
import HalcyonNetwork
import HalcyonTesting

/// The parsers of untrusted bytes other than images: from servers, from other writers of the cache folder, from
/// programs.
enum OtherTarget: String, FuzzTarget {
    case http, body, disk, records, icc, exif, blurhash, pixbuf, worker

    func run(_ data: Data) {
        switch self {
        case .http: readFields(data)
        case .body: Server.shared.answer(data)
        case .disk: Folder.shared.read(data)
        case .records: readRecords(data)
        case .icc: convert(data)
        case .exif: readExif(data)
        case .blurhash: draw(data)
        case .pixbuf: LoaderHeaders.read(data)
        case .worker: WorkerMessages.read(data)
        }
    }

    /// Parses a response head: a name, a colon and a value in each line.
    private func readFields(_ data: Data) {
        let lines = String(decoding: data, as: UTF8.self).split(separator: "\n", maxSplits: 100)
        let fields = lines.map { line -> HTTPHeaders.Field in
            let parts = line.split(separator: ":", maxSplits: 1, omittingEmptySubsequences: false)
            return HTTPHeaders.Field(name: String(parts[0]), value: parts.count > 1 ? String(parts[1]) : "")
        }
        guard let url = URL(string: "http://images.test/a") else { return }
        let head = HTTPResponseHead(url: url, status: 200, headers: HTTPHeaders(fields))
        _ = (head.contentCodings, head.contentLength)
        let now = Date(timeIntervalSince1970: 1_700_000_000)
        let metadata = HTTPCacheMetadata(head, requestHeaders: head.headers, now: now)
        _ = (metadata.state(at: now), metadata.age(at: now), metadata.isConfirmed(by: head))
        precondition(metadata.matches(requestHeaders: head.headers) || metadata.variesOnEverything)
        let merged = metadata.merging(notModified: head, requestHeaders: head.headers, now: now)
        _ = (merged.conditionalHeaders, merged.freshUntil)
    }

    /// Parses the records that are stored beside partial bodies and entries.
    private func readRecords(_ data: Data) {
        _ = try? JSONDecoder().decode(PartialBodyRecord.self, from: data)
        guard let metadata = try? JSONDecoder().decode(HTTPCacheMetadata.self, from: data) else { return }
        _ = metadata.state(at: Date(timeIntervalSince1970: 1_700_000_000))
    }

    private func convert(_ data: Data) {
        guard
            let bitmap = try? Bitmap(size: PixelSize(3, 1), isOpaque: true, pixels: [UInt8](repeating: 255, count: 12))
        else { return }
        var image = Image(bitmap: bitmap, info: ImageInfo(format: .bitmap, size: bitmap.size))
        image.colorProfile = data
        // A profile that is kept is not applied, so this one is converted.
        _ = try? CoderRegistry.shared.encode(image, as: .png, options: EncodeOptions(keepsColorProfile: false))
        _ = try? CoderRegistry.shared.decode(Self.inks(data))
    }

    /// Returns a TIFF of one pixel of four inks, with a profile.
    private static func inks(_ profile: Data) -> Data {
        func little(_ value: Int) -> Data { withUnsafeBytes(of: UInt32(value).littleEndian) { Data($0) } }
        // Each field: the tag, the type (1 is bytes, 3 is 16 bits, 4 is 32, 7 is undefined), the count, and the
        // value.
        let fields: [(Int, Int, Int, Int)] = [
            (256, 3, 1, 1), (257, 3, 1, 1), (258, 1, 4, 0x0808_0808), (259, 3, 1, 1), (262, 3, 1, 5), (273, 4, 1, 8),
            (277, 3, 1, 4), (278, 3, 1, 1), (279, 4, 1, 4), (34_675, 7, profile.count, 138),
        ]
        var file = Data("II".utf8) + [42, 0] + little(12) + [9, 99, 199, 29] + little(fields.count).prefix(2)
        for (tag, type, count, value) in fields {
            file += little(tag | type << 16) + little(count) + little(value)
        }
        return file + little(0) + profile
    }

    /// Decodes the thumbnail of a JPEG whose EXIF is the input, and shows it while the file arrives.
    private func readExif(_ data: Data) {
        let body = Data("Exif\0\0".utf8) + data.prefix(65_000)
        let length = body.count + 2
        let file = Data([0xFF, 0xD8, 0xFF, 0xE1, UInt8(length >> 8), UInt8(length & 255)]) + body
        let whole = file + Data([0xFF, 0xC0, 0, 11, 8, 4, 0, 8, 0, 1, 1, 0x11, 0])
        _ = try? CoderRegistry.shared.probe(whole)
        let options = DecodeOptions(target: TargetSize(PixelSize(9, 5)), usesEmbeddedThumbnail: true)
        if let image = try? CoderRegistry.shared.decode(whole, options: options) {
            precondition(image.width <= 9 && image.height <= 5)
        }
        guard let decoding = CoderRegistry.shared.makeProgressive(for: whole, options: options, showsThumbnail: true),
            (try? decoding.append(whole)) != nil, let preview = try? decoding.preview(context: .uncancellable)
        else { return }
        precondition(preview.width <= 9 && preview.height <= 5)
    }

    private func draw(_ data: Data) {
        guard let hash = try? BlurHash(String(decoding: data, as: UTF8.self)) else { return }
        _ = hash.averageColor
        guard let image = try? hash.image(PixelSize(5, 3), punch: 2) else { fatalError("it cannot be drawn") }
        precondition(image.size == PixelSize(5, 3))
    }
}

/// A disk cache with one entry, whose file each input replaces.
private final class Folder: Sendable {
    static let shared = Folder()

    private let cache: DiskCache
    private let key = CacheKey("key")
    private let file: URL?

    private init() {
        let folder = FileManager.default.temporaryDirectory.appending(path: "halcyon-fuzz-\(UUID().uuidString)")
        cache = DiskCache(folder: folder)
        try? cache.storeSynchronously(Data("payload".utf8), metadata: Data("metadata".utf8), for: key)
        let names = FileManager.default.enumerator(at: folder, includingPropertiesForKeys: [.isRegularFileKey])
        file = names?.compactMap { $0 as? URL }.first {
            (try? $0.resourceValues(forKeys: [.isRegularFileKey]).isRegularFile) ?? false
        }
    }

    func read(_ data: Data) {
        guard let file else { fatalError("the entry has no file") }
        try? data.write(to: file)
        _ = cache.entrySynchronously(for: key)
    }
}

/// A server whose bodies have any content coding, and arrive in pieces of any size.
private final class Server: @unchecked Sendable {
    static let shared = Server()

    private static let codings = ["gzip", "deflate", "gzip, deflate", "deflate, gzip, gzip, deflate"]
    private static let maximumBytes = 1 << 20

    private let done = DispatchSemaphore(value: 0)
    /// The result; written while no other thread accesses it.
    private var result: Result<Data, any Error>?

    /// Answers a request; the first byte selects the codings and the size of the pieces.
    func answer(_ data: Data) {
        guard let first = data.first else { return }
        let (packed, coding) = (data.dropFirst(), Self.codings[Int(first & 3)])
        let whole = download(packed, coding: coding, pieceSize: max(1, packed.count))
        let pieces = download(packed, coding: coding, pieceSize: 1 + Int(first >> 2))
        switch (whole, pieces) {
        case (.success(let whole), .success(let pieces)):
            precondition(whole == pieces)
            precondition(whole.count <= Self.maximumBytes)
        case (.failure(let whole as DownloadError), .failure(let pieces as DownloadError)):
            precondition(whole.code == pieces.code)
        default: fatalError("\(String(describing: whole)) is not \(String(describing: pieces))")
        }
    }

    private func download(_ packed: Data, coding: String, pieceSize: Int) -> Result<Data, any Error>? {
        let starts = stride(from: packed.startIndex, to: packed.endIndex, by: pieceSize)
        let answer = ScriptedTransport.Answer(
            status: 200, headers: ["Content-Encoding": coding, "Content-Type": "image/png"],
            steps: starts.map { .chunk(packed[$0..<min($0 + pieceSize, packed.endIndex)]) })
        var configuration = ImageDownloader.Configuration()
        configuration.transport = ScriptedTransport { _ in answer }
        configuration.retry.maximumRetries = 0
        let downloader = ImageDownloader(configuration)
        Task.detached { [self] in
            do {
                guard let url = URL(string: "http://images.test/a") else { fatalError("it is no URL") }
                let request = DownloadRequest(url: url, maximumBytes: Self.maximumBytes)
                result = .success(try await downloader.download(request).data)
            } catch {
                result = .failure(error)
            }
            done.signal()
        }
        done.wait()
        return result
    }
}
