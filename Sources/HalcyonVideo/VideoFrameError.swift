import Foundation

/// An error of reading a frame of a video. A load fails with `ImagePipelineError.badSource`, with this error as its `underlying`.
public enum VideoFrameError: Error, Hashable, Sendable, CustomStringConvertible {
    /// The file cannot be opened, with the reason.
    case unreadable(String)
    /// The file is no container of video that is read. The text says what it is, as far as that is known: `empty`,
    /// `application/x-hls`, or nothing.
    case notAVideo(String)
    /// The file has sound or other streams, and no picture.
    case noVideoStream
    /// No decoder that may be used is installed for the codec, such as `video/x-h264`.
    case noDecoder(String)
    /// The file is broken, with GStreamer's reason.
    case damaged(String)
    /// A fraction was asked of a file that does not tell its duration.
    case unknownDuration
    /// Reading took longer than the limit.
    case timedOut(Duration)
    /// GStreamer cannot be used, with the reason: a plugin of its base is not installed.
    case unavailable(String)

    public var description: String {
        switch self {
        case .unreadable(let reason): reason
        case .notAVideo(let type): "it is not a video" + (type.isEmpty ? "" : ": it is \(type)")
        case .noVideoStream: "the file has no picture"
        case .noDecoder(let codec): "no decoder for \(codec) is installed"
        case .damaged(let reason): "the video is damaged: \(reason)"
        case .unknownDuration: "the video does not tell its duration"
        case .timedOut(let limit): "reading the frame took longer than \(limit)"
        case .unavailable(let reason): "videos cannot be read: \(reason)"
        }
    }
}

extension VideoFrameError: LocalizedError {
    public var errorDescription: String? { description }

    /// A line about what the program or its user can do; nil if there is nothing to say.
    public var recoverySuggestion: String? {
        switch self {
        case .noDecoder, .unavailable: "Install the plugins of GStreamer that docs/Formats.md names."
        case .unknownDuration: "Ask for a time instead of a fraction."
        default: nil
        }
    }
}
