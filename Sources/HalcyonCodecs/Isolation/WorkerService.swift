import CHalcyonWorker
import Foundation
import HalcyonImage
import HalcyonSystem

/// The work of a worker: it answers one request after the other, until its program has no more.
struct WorkerService {
    /// A large file, mapped for as long as something reads it.
    private final class Mapping {
        let bytes: UnsafeMutableRawPointer
        let byteCount: Int

        init?(_ file: Int32, _ byteCount: Int) {
            guard byteCount > 0, let bytes = mmap(nil, byteCount, PROT_READ, MAP_PRIVATE, file, 0), bytes != MAP_FAILED
            else { return nil }
            (self.bytes, self.byteCount) = (bytes, byteCount)
        }

        deinit {
            munmap(bytes, byteCount)
        }

        /// The bytes, which keep the mapping.
        var data: Data {
            Data(
                bytesNoCopy: bytes, count: byteCount,
                deallocator: .custom { [self] _, _ in withExtendedLifetime(self) {} })
        }
    }

    /// The time in which a worker makes frames ahead of the one that it was asked for.
    private static let framesTime = Duration.milliseconds(2)

    private let coders: CoderRegistry
    private let arena: WorkerArena?
    private let channel = WorkerLaunch.Descriptor.channel
    private var animations: [Int: AnimatedImage] = [:]
    private var arrivals: [Int: (decoding: any ProgressiveDecoding, byteCount: Int)] = [:]
    /// The plan of the last request, and the file that it is for.
    private var planned: (number: Int, plan: DecodePlan, data: Data)?

    init(_ coders: CoderRegistry) {
        self.coders = coders
        arena = WorkerArena(WorkerLaunch.Descriptor.arena)
        close(WorkerLaunch.Descriptor.arena)
    }

    /// A drawing with text, which makes librsvg and fontconfig read their settings.
    private static let drawing = """
        <svg xmlns="http://www.w3.org/2000/svg" width="8" height="8"><text y="8" font-size="8">a</text></svg>
        """

    /// Lets the libraries read what they read once: settings, lists of fonts, the number of processors.
    func warmUp(_ kind: WorkerKind) {
        _ = SystemGrant.current
        // lcms2 writes the time into the profiles that it makes; the time zone is in a file.
        tzset()
        // The C library sets up a signal at its first thread.
        _ = try? WorkerThread.run(name: "halcyon-first", stackSize: 1 << 20) {}
        // Only workers that use the system's loaders open them.
        for case let decoder as any PreparedDecoder in coders.coders
        where decoder.requiresIsolation == (kind == .loaders) {
            decoder.prepare()
        }
        if kind == .fonts { _ = try? coders.decode(Data(Self.drawing.utf8)) }
    }

    /// Sends the first message.
    ///
    /// - Parameter addressSpace: that of the process before it has read anything, in bytes.
    func greet(addressSpace: UInt64, failure: String?) {
        let names = coders.coders.map { String(reflecting: type(of: $0)) }
        let failure = arena == nil ? "it has no memory that it shares" : failure
        _ = send(WorkerGreeting(coders: names, addressSpace: Int(clamping: addressSpace), failure: failure).bytes)
    }

    /// Answers requests until the program has closed its end.
    mutating func run() {
        guard let arena else { return }
        while let message = WorkerMessage.receive(channel) {
            defer { for file in message.files { close(file) } }
            // The worker did not wait for the last windows of the former result.
            if PartTaken(message.bytes) != nil { continue }
            var reader = WireReader(message.bytes)
            guard let request = try? WorkerRequest(&reader) else { return }
            let result = ResultWriter(arena, channel, for: request)
            do {
                if let answer = try answer(to: request, message.files.first, result) { result.send(answer) }
            } catch {
                result.send(.failure(error))
            }
        }
    }

    private func send(_ bytes: [UInt8]) -> Bool { halcyon_channel_send(channel, bytes, bytes.count, nil, 0) == 0 }

    // MARK: - Requests

