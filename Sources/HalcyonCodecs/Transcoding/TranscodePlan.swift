import Foundation
import HalcyonImage
import HalcyonSystem

/// The rewriting of one file: its header has proved to be within the limits.
package struct TranscodePlan: Sendable {
    /// The facts of the file's header.
    package let info: ImageInfo
    package let format: ImageFormat
    /// The bytes to reserve while it runs.
    package let workingBytes: Int
    let limits: DecodeLimits
    let effort: Double?
    /// The transcoder; nil for a file that has the format already.
    let transcoder: (any ImageTranscoder)?
    /// The file for the workers; nil if this process rewrites it.
    let isolated: IsolatedFile?
}

extension CoderRegistry {
    /// Rewrites a file in another format without loss: a JPEG as JPEG XL, which takes a fifth less, and such a JPEG XL as the JPEG that
    /// it was, byte for byte.
    ///
    /// A file that has the format already is returned as it is. EXIF, XMP and profiles stay in the file. A JPEG XL file is checked before
    /// it is returned: the JPEG that is rebuilt from it has the same bytes. The pixels of both are alike and not equal, since libjxl
    /// computes more exactly than libjpeg. A file may say anything of the JPEG that is rebuilt from it, so that this is decoded and
    /// written as JPEG XL once more, which must show the very pixels of the file.
    ///
    /// The memory is reserved from the `budget`; the calling thread waits for it while others hold too much. Cost: a photo of 12
    /// megapixels takes some 0.4 s, and 1.3 s back. 52 bytes are reserved for each of its pixels, 80 with the most effort, of which it uses some 20.
    ///
    /// - Parameters:
    ///   - effort: the time that is spent on a small file, as `EncodeOptions.effort`: with 1, a JPEG takes ten times as long and becomes a
    ///     hundredth smaller. 0.75 by default.
    ///   - limits: the limits that the header is checked against.
    ///   - isolation: the place where the work is done; this process by default, where it cannot be cancelled once it has begun.
    /// - Throws: `CodecError.encodingFailed` if the file has no such form: a JPEG of four channels or 12 bits, one that is cut off, a JPEG
    ///   XL that was not made from a JPEG, or not from one that looks like it, any other format. `CodecError`, as `decode`;
    ///   `CancellationError`.
    public func transcode(
        _ data: Data, to format: ImageFormat, effort: Double? = nil, limits: DecodeLimits = DecodeLimits(),
        isolation: DecodeIsolation = .inProcess, context: WorkContext = .uncancellable
    ) throws -> Data {
        let options = DecodeOptions(limits: limits, isolation: isolation)
        let info = try plan(data, options: options, context: context).info
        let plan = try transcodePlan(data, info: info, to: format, effort: effort, options: options, context: context)
        return try budget.withReservation(of: plan.workingBytes, context: context) {
            try transcode(data, by: plan, context: context)
        }
    }

    /// Returns whether a coder rewrites files of a format as another without loss.
    public func canTranscode(from source: ImageFormat, to target: ImageFormat) -> Bool {
        transcoder(from: source, to: target) != nil
    }

    /// Checks that some source can be had in a format: one that has it already, or one that a coder rewrites as it.
    ///
    /// - Throws: `CodecError.unsupportedFormat`.
    package func requireTranscoding(to format: ImageFormat) throws {
        let isRead = coders.contains { $0 is any ImageDecoder && $0.formats.contains(format) }
        let isMade = coders.contains { coder in coder.formats.contains { canTranscode(from: $0, to: format) } }
        guard isRead || isMade else { throw CodecError.noEncoder(for: format) }
    }

    /// Returns the plan for a file whose header is within the limits of the options.
    ///
    /// - Throws: `CodecError.encodingFailed`, `.unsupportedFormat`, `.isolationUnavailable`; `CancellationError`.
    package func transcodePlan(
        _ data: Data, info: ImageInfo, to format: ImageFormat, effort: Double?, options: DecodeOptions,
        context: WorkContext
    ) throws -> TranscodePlan {
        var (transcoder, isolated) = ((any ImageTranscoder)?.none, IsolatedFile?.none)
        if info.format != format {
            transcoder = try requireTranscoder(from: info.format, to: format)
            isolated = try transcoder.flatMap { try isolatedFile(data, $0, options.isolation, context: context) }
        }
        let bytes = transcoder?.workingBytes(
            toTranscode: info, fileBytes: data.count, effort: effort, limits: options.limits)
        return TranscodePlan(
            info: info, format: format, workingBytes: (bytes ?? 0).adding(1, times: isolated?.copiedBytes ?? 0),
            limits: options.limits, effort: effort, transcoder: transcoder, isolated: isolated)
    }

    /// Rewrites a file for a caller that has reserved `workingBytes`.
    package func transcode(_ data: Data, by plan: TranscodePlan, context: WorkContext) throws -> Data {
        guard let transcoder = plan.transcoder else { return data }
        try context.checkCancellation()
        if let file = plan.isolated { return try file.transcoded(by: plan, context: context) }
        defer { HeapTrim.after(plan.workingBytes) }
        return try transcoder.transcode(
            data, info: plan.info, to: plan.format, limits: plan.limits, effort: plan.effort, context: context)
    }

    private func requireTranscoder(from source: ImageFormat, to target: ImageFormat) throws -> any ImageTranscoder {
        if let transcoder = transcoder(from: source, to: target) { return transcoder }
        if !canEncode(target) { throw CodecError.noEncoder(for: target) }
        throw CodecError.encodingFailed(target, reason: "\(source) cannot be rewritten as it without loss")
    }

    private func transcoder(from source: ImageFormat, to target: ImageFormat) -> (any ImageTranscoder)? {
        coders.lazy.compactMap { $0 as? any ImageTranscoder }.first { $0.canTranscode(from: source, to: target) }
    }
}
