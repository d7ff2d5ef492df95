import Foundation
import Halcyon
import HalcyonCodecs
import HalcyonImage
import HalcyonSystem

/// A frame of a video file as the source of an image, such as its poster: read by GStreamer, upright, in the shape in which
/// players show it.
///
///     let request = ImageRequest(.provider(VideoFrame(file, at: .seconds(3))))
///
/// For all videos of a pipeline, `Configuration.providers` takes a closure such as
/// `{ $0.isFileURL && $0.pathExtension == "webm" ? VideoFrame($0) : nil }`.
///
/// Only local files are read, and only as containers of video (Matroska and WebM, MP4 and MOV, AVI, Ogg, FLV, MPEG, ASF) with
/// the decoders on the processor that are installed as plugins of GStreamer: `gstreamer1.0-plugins-base` and
/// `gstreamer1.0-plugins-good` have VP8, VP9, Theora, JPEG and the first five containers; `gstreamer1.0-libav` has H.264,
/// H.265 and others. Playlists, descriptions of streams,
/// subtitles and pictures are refused, whatever a file is named: no address inside of a file is followed.
///
/// Colours are converted by the matrix and the range that the video declares; HDR is not mapped to the range of sRGB, and
/// interlaced fields are not merged. A file that ends early gives its last frame for any time behind it.
///
/// Cost: a few milliseconds for a key frame near the beginning; for `.exact`, all frames since the key frame before it are
/// decoded. Two frames are read at a time, on threads of their own. 40 bytes for each pixel of the video are reserved from
/// `DecodeBudget.shared` meanwhile. The first call in a process starts GStreamer: some 50 ms, and up to seconds if it has
/// kept no list of its plugins yet.
public struct VideoFrame: ImageProvider {
    /// A place in a video.
    public enum Position: Hashable, Sendable {
        /// A time from the beginning; the beginning for a negative one, the last frame for one beyond the end.
        case time(Duration)
        /// A fraction of the duration from 0 to 1, to which other values are clamped; NaN is 0.
        case fraction(Double)

        /// The beginning.
        public static let start = Position.time(.zero)

        /// Returns the position that is so many seconds from the beginning; it is clamped to 0 and to 292 years, and
        /// NaN is 0.
        public static func seconds(_ seconds: Double) -> Position {
            .time(.nanoseconds(Int64(seconds.isNaN ? 0 : min(max(seconds, 0) * 1e9, 0x1p62))))
        }
    }

    /// The frame that is read for a position.
    public enum Choice: String, Hashable, Sendable, CaseIterable {
        /// The key frame that is nearest to the position, the earlier one of two: the fastest, and the default.
        case closestKeyFrame
        /// The key frame at the position or before it.
        case previousKeyFrame
        /// The key frame at the position or after it; the last one if there is none.
        case nextKeyFrame
        /// The frame that a player shows at the position.
        case exact
    }

    /// The video.
    public var file: URL
    /// The place of the frame.
    public var position: Position
    /// The frame that is read for the position. Of Ogg, and where an index is missing, the exact one is read in any case.
    public var choice: Choice
    /// The box that the frame is fitted to without enlarging it, before it is kept; nil keeps its full size.
    public var maximumSize: PixelSize?
    /// The longest time that reading may take, ten seconds by default. Waits for memory and for other frames do not count. A
    /// decoder that is in the middle of a frame ends that first.
    public var timeLimit: Duration
    /// The limits of the video's size, checked before its pixels are decoded: `maximumPixels` and `maximumSide`.
    public var limits: DecodeLimits
    /// The budget of the memory.
    package var budget = DecodeBudget.shared

    /// Creates a source; omitted arguments take the defaults that the properties state.
    ///
    /// - Parameter file: the URL of a local file. Loads of another URL fail: a video on a server has to be downloaded first.
    public init(
        _ file: URL, at position: Position = .start, choice: Choice = .closestKeyFrame,
        maximumSize: PixelSize? = nil, timeLimit: Duration = .seconds(10), limits: DecodeLimits = DecodeLimits()
    ) {
        self.file = file
        self.position = position
        self.choice = choice
        self.maximumSize = maximumSize
        self.timeLimit = timeLimit
        self.limits = limits
    }

    /// The key of the frame, made of the file's path and metadata: a file that has changed is another source. Takes one
    /// system call.
    public var cacheKey: String {
        let box = maximumSize.map { ",\($0)" } ?? ""
        return "video:\(position.key),\(choice.rawValue)\(box):" + FileSource.key(path)
    }

    public var contentURL: URL? { file }

    /// Returns the frame.
    ///
    /// - Throws: `VideoFrameError`; `CodecError.limitExceeded` for a video beyond the limits or the budget; `BitmapError`;
    ///   `CancellationError`, no later than a decoder has ended its current frame.
    public func image() async throws -> Image {
        guard file.isFileURL else { throw VideoFrameError.unreadable("it is not the URL of a file") }
        return try await VideoThreads.pool.run { context in
            do {
                return try FileSource.withDescriptor(of: path) { descriptor, byteCount in
                    guard byteCount > 0 else { throw VideoFrameError.notAVideo("empty") }
                    return try VideoReading(self, descriptor: descriptor, context: context).image()
                }
            } catch let failure as FileSource.Failure {
                throw VideoFrameError.unreadable(failure.description)
            }
        }
    }

    private var path: String { file.path(percentEncoded: false) }
}

extension VideoFrame.Position {
    /// The time and the fraction in the ranges that are documented; one of them is nil.
    var clamped: (nanoseconds: Int64?, fraction: Double?) {
        switch self {
        case .time(let time):
            let (seconds, attoseconds) = time.components
            let (whole, overflow) = max(seconds, 0).multipliedReportingOverflow(by: 1_000_000_000)
            // A sum of both fits below this.
            let most: Int64 = 1 << 62
            guard !overflow, whole < most else { return (most, nil) }
            return (time < .zero ? 0 : whole + attoseconds / 1_000_000_000, nil)
        case .fraction(let fraction): return (nil, fraction.isNaN ? 0 : min(max(fraction, 0), 1))
        }
    }

    fileprivate var key: String {
        let (nanoseconds, fraction) = clamped
        return nanoseconds.map { "\($0)" } ?? "\(fraction ?? 0) of all"
    }
}

/// The threads that wait for GStreamer's: frames that take long do not delay other images.
private enum VideoThreads {
    static let pool = ThreadPool(name: "halcyon-video", threads: 2)
}