    /// Returns nil for the end of sessions, which has no answer.
    private mutating func answer(
        to request: WorkerRequest, _ file: Int32?, _ result: ResultWriter
    ) throws -> WorkerAnswer? {
        for session in request.ended { (animations[session], arrivals[session]) = (nil, nil) }
        let former = planned
        planned = nil
        let context = WorkContext { [arena] in arena?.cancelled == request.number }
        switch request.work {
        case .probe: return .info(try coders.probe(try data(of: request, file)))
        case .plan: return try plan(request, file)
        case .decode:
            if let former, former.number == request.plan {
                return .image(try coders.image(former.data, by: former.plan, context: context, to: result))
            }
            let plan = try plan(request, file)
            let answer = try planned.map { try image(request, $0, context, result) } ?? plan
            if case .plan = answer { return answer }
            planned = nil
            return answer
        case .frames: return try frames(request, file, context, result)
        case .preview: return try preview(request, file, context, result)
        case .transcode: return try transcode(request, file, context, result)
        case .end:
            // The plan is of another request, which goes on.
            planned = former
            HeapTrim.after(.max)
            return nil
        }
    }

    private mutating func plan(_ request: WorkerRequest, _ file: Int32?) throws -> WorkerAnswer {
        let data = try data(of: request, file)
        let plan = try coders.plan(data, options: request.options, isArriving: request.isArriving)
        planned = (request.number, plan, data)
        return .plan(PlanFacts(plan))
    }

    /// Decodes what was planned for the same request, if it takes no more memory than the program grants; otherwise answers the plan.
    private func image(
        _ request: WorkerRequest, _ planned: (number: Int, plan: DecodePlan, data: Data), _ context: WorkContext,
        _ result: ResultWriter
    ) throws -> WorkerAnswer {
        let plan = planned.plan
        guard request.mostBytes == 0 || (plan.workingBytes <= request.mostBytes && Self.fits(plan, result))
        else { return .plan(PlanFacts(plan)) }
        let image = try coders.image(planned.data, by: plan, context: context, to: result)
        return request.mostBytes == 0 ? .image(image) : .planned(PlanFacts(plan), image)
    }

    /// Whether the pixels, the durations and a gain map fit into the windows, and no profile comes behind them, whose
    /// length only the decode tells.
    private static func fits(_ plan: DecodePlan, _ result: ResultWriter) -> Bool {
        let pixels = plan.finalSize.bitmapBytes.adding(plan.depth == nil ? 0 : 2, times: plan.finalSize.bitmapBytes)
        let beside = (plan.gainMap?.size.bitmapBytes ?? 0).adding(8, times: plan.info.frameCount)
        return plan.convertsColor && result.hasRoom(for: pixels.adding(1, times: beside))
    }

    /// Makes the frame that was asked for, and those that follow it for a moment.
    private mutating func frames(
        _ request: WorkerRequest, _ file: Int32?, _ context: WorkContext, _ result: ResultWriter
    ) throws -> WorkerAnswer {
        let (animation, watch) = (try animation(request, file, context), Stopwatch())
        var areOpaque: [Bool] = []
        for index in request.frames where index < animation.frameCount || areOpaque.isEmpty {
            guard areOpaque.isEmpty || watch.elapsed < Self.framesTime else { break }
            do {
                let bitmap = try animation.frame(at: index, context: context)
                guard areOpaque.isEmpty || result.hasRoom(for: bitmap.byteCount) else { break }
                result.write(bitmap)
                areOpaque.append(bitmap.isOpaque)
            } catch {
                // The error belongs to whoever asks for that frame.
                if areOpaque.isEmpty { throw error }
                break
            }
        }
        return .frames(areOpaque)
    }

    private mutating func preview(
        _ request: WorkerRequest, _ file: Int32?, _ context: WorkContext, _ result: ResultWriter
    ) throws -> WorkerAnswer {
        // A file that comes from its first byte on replaces what was kept of it.
        let kept = arrivals.removeValue(forKey: request.session).flatMap { request.arrived > 0 ? $0 : nil }
        let data = try data(of: request, file)
        guard kept?.byteCount ?? 0 == request.arrived else { throw WireError.invalid("another part of a file") }
        let decoding =
            kept?.decoding
            ?? coders.makeProgressive(
                for: data, options: request.options, showsThumbnail: request.showsThumbnail)
        var facts = PreviewFacts()
        guard let decoding else { return .preview(nil, facts) }
        let started = ProcessorTime.ofThread
        try decoding.append(data, context: context)
        let read = ProcessorTime.ofThread
        let preview = try decoding.preview(context: context)
        (facts.reading, facts.drawing) = ((read - started).nanoseconds, (ProcessorTime.ofThread - read).nanoseconds)
        // Kept unless it has failed, after which it cannot go on.
        arrivals[request.session] = (decoding, request.arrived + data.count)
        facts.scans = decoding.shownScans
        return .preview(preview.map { result.write($0) }, facts)
    }

