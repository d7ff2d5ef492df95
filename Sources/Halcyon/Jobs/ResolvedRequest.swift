import HalcyonImage
import HalcyonProcessing

/// A request with its key, which is computed once, on the thread of who asks: a file's needs a look at the file, and the
/// coordinator never waits for a disk.
struct ResolvedRequest: Sendable {
    var request: ImageRequest
    let key: ImageKey

    init(_ request: ImageRequest) {
        self.request = request
        key = ImageKey(request)
    }

    var source: ImageSource { request.source }
    var cache: CachePolicy { request.cache }

    /// Whether the disk keeps anything of it: what is local already is not copied.
    var isRemote: Bool {
        if case .remote = request.source { true } else { false }
    }

    /// Whether a finished image differs from its source's, so that it is worth a place of its own on disk.
    var isProcessed: Bool {
        !key.processors.isEmpty || key.decode.target != nil || key.decode.maximumBytes != nil
    }
}
