import Foundation
import HalcyonCache
import HalcyonCodecs
import HalcyonNetwork
import HalcyonSystem
import Logging

extension ImagePipeline {
    /// The configuration of a pipeline, which does not change once the pipeline is made.
    public struct Configuration: Sendable {
        /// The cache. By default the memory level has a quarter of the memory that the system grants, at most 1 GiB;
        /// the disk level is in `$XDG_CACHE_HOME/<program>`, and has the smaller of 1 GiB and a tenth of the free disk,
        /// for 7 days.
        public var cache: ImageCache {
            didSet { movePartialBodies() }
        }
        /// Another cache for the sources' bytes; nil, the default, keeps them in `cache`.
        public var originalCache: ImageCache? {
            didSet { movePartialBodies() }
        }
        /// A change to each request, after the `defaults` and before anything else; none by default. It runs on the
        /// caller's thread, also for images that are in memory.
        public var requestModifier: @Sendable (ImageRequest) -> ImageRequest {
            get { modifier ?? { $0 } }
            set { modifier = newValue }
        }
        /// The modifier that was set; nil if there is none to call.
        private(set) var modifier: (@Sendable (ImageRequest) -> ImageRequest)?
        /// The providers of images for URLs that the downloader does not support or should not request; none by
        /// default.
        ///
        ///     configuration.providers.append { url in url.scheme == "book" ? CoverOfBook(url) : nil }
        ///
        /// They are called for each URL, including those of files and of any scheme, after the `requestModifier`, on
        /// the caller's thread, also for images that are in memory. The last one is called first, and the first that
        /// returns a provider determines the image, whose key is then the provider's. If none returns one, the URL is
        /// loaded as if there were no providers.
        public var providers: [@Sendable (URL) -> (any ImageDataProvider)?] = []
        /// The interceptors of all loads of images, the outermost first; none by default.
        public var interceptors: [any ImageInterceptor] = []
        /// The options that requests have unless they set them; none by default.
        public var defaults = RequestDefaults()
        /// The downloader; by default one with the default configuration, whose `Accept` field lists the formats that
        /// `coders` decode, and which keeps partial bodies in the folder of the disk cache. `changeDownloader` changes a part.
        public var downloader: ImageDownloader
        /// The store for partial bodies that this configuration made; nil if the program gave a downloader of its own.
        private var ownPartialBodies: PartialBodyFiles?
        private let resumesDownloads: Bool
        /// The coders of the formats that can be decoded and encoded.
        public var coders: CoderRegistry {
            didSet { updateAccept(former: oldValue) }
        }
        /// The place where files are decoded, unless a request or the `defaults` name another one in their decode options: this
        /// process by default.
        ///
        ///     configuration.isolation = .isolated()
        public var isolation = DecodeIsolation.inProcess
        /// The threads for decoding, processing and encoding; by default those that all pipelines share. The frames of a
        /// playing animation are decoded on those of its `FramePool`, and the hooks of a downloader and the members of an
        /// `ImageCache` use the shared ones, since they may serve several pipelines.
        public var processingThreads = ProcessingThreads.shared
        /// The maximum length of a body or a file in bytes, 200 MB by default; a request may set another.
        public var maximumBytes: Int
        /// The pace and the look of previews; by default every 150 ms, without a blur.
        public var previews = PreviewOptions()
        /// The clock for the freshness of cached images, for remembered failures and for the pace of previews. The
        /// system's by default.
        public var clock: TimeSource
        /// The rules by which failures end a load for a while without asking the server. By default those that a new
        /// attempt would only repeat: 404 and 410 for as long as HTTP says, otherwise 60 s; bodies that are not an image
        /// and servers that cannot be trusted for 60 s. The last thousand are kept, in memory. `.none` turns this off.
        public var rememberedFailures = RememberedFailures()
        /// The logger for loads, at `debug`, and failures, at `notice` and `warning`; the messages never contain a
        /// query or a credential. None by default.
        public var logger: Logger?
        /// The program's receiver of the events of each load, from its request on, such as a tracer's. None by default.
        public var tracer: (any LoadTracer)?

