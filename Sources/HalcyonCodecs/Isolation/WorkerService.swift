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

    /// The longest request, in bytes.
    private static let longestRequest = 16 << 10

    private let coders: CoderRegistry
    private let arena: WorkerArena?
    private let channel = WorkerLaunch.Descriptor.channel
    private var animations: [Int: AnimatedImage] = [:]
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
    func warmUp(readsFonts: Bool) {
        _ = SystemGrant.current
        // lcms2 writes the time into the profiles that it makes; the time zone is in a file.
        tzset()
        // The C library sets up a signal at its first thread.
        _ = try? WorkerThread.run(name: "halcyon-first", stackSize: 1 << 20) {}
        if readsFonts { _ = try? coders.decode(Data(Self.drawing.utf8)) }
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
        while let (bytes, files) = receive() {
            defer { for file in files { close(file) } }
            var reader = WireReader(bytes)
            guard let request = try? WorkerRequest(&reader) else { return }
            var result = WorkerResult()
            let answer: WorkerAnswer
            do {
                answer = try self.answer(to: request, files.first, &result)
            } catch {
                answer = .failure(error)
            }
            guard pass(result, behind: answer.bytes(to: request.number)) else { return }
        }
    }

    // MARK: - Messages

    private func receive() -> (bytes: [UInt8], files: [Int32])? {
        var files = [Int32](repeating: -1, count: Int(HALCYON_CHANNEL_FILES))
        var count: Int32 = 0
        let bytes = [UInt8](unsafeUninitializedCapacity: Self.longestRequest) { buffer, length in
            length = max(0, halcyon_channel_receive(channel, buffer.baseAddress, buffer.count, &files, &count))
        }
        return bytes.isEmpty ? nil : (bytes, Array(files.prefix(Int(count))))
    }

    private func send(_ bytes: [UInt8]) -> Bool { halcyon_channel_send(channel, bytes, bytes.count, nil, 0) == 0 }

    /// Sends an answer, and its result through the windows: two parts at once, each further one when its window is free.
    private func pass(_ result: WorkerResult, behind answer: [UInt8]) -> Bool {
        let byteCount = result.byteCount
        let parts = WorkerArena.parts(of: byteCount)
        guard let arena else { return false }
        for part in 0..<min(2, parts) { result.copy(WorkerArena.range(of: part, byteCount), to: arena.window(part)) }
        guard send(answer) else { return false }
        for part in 2..<max(2, parts) {
            guard let (bytes, files) = receive(), files.isEmpty else { return false }
            var reader = WireReader(bytes)
            guard let taken = try? reader.int(), taken == part - 2 else { return false }
            result.copy(WorkerArena.range(of: part, byteCount), to: arena.window(part))
            var encoder = KeyEncoder()
            encoder.encode(part)
            guard send(encoder.bytes) else { return false }
        }
        return true
    }

    // MARK: - Requests

    private mutating func answer(
        to request: WorkerRequest, _ file: Int32?, _ result: inout WorkerResult
    ) throws -> WorkerAnswer {
        for session in request.ended { animations[session] = nil }
        let former = planned
        planned = nil
        let context = WorkContext { [arena] in arena?.cancelled == request.number }
        switch request.work {
        case .probe: return .info(try coders.probe(try data(of: request, file)))
        case .plan:
            let data = try data(of: request, file)
            let plan = try coders.plan(data, options: request.options)
            planned = (request.number, plan, data)
            return .plan(PlanFacts(plan))
        case .decode:
            let image = try decode(request, former, file, context)
            result = WorkerResult(image.bitmap, Self.extras(of: image))
            return .image(ImageFacts(image))
        case .frame:
            let bitmap = try animation(request, file, context).frame(at: request.frame, context: context)
            result = WorkerResult(bitmap, Data())
            return .frame(isOpaque: bitmap.isOpaque)
        }
    }

    private func decode(
        _ request: WorkerRequest, _ former: (number: Int, plan: DecodePlan, data: Data)?, _ file: Int32?,
        _ context: WorkContext
    ) throws -> Image {
        if let former, former.number == request.plan {
            return try coders.decode(former.data, plan: former.plan, context: context)
        }
        return try coders.decode(try data(of: request, file), options: request.options, context: context)
    }

    /// Returns the file: mapped if it is large, otherwise in the memory that is shared. An animation needs it after the request, and
    /// therefore a copy.
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
        guard request.work != .frame else { return Data(bytes: arena.file, count: request.fileBytes) }
        return Data(bytesNoCopy: arena.file, count: request.fileBytes, deallocator: .none)
    }

    /// Returns the durations of the frames in nanoseconds, and the profile behind them.
    private static func extras(of image: Image) -> Data {
        let durations = (image.animation?.durations ?? []).map { duration -> Int64 in
            let (seconds, attoseconds) = duration.components
            return seconds * 1_000_000_000 + attoseconds / 1_000_000_000
        }
        return durations.withUnsafeBytes { Data($0) } + (image.colorProfile ?? Data())
    }

    /// Returns the animation of a request, which stays here for the next frame.
    private mutating func animation(
        _ request: WorkerRequest, _ file: Int32?, _ context: WorkContext
    ) throws -> AnimatedImage {
        if let kept = animations[request.session] { return kept }
        let image = try coders.decode(try data(of: request, file), options: request.options, context: context)
        guard let frames = image.animation else {
            throw CodecError.damaged(image.info.format, reason: "it has no frames")
        }
        let animation = frames.makeReader()
        animations[request.session] = animation
        return animation
    }
}

/// The result behind an answer: pixels, and what an image has beside them.
struct WorkerResult {
    private let bitmap: Bitmap?
    private let extras: Data

    /// Creates the result of an answer that has none.
    init() { (bitmap, extras) = (nil, Data()) }

    init(_ bitmap: Bitmap, _ extras: Data) {
        (self.bitmap, self.extras) = (bitmap, extras)
    }

    var byteCount: Int { (bitmap?.byteCount ?? 0) + extras.count }

    /// Copies a part to a window.
    func copy(_ range: Range<Int>, to window: UnsafeMutableRawPointer) {
        let pixels = bitmap?.byteCount ?? 0
        let own = range.clamped(to: 0..<pixels)
        bitmap?.withPixels { bytes in
            if let source = bytes.baseAddress { window.copyMemory(from: source + own.lowerBound, byteCount: own.count) }
        }
        let rest = range.clamped(to: pixels..<byteCount)
        extras.withUnsafeBytes { bytes in
            guard let source = bytes.baseAddress, !rest.isEmpty else { return }
            (window + own.count).copyMemory(from: source + rest.lowerBound - pixels, byteCount: rest.count)
        }
    }
}
