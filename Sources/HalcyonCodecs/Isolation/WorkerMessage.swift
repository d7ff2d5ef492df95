import HalcyonImage

/// A request to a worker. The file is in the memory that both share, or, if it is large, in memory of its own beside the message.
struct WorkerRequest {
    enum Work: Int {
        /// Reads the header.
        case probe
        /// Reads the header and plans the decode.
        case plan
        /// Decodes; the pixels follow the answer.
        case decode
        /// Decodes a frame of an animation; its pixels follow the answer.
        case frame
    }

    let work: Work
    /// The number by which a cancellation names the request; never 0.
    let number: Int
    let options: DecodeOptions
    let fileBytes: Int
    /// The number of the request that has planned this decode, if it was the worker's last one: the file and the plan are still there.
    var plan = 0
    /// The animation that a frame is of, which the worker keeps for the next frame; 0 for none.
    var session = 0
    var frame = 0
    /// The animations that the worker keeps no longer.
    var ended: [Int] = []

    var bytes: [UInt8] {
        var encoder = KeyEncoder()
        encoder.encode(work.rawValue)
        encoder.encode(number)
        encoder.encode(wire: options)
        encoder.encode(fileBytes)
        encoder.encode(plan)
        encoder.encode(session)
        encoder.encode(frame)
        encoder.encode(ended.count)
        for session in ended { encoder.encode(session) }
        return encoder.bytes
    }

    init(_ work: Work, number: Int, options: DecodeOptions, fileBytes: Int) {
        (self.work, self.number, self.options, self.fileBytes) = (work, number, options, fileBytes)
    }

    init(_ reader: inout WireReader) throws {
        guard let work = Work(rawValue: try reader.int()) else { throw WireError.invalid("a request") }
        self.work = work
        number = try reader.int()
        options = try reader.options()
        fileBytes = try reader.int()
        plan = try reader.int()
        session = try reader.int()
        frame = try reader.int()
        ended = try (0..<reader.int(0...1024)).map { _ in try reader.int() }
    }
}

/// The part of a plan that only the worker knows.
struct PlanFacts {
    let info: ImageInfo
    let nativeSize: PixelSize
    let workingBytes: Int

    func encode(into encoder: inout KeyEncoder) {
        encoder.encode(wire: info)
        encoder.encode(nativeSize)
        encoder.encode(workingBytes)
    }

    init(_ plan: DecodePlan) {
        info = plan.picture ?? plan.info
        (nativeSize, workingBytes) = (plan.nativeSize, plan.workingBytes)
    }

    init(_ reader: inout WireReader) throws {
        info = try reader.info()
        nativeSize = try reader.size()
        workingBytes = try reader.int(0...Int.max)
    }
}

/// The facts of a decoded image beside its pixels, behind which its durations and its profile follow.
struct ImageFacts {
    let info: ImageInfo
    let size: PixelSize
    let isOpaque: Bool
    /// The number of frames; 0 for an image that has no animation.
    let frameCount: Int
    let loopCount: Int
    /// The length of the ICC profile; nil if there is none.
    let profileBytes: Int?

    func encode(into encoder: inout KeyEncoder) {
        encoder.encode(wire: info)
        encoder.encode(size)
        encoder.encode(isOpaque)
        encoder.encode(frameCount)
        encoder.encode(loopCount)
        encoder.encode(profileBytes)
    }

    init(_ image: Image) {
        (info, size, isOpaque) = (image.info, image.size, image.bitmap.isOpaque)
        (frameCount, loopCount) = (image.animation?.frameCount ?? 0, image.animation?.loopCount ?? 0)
        profileBytes = image.colorProfile?.count
    }

    init(_ reader: inout WireReader) throws {
        info = try reader.info()
        size = try reader.size()
        isOpaque = try reader.bool()
        frameCount = try reader.int(0...Int.max)
        loopCount = try reader.int(0...Int.max)
        profileBytes = try reader.optionalInt()
    }
}

/// The answer of a worker, which begins with the number of its request.
enum WorkerAnswer {
    case info(ImageInfo)
    case plan(PlanFacts)
    case image(ImageFacts)
    case frame(isOpaque: Bool)
    case failure(any Error)

    /// Whether pixels follow.
    var hasResult: Bool {
        switch self {
        case .image, .frame: true
        case .info, .plan, .failure: false
        }
    }

    func bytes(to number: Int) -> [UInt8] {
        var encoder = KeyEncoder()
        encoder.encode(number)
        switch self {
        case .plan(let facts):
            encoder.encode(0)
            facts.encode(into: &encoder)
        case .image(let facts):
            encoder.encode(1)
            facts.encode(into: &encoder)
        case .frame(let isOpaque):
            encoder.encode(2)
            encoder.encode(isOpaque)
        case .failure(let error):
            encoder.encode(3)
            encoder.encode(wire: error)
        case .info(let info):
            encoder.encode(4)
            encoder.encode(wire: info)
        }
        return encoder.bytes
    }

    init(_ bytes: [UInt8], to number: Int) throws {
        var reader = WireReader(bytes)
        guard try reader.int() == number else { throw WireError.invalid("an answer to another request") }
        switch try reader.int() {
        case 0: self = .plan(try PlanFacts(&reader))
        case 1: self = .image(try ImageFacts(&reader))
        case 2: self = .frame(isOpaque: try reader.bool())
        case 3: self = .failure(try reader.error())
        case 4: self = .info(try reader.info())
        default: throw WireError.invalid("an unknown answer")
        }
        guard reader.isAtEnd else { throw WireError.invalid("more than an answer") }
    }
}

/// The first message of a worker: what it is, or why it could not lock itself in.
struct WorkerGreeting {
    /// Raised with every change of the messages: a worker of another version is of no use.
    static let version = 1

    /// The coders, by the names of their types.
    let coders: [String]
    /// The address space of the worker before it has read anything, in bytes; 0 if unknown.
    let addressSpace: Int
    /// The reason why it is of no use.
    let failure: String?

    var bytes: [UInt8] {
        var encoder = KeyEncoder()
        encoder.encode(Self.version)
        encoder.encode(failure ?? "")
        encoder.encode(addressSpace)
        encoder.encode(coders.count)
        for name in coders { encoder.encode(name) }
        return encoder.bytes
    }

    init(coders: [String], addressSpace: Int, failure: String?) {
        (self.coders, self.addressSpace, self.failure) = (coders, addressSpace, failure)
    }

    init(_ bytes: [UInt8]) throws {
        var reader = WireReader(bytes)
        guard try reader.int() == Self.version else { throw WireError.invalid("it is of another version of Halcyon") }
        let failure = try reader.text()
        self.failure = failure.isEmpty ? nil : failure
        addressSpace = try reader.int(0...Int.max)
        coders = try (0..<reader.int(0...1024)).map { _ in try reader.text() }
    }
}
