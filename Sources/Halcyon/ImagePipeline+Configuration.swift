import Foundation
import HalcyonCache
import HalcyonCodecs
import HalcyonNetwork
import HalcyonSystem
import Logging

extension ImagePipeline {
    /// What a pipeline is made of. Fixed once the pipeline is.
    public struct Configuration: Sendable {
        /// Memory: a quarter of what the system grants, at most 1 GiB. Disk: `$XDG_CACHE_HOME/<program>`, the smaller of
        /// 1 GiB and a tenth of the free disk, 7 days.
        public var cache: ImageCache
        /// Another cache for the sources' bytes; nil, the default, keeps them in `cache`.
        public var originalCache: ImageCache?
        /// What happens to each request, with the `defaults`, before anything else; nothing by default. It runs on the
        /// caller's thread, also for images that are in memory.
        public var requestModifier: @Sendable (ImageRequest) -> ImageRequest {
            get { modifier ?? { $0 } }
            set { modifier = newValue }
        }
        /// Nil where there is nothing to call.
        private(set) var modifier: (@Sendable (ImageRequest) -> ImageRequest)?
        /// What brings the images of URLs that the downloader does not know, or should not be asked for; none by default.
        ///
        ///     configuration.providers.append { url in url.scheme == "book" ? CoverOfBook(url) : nil }
        ///
        /// Asked for each URL, also of files and of any scheme, after the `requestModifier`, on the caller's thread, also
        /// for images that are in memory. The last one is asked first, and the first that has a provider counts, whose key
        /// is then the image's; where none has, the URL is loaded as if there were none.
        public var providers: [@Sendable (URL) -> (any ImageDataProvider)?] = []
        /// What requests have where they do not say otherwise; nothing by default.
        public var defaults = RequestDefaults()
        /// By default one with the defaults, whose `Accept` names what `coders` decode.
        public var downloader: ImageDownloader
        /// The formats that can be decoded and encoded.
        public var coders: CoderRegistry
        /// The most bytes that a body or a file may have, 200 MB; a request may say otherwise.
        public var maximumBytes: Int
        public var clock: TimeSource
        /// Whether failures that would only come again are remembered for a while, and end a load then without asking:
        /// 404 and 410 for as long as HTTP says, else 60 s; bodies that are no image and servers that cannot be trusted,
        /// 60 s. True by default. The last thousand are kept, in memory.
        public var remembersFailures = true

        /// Where loads are told of, at `debug`, and failures, at `notice` and `warning`; never with a query or a credential.
        /// None by default.
        public var logger: Logger?

        /// - Parameter resumesDownloads: whether what came of a body that broke off is kept in the disk cache's folder, for a
        ///   day at most, and gone on with. It is of the downloader made here; one that is given has its own
        ///   `partialBodies`.
        public init(
            cache: ImageCache = ImageCache(disk: DiskCache(folder: Self.defaultCacheFolder)),
            originalCache: ImageCache? = nil,
            downloader: ImageDownloader? = nil, coders: CoderRegistry = .shared,
            maximumBytes: Int = 200_000_000, clock: TimeSource = .system, resumesDownloads: Bool = true
        ) {
            self.cache = cache
            self.originalCache = originalCache
            self.downloader =
                downloader
                ?? Self.defaultDownloader(
                    for: coders,
                    partialBodies: Self.partialBodies(of: originalCache ?? cache, keeps: resumesDownloads, clock: clock)
                )
            self.coders = coders
            self.maximumBytes = maximumBytes
            self.clock = clock
        }

        /// A downloader with the defaults, which tells servers what `coders` decode and who asks:
        /// `User-Agent: <application>/<version> Halcyon/<version>`.
        ///
        /// - Parameters:
        ///   - application: the running program's name when nil.
        ///   - version: not said when nil.
        ///   - partialBodies: where bodies of more than 1 MiB go; nil is memory.
        public static func defaultDownloader(
            for coders: CoderRegistry = .shared, application: String? = nil, version: String? = nil,
            partialBodies: (any PartialBodyStore)? = nil
        ) -> ImageDownloader {
            let types = coders.decodableFormats.map(\.mimeType) + ["image/*;q=0.8", "*/*;q=0.5"]
            let headers = ImageDownloader.Configuration.defaultHeaders(
                application: application, version: version, accept: types.joined(separator: ","))
            var configuration = ImageDownloader.Configuration(headers: headers)
            configuration.partialBodies = partialBodies
            return ImageDownloader(configuration)
        }

        /// In the disk cache's folder, or without names in the system's for temporary files where there is none.
        private static func partialBodies(of cache: ImageCache, keeps: Bool, clock: TimeSource) -> PartialBodyFiles {
            cache.disk.map { PartialBodyFiles(in: $0, keeps: keeps, clock: clock) } ?? .temporary()
        }

        /// `$XDG_CACHE_HOME/<program>`, else `~/.cache/<program>`.
        public static var defaultCacheFolder: URL {
            DiskCache.defaultFolder(for: ProcessInfo.processInfo.processName)
        }
    }
}