        /// Creates a configuration.
        ///
        /// - Parameter resumesDownloads: whether the received part of an interrupted body is kept in the disk cache's
        ///   folder, for a day at most, and the download resumed from it. It applies to the downloader made here; one
        ///   that is given has its own `partialBodies`.
        public init(
            cache: ImageCache = ImageCache(disk: DiskCache(folder: Self.defaultCacheFolder)),
            originalCache: ImageCache? = nil,
            downloader: ImageDownloader? = nil, coders: CoderRegistry = .shared,
            maximumBytes: Int = 200_000_000, clock: TimeSource = .system, resumesDownloads: Bool = true
        ) {
            self.cache = cache
            self.originalCache = originalCache
            self.resumesDownloads = resumesDownloads
            if let downloader {
                self.downloader = downloader
            } else {
                let files = Self.partialBodies(of: originalCache ?? cache, keeps: resumesDownloads, clock: clock)
                self.downloader = Self.defaultDownloader(for: coders, partialBodies: files)
                ownPartialBodies = files
            }
            self.coders = coders
            self.maximumBytes = maximumBytes
            self.clock = clock
        }

        /// Replaces the downloader by one whose configuration differs in a part. All else stays: the `Accept` field and the other
        /// default fields, the store for partial bodies, the hooks and the transport.
        ///
        ///     configuration.changeDownloader { $0.retry.maximumRetries = 5 }
        public mutating func changeDownloader(
            _ change: (inout ImageDownloader.Configuration) throws -> Void
        ) rethrows {
            var changed = downloader.configuration
            changed.headers = downloader.defaultHeaders
            try change(&changed)
            downloader = ImageDownloader(changed)
        }

        /// Lets the partial bodies follow the cache, unless the program has chosen their place.
        private mutating func movePartialBodies() {
            guard let former = ownPartialBodies, isStillUsed(former) else { return }
            let files = Self.partialBodies(of: originalCache ?? cache, keeps: resumesDownloads, clock: clock)
            changeDownloader { $0.partialBodies = files }
            ownPartialBodies = files
        }

        private func isStillUsed(_ files: PartialBodyFiles) -> Bool {
            (downloader.configuration.partialBodies as? PartialBodyFiles) === files
        }

        /// Lets the `Accept` field follow the coders, unless the program has chosen another one.
        private mutating func updateAccept(former: CoderRegistry) {
            guard downloader.defaultHeaders["Accept"] == Self.accept(of: former) else { return }
            let accept = Self.accept(of: coders)
            changeDownloader { $0.headers["Accept"] = accept }
        }

        private static func accept(of coders: CoderRegistry) -> String {
            (coders.decodableFormats.map(\.mimeType) + ["image/*;q=0.8", "*/*;q=0.5"]).joined(separator: ",")
        }

        /// Returns a downloader with the default configuration, whose requests declare the formats that `coders` decode
        /// and the application: `User-Agent: <application>/<version> Halcyon/<version>`.
        ///
        /// - Parameters:
        ///   - application: the name of the application; nil takes the running program's name.
        ///   - version: the version of the application; nil sends none.
        ///   - partialBodies: the store for bodies of more than 1 MiB; nil keeps them in memory.
        public static func defaultDownloader(
            for coders: CoderRegistry = .shared, application: String? = nil, version: String? = nil,
            partialBodies: (any PartialBodyStore)? = nil
        ) -> ImageDownloader {
            let headers = ImageDownloader.Configuration.defaultHeaders(
                application: application, version: version, accept: accept(of: coders))
            var configuration = ImageDownloader.Configuration(headers: headers)
            configuration.partialBodies = partialBodies
            return ImageDownloader(configuration)
        }

        /// Returns the store for partial bodies: in the disk cache's folder, or in unnamed files in the system's folder
        /// for temporary files if the cache has no disk.
        private static func partialBodies(of cache: ImageCache, keeps: Bool, clock: TimeSource) -> PartialBodyFiles {
            cache.disk.map { PartialBodyFiles(in: $0, keeps: keeps, clock: clock) } ?? .temporary()
        }

        /// The folder `$XDG_CACHE_HOME/<program>`, or `~/.cache/<program>` if the variable is not set.
        public static var defaultCacheFolder: URL {
            DiskCache.defaultFolder(for: ProcessInfo.processInfo.processName)
        }
    }
}
