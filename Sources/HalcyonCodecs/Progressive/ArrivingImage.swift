import Foundation
import HalcyonImage
import HalcyonSystem

/// A progressive decoding of an image: a still image by its rows, an animation by its frames.
///
/// Memory: for a still image, its pixels, twice during a preview, and its bytes if the final image is decoded from
/// them; for an animation, its bytes and the first frame.
package final class ArrivingImage<Decoder: AnimatedImageDecoder>: ProgressiveDecoding {
    private enum Phase {
        case rows(Rows)
        case frames(ArrivingFrames<Decoder>)
        /// Previews are impossible or no longer possible, or there is no memory for them beside the decodes in
        /// progress: the file is decoded once it is complete.
        case waiting
    }

    /// A still image whose rows are arriving.
    private struct Rows {
        let plan: DecodePlan
        let stream: any RowStream
        let color: ColorTransform?
        /// The embedded ICC profile; nil if the colours are converted.
        let profile: Data?
        /// The reserved memory: the pixels of the stream and of a preview, and the bytes that the stream keeps.
        let memory: DecodeBudget.Hold
    }

    private struct State {
        /// The bytes that arrived before the header was complete; while waiting for the end of the file, all bytes.
        var header = Data()
        var pacing = HeaderPacing()
        /// The current phase; nil until the header is complete.
        var phase: Phase?
        /// The number of rows or frames that the last preview showed.
        var shown = 0

        /// Continues without the stream if the final image is decoded from the file: releases the pixels of the stream
        /// and keeps the bytes.
        mutating func leaveRows() {
            guard case .rows(let rows) = phase, case .file(let file) = rows.stream.ending else { return }
            header = file
            phase = .waiting
        }
    }

    private let decoder: Decoder
    private let options: DecodeOptions
    private let budget: DecodeBudget
    private let isHeaderWhole: @Sendable (Data) -> Bool
    private let isAnimation: @Sendable (Data, ImageInfo) -> Bool
    private let keptBytes: @Sendable (Data) -> Int
    private let makeRows: @Sendable (DecodePlan, Data) throws -> (any RowStream)?
    /// Locked during a whole decode: two threads that decode the same image have to wait for each other anyway.
    private let state = Lock(State())

    /// - Parameters:
    ///   - isHeaderWhole: whether everything that precedes the pixels has arrived.
    ///   - isAnimation: whether frames follow, whose number the header need not declare.
    ///   - keptBytes: the number of the file's bytes that the stream of rows will have kept at the end.
    ///   - makeRows: starts the decode of a still image, given its plan and the data up to its pixels. Returns nil if
    ///     the image can only be shown once it is complete.
    package init(
        _ decoder: Decoder, options: DecodeOptions, budget: DecodeBudget,
        isHeaderWhole: @escaping @Sendable (Data) -> Bool,
        isAnimation: @escaping @Sendable (Data, ImageInfo) -> Bool = { $1.isAnimated },
        keptBytes: @escaping @Sendable (Data) -> Int = { _ in 0 },
        makeRows: @escaping @Sendable (DecodePlan, Data) throws -> (any RowStream)?
    ) {
        self.decoder = decoder
        self.options = options
        self.budget = budget
        self.isHeaderWhole = isHeaderWhole
        self.isAnimation = isAnimation
        self.keptBytes = keptBytes
        self.makeRows = makeRows
    }

    package func append(_ data: Data, context: WorkContext) throws {
        try state.withLock { state in
            switch state.phase {
            case nil:
                state.header.append(data)
                guard state.pacing.isDue(state.header.count) else { return }
                guard isHeaderWhole(state.header) else {
                    // A header without end never becomes an image.
                    return try options.limits.check(metadataBytes: state.header.count)
                }
                let phase = try begin(state.header, context: context)
                state.phase = phase
                if case .waiting = phase { return }
                state.header = Data()
            case .rows(let rows):
                do {
                    try rows.stream.append(data, context: context)
                } catch {
                    // A decode of the whole file determines whether it is damaged.
                    guard case .file = rows.stream.ending else { throw error }
                    state.leaveRows()
                }
            case .frames(let frames):
                frames.data.append(data)
            case .waiting:
                state.header.append(data)
            }
        }
    }

    private func begin(_ data: Data, context: WorkContext) throws -> Phase {
        let opened = decoder.opened(for: data)
        let info = try opened.probe(data, within: options.limits, fileBytes: nil)
        guard !isAnimation(data, info) else {
            return .frames(ArrivingFrames(decoder, data: data, options: options, budget: budget))
        }
        // EXIF behind the pixels may rotate the image, which determines whether a region lies within it.
        guard let plan = try? DecodePlan(info: info, options: options, decoder: opened),
            (try? plan.check(options.limits)) != nil
        else { return .waiting }
        let bytes = opened.arrivingBytes(of: data, plan: plan).adding(1, times: keptBytes(data))
        guard let memory = budget.hold(bytes), let stream = try makeRows(plan, data) else { return .waiting }
        do {
            try stream.append(data, context: context)
        } catch {
            guard case .file = stream.ending else { throw error }
            return .waiting
        }
        let color = try ColorTransforms.shared.transform(for: plan, of: data, opened)
        let profile = plan.convertsColor ? nil : opened.embeddedProfile(of: data)
        return .rows(Rows(plan: plan, stream: stream, color: color, profile: profile, memory: memory))
    }

    package func preview(context: WorkContext) throws -> Image? {
        try state.withLock { state in
            switch state.phase {
            case nil, .waiting: return nil
            case .rows(let rows):
                guard rows.stream.rows > state.shown else { return nil }
                state.shown = rows.stream.rows
                return try Self.image(rows, isPreview: true, context: context)
            case .frames(let frames):
                guard let image = try frames.image(moreThan: state.shown, context: context) else { return nil }
                state.shown = image.info.frameCount
                return image
            }
        }
    }

    package func finish(context: WorkContext) throws -> Image {
        try state.withLock { state in
            // The memory of the stream must be free before the decode makes its reservation.
            state.leaveRows()
            switch state.phase {
            case nil, .waiting:
                // An incomplete header gets its error here.
                return try CoderRegistry([decoder], budget: budget).decode(
                    state.header, options: options, context: context)
            case .rows(let rows):
                guard case .rows = rows.stream.ending else {
                    throw CodecError.damaged(rows.plan.info.format, reason: "the file was cut off")
                }
                return try Self.image(rows, isPreview: false, context: context)
            case .frames(let frames):
                return try CoderRegistry([decoder], budget: budget).decode(
                    frames.data, options: options, context: context)
            }
        }
    }

    private static func image(_ rows: Rows, isPreview: Bool, context: WorkContext) throws -> Image {
        try context.checkCancellation()
        let native = try rows.stream.bitmap(context: context)
        let bitmap = try CoderRegistry.finish(native, plan: rows.plan, color: rows.color, context: context)
        var info = rows.plan.info
        info.isPreview = isPreview
        var image = Image(bitmap: bitmap, info: info)
        image.colorProfile = rows.profile
        return image
    }
}

