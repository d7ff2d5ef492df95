import CHalcyonWorker
import Foundation
import HalcyonImage
import HalcyonSystem

/// The work of a worker: it answers one request after the other, until its program has no more.
struct WorkerService {
    /// A file that arrived, mapped for as long as something reads it.
    private final class Mapping {
        let bytes: UnsafeMutableRawPointer
        let byteCount: Int

        init?(_ file: Int32, _ byteCount: Int, writable: Bool) {
            let protection = writable ? PROT_READ | PROT_WRITE : PROT_READ
            guard byteCount > 0,
                let bytes = mmap(nil, byteCount, protection, writable ? MAP_SHARED : MAP_PRIVATE, file, 0),
                bytes != MAP_FAILED
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
    private let control: UnsafePointer<Int>?
    private let channel = WorkerLaunch.Descriptor.channel
    private var animations: [Int: AnimatedImage] = [:]

    init(_ coders: CoderRegistry) {
        self.coders = coders
        let page = mmap(nil, 4096, PROT_READ, MAP_SHARED, WorkerLaunch.Descriptor.control, 0)
        control = page == MAP_FAILED ? nil : page.map { UnsafePointer($0.assumingMemoryBound(to: Int.self)) }
        close(WorkerLaunch.Descriptor.control)
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
        let failure = control == nil ? "it has no page of control" : failure
        _ = send(WorkerGreeting(coders: names, addressSpace: Int(clamping: addressSpace), failure: failure).bytes)
    }

    /// Answers requests until the program has closed its end.
    mutating func run() {
        while let (bytes, files) = receive() {
            defer { for file in files { close(file) } }
            var reader = WireReader(bytes)
            guard let request = try? WorkerRequest(&reader), !files.isEmpty else { return }
            let answer: WorkerAnswer
            do {
                answer = try self.answer(to: request, files)
            } catch {
                answer = .failure(error)
            }
            guard send(answer.bytes(to: request.number)) else { return }
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

    // MARK: - Requests

    private mutating func answer(to request: WorkerRequest, _ files: [Int32]) throws -> WorkerAnswer {
        for session in request.ended { animations[session] = nil }
        let file = Mapping(files[0], request.fileBytes, writable: false)
        let data = try file?.data ?? { throw BitmapError.outOfMemory(bytes: request.fileBytes) }()
        switch request.work {
        case .probe: return .info(try coders.probe(data))
        case .plan: return .plan(PlanFacts(try coders.plan(data, options: request.options)))
        case .decode: return .image(try decode(data, request, Array(files.dropFirst())))
        case .frame: return try frame(of: data, request, files.dropFirst().first)
        }
    }

    private func context(_ request: WorkerRequest) -> WorkContext {
        let (word, number) = (control, request.number)
        nonisolated(unsafe) let page = word
        return WorkContext { page.map { halcyon_control_read($0) == number } ?? false }
    }

    /// Decodes to the memory of the result, and writes what an image has beside its pixels behind it.
    private func decode(_ data: Data, _ request: WorkerRequest, _ files: [Int32]) throws -> ImageFacts {
        let context = context(request)
        let plan = try coders.plan(data, options: request.options)
        guard let pixels = files.first.flatMap({ Mapping($0, plan.finalSize.bitmapBytes, writable: true) }) else {
            throw BitmapError.outOfMemory(bytes: plan.finalSize.bitmapBytes)
        }
        PixelLoan.shared.begin(pixels.bytes, pixels.byteCount)
        defer { _ = PixelLoan.shared.end() }
        let image = try coders.decode(data, plan: plan, context: context)
        copy(image.bitmap, to: pixels)
        if image.animation != nil || image.colorProfile != nil {
            try writeExtras(of: image, files.dropFirst().first)
        }
        return ImageFacts(image)
    }

    /// Copies pixels, unless they were made in their place.
    private func copy(_ bitmap: Bitmap, to memory: Mapping) {
        bitmap.withPixels { pixels in
            guard let source = pixels.baseAddress, source != UnsafeRawPointer(memory.bytes) else { return }
            memory.bytes.copyMemory(from: source, byteCount: min(pixels.count, memory.byteCount))
        }
    }

    private func writeExtras(of image: Image, _ file: Int32?) throws {
        let durations = (image.animation?.durations ?? []).map { duration -> Int64 in
            let (seconds, attoseconds) = duration.components
            return seconds * 1_000_000_000 + attoseconds / 1_000_000_000
        }
        let profile = image.colorProfile ?? Data()
        let byteCount = durations.count * 8 + profile.count
        guard let extras = file.flatMap({ Mapping($0, byteCount, writable: true) }) else {
            throw BitmapError.outOfMemory(bytes: byteCount)
        }
        durations.withUnsafeBytes { bytes in
            if let source = bytes.baseAddress { extras.bytes.copyMemory(from: source, byteCount: bytes.count) }
        }
        profile.copyBytes(
            to: UnsafeMutableRawBufferPointer(start: extras.bytes + durations.count * 8, count: profile.count))
    }

    /// Draws a frame of an animation, which stays here for the next one.
    private mutating func frame(of data: Data, _ request: WorkerRequest, _ file: Int32?) throws -> WorkerAnswer {
        let context = context(request)
        let animation: AnimatedImage
        if let kept = animations[request.session] {
            animation = kept
        } else {
            let image = try coders.decode(data, options: request.options, context: context)
            guard let frames = image.animation else {
                throw CodecError.damaged(image.info.format, reason: "it has no frames")
            }
            animation = frames.makeReader()
            animations[request.session] = animation
        }
        let bitmap = try animation.frame(at: request.frame, context: context)
        guard let pixels = file.flatMap({ Mapping($0, bitmap.byteCount, writable: true) }) else {
            throw BitmapError.outOfMemory(bytes: bitmap.byteCount)
        }
        copy(bitmap, to: pixels)
        return .frame(isOpaque: bitmap.isOpaque)
    }
}
