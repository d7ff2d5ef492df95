import HalcyonImage
import HalcyonProcessing

/// A request with its key, which is computed once, on the thread of who asks: a file's needs a look at the file, and the
/// coordinator never waits for a disk.
struct ResolvedRequest: Sendable {
    var request: ImageRequest
    let key: ImageKey
    private let defaultScale: Double

    init(_ request: ImageRequest) {
        self.request = request
        key = ImageKey(request)
        defaultScale = request.source.namedScale
    }

    var source: ImageSource { request.source }
    var cache: CachePolicy { request.cache }

    /// Whether the disk keeps anything of it: what is local already is not copied.
    var isRemote: Bool {
        if case .remote = request.source { true } else { false }
    }

    /// An image as this request gives it: the cached one may be another request's, with another scale.
    func scaled(_ image: Image) -> Image {
        var image = image
        image.scale = request.scale ?? defaultScale
        return image
    }

    /// Whether a finished image differs from its source's, so that it is worth a place of its own on disk.
    var isProcessed: Bool {
        // A registry has no name that would outlive the process.
        guard key.coders == nil else { return false }
        return !key.processors.isEmpty || key.decode.changesSize
    }
}
