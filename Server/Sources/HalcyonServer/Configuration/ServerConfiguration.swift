import Foundation
import Halcyon
import Logging

/// The settings of a server. Each has a default, with which strangers may ask it.
public struct ServerConfiguration: Sendable {
    /// The sockets (`http`).
    public struct HTTP: Hashable, Sendable {
        /// The value of `Server` in answers.
        static let name = "halcyon"

        /// The address that the server listens at, 127.0.0.1 by default: a proxy stands before it.
        public var host = "127.0.0.1"
        /// The port, 8080 by default; 0 takes a free one.
        public var port = 8080
        /// The number of connections at the same time, 4,096 by default. Others wait in the kernel's queue.
        public var maximumConnections = 4096
        /// The longest time without a request on an open connection, and for the head of one, 60 s by default.
        public var idleTimeout = Duration.seconds(60)
        /// The longest time in which a client takes no byte of an answer, 30 s by default.
        public var writeTimeout = Duration.seconds(30)
        /// The time that requests have to finish once the server is to stop, 30 s by default.
        public var shutdownTimeout = Duration.seconds(30)
    }

    /// The port of reports (`metrics`): `/metrics`, `/health` and `/ready`.
    public struct Metrics: Hashable, Sendable {
        /// Whether there is one, true by default.
        public var isEnabled = true
        /// The address, 127.0.0.1 by default.
        public var host = "127.0.0.1"
        /// The port, 8081 by default; 0 takes a free one.
        public var port = 8081
    }

    /// The sources that may be asked for (`source`).
    public struct Source: Hashable, Sendable {
        /// The URLs that are allowed, by their beginnings, in which `*` stands for any text without a slash; all by default.
        public var allow: [String] = []
        /// The text that is put before each source that has no scheme; none by default.
        public var baseURL: String?
        /// The folder whose files are sources, as `local:///path`; none by default.
        public var folder: String?
        /// Whether servers at private addresses and other ports than 80 and 443 are asked, false by default.
        public var allowsPrivateAddresses = false
        /// The time for a transfer, with its redirects and repetitions, 20 s by default.
        public var timeout = Duration.seconds(20)
        /// The length of a source in bytes, 50 MB by default.
        public var maximumBytes = 50_000_000
        /// The pixels of a source, 50 million by default.
        public var maximumPixels = 50_000_000
        /// The frames of an animation, 500 by default.
        public var maximumFrames = 500
        /// The pixels of all frames of an animation, 200 million by default.
        public var maximumAnimationPixels = 200_000_000
        /// The header fields of a client that are sent to the server of the source, and to no other one that it redirects to. None
        /// by default. What it answers to them is kept for this client alone, unless it says `public`.
        public var passHeaders: [String] = []

        /// The fields that belong to a connection or to the server's own requests: with a client's `Host` a source would be another
        /// one than the rules allow, with its `Range` a part would be taken for the whole.
        static let ownFields: Set<String> = [
            "host", "connection", "keep-alive", "proxy-authorization", "proxy-connection", "te", "trailer",
            "transfer-encoding", "upgrade", "content-length", "expect", "range", "if-range", "if-none-match",
            "if-modified-since", "if-match", "if-unmodified-since", "accept-encoding", "cache-control", "pragma",
        ]
    }

    /// A language of URLs.
    public enum Grammar: String, CaseIterable, Sendable {
        case plain, imgproxy, thumbor
    }

    /// The URLs that ask for pictures (`url`).
    public struct URLs: Hashable, Sendable {
        /// The languages, in the order in which a URL is tried; imgproxy's and Halcyon's own by default.
        public var grammars: [Grammar] = [.imgproxy, .plain]
        /// Named lists of imgproxy's options, as `name=option/option`; none by default.
        public var presets: [String] = []
        /// Whether URLs name presets alone, false by default. It asks for imgproxy's language as the only one: the others would
        /// answer what it refuses.
        public var onlyPresets = false
        /// The character between an option of imgproxy's and its arguments, `:` by default.
        public var separator = ":"
        /// The options of imgproxy's that URLs may have, by any of their names; presets may have all. Empty, all, by default.
        public var allowedOptions: [String] = []
        /// Whether URLs of imgproxy's may state limits of the source, false by default.
        public var allowsLimits = false
        /// Whether the last part of a source in Base64 is a file name without a meaning, false by default.
        public var sourceIncludesFilename = false
    }

    /// The signatures of URLs (`signature`).
    public struct Signature: Hashable, Sendable {
        /// Keys in hexadecimal, several for a rotation; none by default, and URLs need no signature then.
        public var keys: [String] = []
        /// The salts of the keys, in the same order.
        public var salts: [String] = []
        /// The bytes of a signature that are compared, 32 by default.
        public var size = 32
        /// The texts that are taken in the place of a signature, but not of thumbor's; none by default.
        public var trusted: [String] = []
        /// The keys of thumbor's signatures, as text; none by default.
        public var thumborKeys: [String] = []
    }