    private func transcode(
        _ request: WorkerRequest, _ file: Int32?, _ context: WorkContext, _ result: ResultWriter
    ) throws -> WorkerAnswer {
        guard let target = request.target else { throw WireError.invalid("no format to rewrite a file in") }
        let data = try data(of: request, file)
        let options = DecodeOptions(limits: request.options.limits)
        let info = try coders.plan(data, options: options, context: context).info
        let plan = try coders.transcodePlan(
            data, info: info, to: target, effort: request.effort, options: options, context: context)
        let bytes = try coders.transcode(data, by: plan, context: context)
        bytes.withUnsafeBytes(result.write)
        return .bytes(bytes.count)
    }

    /// Returns the image of a file that has not arrived as a whole, with the frames that are there.
    private func preview(of data: Data, _ request: WorkerRequest, _ context: WorkContext) throws -> Image? {
        let decoding = coders.makeProgressive(for: data, options: request.options)
        try decoding?.append(data, context: context)
        return try decoding?.preview(context: context)
    }

    /// Returns the file: mapped if it is large, otherwise in the memory that is shared. What needs it after the request gets a copy.
    private func data(of request: WorkerRequest, _ file: Int32?) throws -> Data {
        if let file {
            guard let mapping = Mapping(file, request.fileBytes) else {
                throw BitmapError.outOfMemory(bytes: request.fileBytes)
            }
            return mapping.data
        }
        guard let arena, request.fileBytes <= WorkerArena.fileBytes else {
            throw WireError.invalid("a file without bytes")
        }
        guard request.session == 0 else { return Data(bytes: arena.file, count: request.fileBytes) }
        return Data(bytesNoCopy: arena.file, count: request.fileBytes, deallocator: .none)
    }

    /// Returns the animation of a request, which stays here for the next frame.
    private mutating func animation(
        _ request: WorkerRequest, _ file: Int32?, _ context: WorkContext
    ) throws -> AnimatedImage {
        if let kept = animations[request.session] { return kept }
        let data = try data(of: request, file)
        let image =
            try request.isArriving
            ? preview(of: data, request, context) : coders.decode(data, options: request.options, context: context)
        guard let animation = image?.animation?.makeReader() else {
            let format = image?.info.format ?? FormatSniffer.format(of: data) ?? .bitmap
            throw CodecError.damaged(format, reason: "it has no frames")
        }
        animations[request.session] = animation
        return animation
    }
}

extension CoderRegistry {
    /// Decodes by a plan, and writes the pixels and what an image has beside them; row by row if the decoder can, so that the
    /// program takes the first part while the next one is decoded.
    fileprivate func image(
        _ data: Data, by plan: DecodePlan, context: WorkContext, to result: ResultWriter
    ) throws -> ImageFacts {
        if try passRows(of: data, plan: plan, context: context, to: result.write, room: result.room(for:)) {
            let profile = plan.convertsColor ? nil : try requireDecoder(for: data).embeddedProfile(of: data)
            profile?.withUnsafeBytes(result.write)
            return ImageFacts(still: plan, profileBytes: profile?.count)
        }
        return result.write(try decode(data, plan: plan, context: context))
    }
}

extension ResultWriter {
    /// Writes the pixels, the deep ones, the durations of the frames, the profile and the gain map.
    fileprivate func write(_ image: Image) -> ImageFacts {
        write(image.bitmap)
        image.deepBitmap?.withPixels(write)
        (image.animation?.durations ?? []).map(\.nanoseconds).withUnsafeBytes(write)
        image.colorProfile?.withUnsafeBytes(write)
        if let map = image.gainMap {
            write(map.bitmap)
            map.colorProfile?.withUnsafeBytes(write)
        }
        return ImageFacts(image)
    }
}

extension Duration {
    /// Within the range of an integer: centuries.
    fileprivate var nanoseconds: Int {
        let (seconds, attoseconds) = components
        return Int(seconds.multipliedReportingOverflow(by: 1_000_000_000).partialValue)
            &+ Int(attoseconds / 1_000_000_000)
    }
}