/// The way in which a `RowStream` provides the final image, identical to a decode of the whole file.
package enum RowEnding {
    /// No final image: the end of the file has not arrived, or the stream was cancelled.
    case cutOff
    /// The rows are the final image.
    case rows
    /// The final image is decoded from these bytes, which are all that arrived; the rows serve previews only.
    case file(Data)
}

/// A decoder of a still image that arrives row by row and whose header is known. Used by one thread at a time.
package protocol RowStream: AnyObject {
    /// The progress; a higher number than before means that there is something new to show.
    var rows: Int { get }
    /// The way to the final image if the file ended here.
    var ending: RowEnding { get }

    /// Decodes the next part of the file. If `ending` is `.file`, that file contains this part even after an error.
    func append(_ data: Data, context: WorkContext) throws

    /// Returns the pixels that have arrived, at the plan's native size; the missing ones are transparent.
    func bitmap(context: WorkContext) throws -> Bitmap
}

/// The pacing of the attempts to read an incomplete header: with each part up to 64 KiB, then each time that it has
/// grown by an eighth, so that all attempts on a header without end together cost no more than reading it nine times.
package struct HeaderPacing {
    private static let always = 1 << 16

    private var next = 0

    package init() {}

    package mutating func isDue(_ byteCount: Int) -> Bool {
        guard byteCount >= next else { return false }
        if byteCount >= Self.always { next = byteCount + byteCount / 8 }
        return true
    }
}