    /// A format that the server may choose by the client's `Accept`.
    public enum AutomaticFormat: String, CaseIterable, Sendable {
        case jpegXL = "jxl"
        case avif, webp

        var format: ImageFormat {
            switch self {
            case .jpegXL: .jpegXL
            case .avif: .avif
            case .webp: .webp
            }
        }
    }

    /// The answers (`answer`).
    public struct Answer: Hashable, Sendable {
        /// The formats that are chosen by `Accept` where a URL names none, the best first; WebP by default. AVIF and JPEG XL take
        /// several times the time of WebP.
        public var formats: [AutomaticFormat] = [.webp]
        /// The pixels, in all frames, up to which AVIF is chosen by `Accept`, 1 million by default: it is slow. An answer without a box
        /// is larger.
        public var maximumAVIFPixels = 1_000_000
        /// The quality of lossy formats, 1 to 100, where a URL has none, 80 by default.
        public var quality = 80
        /// The percent of the difference to its blur that a reduced picture is sharpened by, 0 to 500; 0, none, by default. 50 gives a
        /// thumbnail the edges that its source has. URLs that sharpen by themselves, and pictures that do not become smaller on both
        /// sides, are left alone.
        public var sharpening = 0
        /// The seconds for which an answer may be kept where its source says nothing, an hour by default.
        public var ttl = 3600
        /// Whether `Last-Modified` of the source is passed on. False by default: an ETag tells more.
        public var sendsLastModified = false
        /// Whether `Sec-CH-DPR`, `Sec-CH-Width` and `Save-Data` count where a URL asks for the same thing in no other way. False by
        /// default: each of them makes answers that proxies keep apart.
        public var usesClientHints = false
        /// A picture that is sent where a source has none; a path, none by default.
        public var fallback: String?
        /// The picture that URLs lay on others without naming one; a path, none by default.
        public var watermark: String?
        /// The status of an answer with the fallback picture, 200 by default; 0 is that of the failure.
        public var fallbackStatus = 200
        /// The seconds for which the fallback picture may be kept, 60 by default.
        public var fallbackTTL = 60
        /// The lengths of sides and their number of pixels that a URL may ask for, 8,192 and 40 million by default.
        public var maximumSide = 8192
        public var maximumPixels = 40_000_000
        /// The pixels of all frames of an animation that a URL may ask for, 200 million by default; `maximumPixels` if that is
        /// more.
        public var maximumAnimationPixels = 200_000_000
    }

    /// The caches (`cache`).
    public struct Cache: Hashable, Sendable {
        /// The folder of the disk cache, `~/.cache/halcyon-server` by default; empty for none.
        public var folder: String? = DiskCache.defaultFolder(for: "halcyon-server").path(percentEncoded: false)
        /// The bytes of the disk cache, 4 GiB by default.
        public var diskBytes = 4 << 30
        /// The bytes of finished answers in memory, 128 MiB by default; 0 keeps none.
        public var memoryBytes = 128 << 20
        /// The Redis or Valkey that the machines of a fleet share, as `redis://[user:password@]host[:port][/database]` or
        /// `unix:///path[?db=database]`; none by default.
        public var redis: String?
        /// The beginning of all keys there, "halcyon" by default.
        public var redisPrefix = "halcyon"
        /// The time after which a look-up there gives up, 50 ms by default.
        public var redisTimeout = Duration.milliseconds(50)
        /// The time of each of its limits, also of `redisTimeout`; nil, the default, leaves each what it is. A process that stands still
        /// for longer than those has its work done twice.
        var redisPatience: Duration?
    }

    /// The admission of work (`queue`).
    public struct Queue: Hashable, Sendable {
        /// The transfers at the same time, 32 by default. One host has a quarter of them, or two.
        public var transfers = 32

        /// A quarter of the transfers, or two.
        var transfersPerHost: Int { min(transfers, max(2, transfers / 4)) }

        /// The pixels that are decoded and encoded at the same time; 25 million for each processor by default.
        public var pixels = 25_000_000 * ProcessInfo.processInfo.activeProcessorCount
        /// The answers that wait for a transfer with one host, for one among all, and for the work behind it, 256 each by default.
        public var waiting = 256
        /// The pixels of all answers that wait; 2,000 million by default.
        public var waitingPixels = 2_000_000_000
        /// The longest wait, 10 s by default.
        public var waitingTime = Duration.seconds(10)
        /// The time for which more pixels may wait than a quarter of those at work, 5 s by default: bursts are answered late, and
        /// lasting load above what the machine can do is refused at once.
        public var burstTime = Duration.seconds(5)
    }

    public var http = HTTP()
    public var metrics = Metrics()
    public var source = Source()
    public var s3 = S3()
    public var url = URLs()
    public var signature = Signature()
    public var answer = Answer()
    public var cache = Cache()
    public var queue = Queue()
    /// Whether files are decoded in processes without rights (`isolation`), true by default.
    public var isolatesDecodes = true
    /// The least level of logs (`log.level`), `info` by default, which has one line for each request.
    public var logLevel = Logger.Level.info

    /// Creates a configuration with the defaults.
    public init() {}
}
