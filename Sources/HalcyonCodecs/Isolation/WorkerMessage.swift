import HalcyonImage

/// A request to a worker. The file is in the memory that both share, or, if it is large, in memory of its own beside the message.
struct WorkerRequest {
    enum Work: Int {
        /// Reads the header.
        case probe
        /// Reads the header and plans the decode.
        case plan
        /// Decodes.
        case decode
        /// Decodes frames of an animation.
        case frames
        /// Appends to a file that arrives, and makes a preview of what is there.
        case preview
        /// Rewrites in another format.
        case transcode
        /// Gives up what is not needed any more. There is no answer.
        case end
    }

    /// The most frames of a request.
    static let mostFrames = 16

    let work: Work
    /// The number by which a cancellation names the request; never 0.
    let number: Int
    let options: DecodeOptions
    /// The bytes that come with the request, or that the worker has.
    var fileBytes = 0
    /// The number of the request that has planned this decode, if it was the worker's last one: the file and the plan are still there.
    var plan = 0
    /// The most memory that a decode without a plan may take, in bytes: the worker plans, and decodes at once if that is enough.
    var mostBytes = 0
    /// Whether the program takes each part of the result when its window is full; otherwise the whole result is in the two windows.
    var isStreamed = false
    /// The animation or the arriving file of the request, which the worker keeps for the next one; 0 for none.
    var session = 0
    /// The frames, of which the worker makes as many as fit into a moment, at least one.
    var frames = 0..<0
    /// The number of bytes of an arriving file that the worker has already.
    var arrived = 0
    /// Whether the previews of an arriving file begin with its thumbnail.
    var showsThumbnail = false
    /// Whether the file is not complete: the plan, or the frames, of a preview.
    var isArriving = false
    /// The format to rewrite the file in.
    var target: ImageFormat?
    /// The time that is spent on a small file, from 0 to 1; nil for the default.
    var effort: Double?
    /// The animations and arriving files that the worker keeps no longer.
    var ended: [Int] = []

    var bytes: [UInt8] {
        var encoder = KeyEncoder()
        encoder.encode(work.rawValue)
        encoder.encode(number)
        encoder.encode(wire: options)
        encoder.encode(fileBytes)
        encoder.encode(plan)
        encoder.encode(mostBytes)
        encoder.encode(isStreamed)
        encoder.encode(session)
        encoder.encode(frames.lowerBound)
        encoder.encode(frames.count)
        encoder.encode(arrived)
        encoder.encode(showsThumbnail)
        encoder.encode(isArriving)
        encoder.encode(target != nil)
        if let target { encoder.encode(wire: target) }
        encoder.encode(effort != nil)
        if let effort { encoder.encode(effort) }
        encoder.encode(ended.count)
        for session in ended { encoder.encode(session) }
        return encoder.bytes
    }

    init(_ work: Work, number: Int, options: DecodeOptions) {
        (self.work, self.number, self.options) = (work, number, options)
    }

    init(_ reader: inout WireReader) throws {
        guard let work = Work(rawValue: try reader.int()) else { throw WireError.invalid("a request") }
        self.work = work
        number = try reader.int()
        options = try reader.options()
        fileBytes = try reader.int(0...Int.max)
        plan = try reader.int()
        mostBytes = try reader.int()
        isStreamed = try reader.bool()
        session = try reader.int()
        let first = try reader.int(0...Int(Int32.max))
        frames = first..<first + (try reader.int(0...Self.mostFrames))
        arrived = try reader.int(0...Int.max)
        showsThumbnail = try reader.bool()
        isArriving = try reader.bool()
        target = try reader.bool() ? reader.format() : nil
        effort = try reader.bool() ? reader.double() : nil
        ended = try (0..<reader.int(0...1024)).map { _ in try reader.int() }
    }
}

/// The part of a plan that only the worker knows.
struct PlanFacts {
    var info: ImageInfo
    let nativeSize: PixelSize
    let workingBytes: Int
    /// The size of the gain map that is decoded with the picture; nil for none.
    let gainMapSize: PixelSize?
    /// Whether colours are converted to sRGB.
    let convertsColor: Bool
    /// The colour space of the deep pixels; nil if there are none.
    let deepSpace: NamedColorSpace?

    func encode(into encoder: inout KeyEncoder) {
        encoder.encode(wire: info)
        encoder.encode(nativeSize)
        encoder.encode(workingBytes)
        encoder.encode(gainMapSize != nil)
        if let gainMapSize { encoder.encode(gainMapSize) }
        encoder.encode(convertsColor)
        encoder.encode(deepSpace?.rawValue ?? "")
    }

    init(_ plan: DecodePlan) {
        info = plan.picture ?? plan.info
        (nativeSize, workingBytes, gainMapSize) = (plan.nativeSize, plan.workingBytes, plan.gainMap?.size)
        (convertsColor, deepSpace) = (plan.convertsColor, plan.depth?.colorSpace)
    }

    init(_ reader: inout WireReader) throws {
        info = try reader.info()
        (nativeSize, workingBytes) = (try reader.size(), try reader.int(0...Int.max))
        gainMapSize = try reader.bool() ? reader.size() : nil
        (convertsColor, deepSpace) = (try reader.bool(), try reader.colorSpace())
    }
}

/// The facts of a decoded image beside its pixels, behind which its deep pixels, its durations, its profile and its gain map follow.
struct ImageFacts {
    let info: ImageInfo
    let size: PixelSize
    let isOpaque: Bool
    /// The number of frames; 0 for an image that has no animation.
    let frameCount: Int
    let loopCount: Int
    /// The length of the ICC profile; nil if there is none.
    let profileBytes: Int?
    /// Whether the deep pixels, which follow the others, are opaque; nil if there are none.
    let isDeepOpaque: Bool?
    /// The gain map; nil if there is none.
    let gainMap: GainMapFacts?

    func encode(into encoder: inout KeyEncoder) {
        encoder.encode(wire: info)
        encoder.encode(size)
        encoder.encode(isOpaque)
        encoder.encode(frameCount)
        encoder.encode(loopCount)
        encoder.encode(profileBytes)
        encoder.encode(isDeepOpaque != nil)
        encoder.encode(isDeepOpaque ?? false)
        encoder.encode(gainMap != nil)
        gainMap?.encode(into: &encoder)
    }

    /// The facts of a still image whose rows were passed on as they were decoded.
    init(still plan: DecodePlan, profileBytes: Int?) {
        (info, size, isOpaque) = (plan.info, plan.finalSize, !plan.info.hasAlpha)
        (frameCount, loopCount, self.profileBytes, isDeepOpaque, gainMap) = (0, 0, profileBytes, nil, nil)
    }

    init(_ image: Image) {
        (info, size, isOpaque) = (image.info, image.size, image.bitmap.isOpaque)
        (frameCount, loopCount) = (image.animation?.frameCount ?? 0, image.animation?.loopCount ?? 0)
        profileBytes = image.colorProfile?.count
        isDeepOpaque = image.deepBitmap?.isOpaque
        gainMap = image.gainMap.map { GainMapFacts($0) }
    }

    /// Returns the number of bytes behind the pixels: eight for each frame, a profile if colours are not converted, and a gain map.
    ///
    /// - Throws: `WireError`.
    func extraBytes(by plan: DecodePlan, within limits: DecodeLimits) throws -> Int {
        if frameCount > 0 {
            guard info.isAnimated, plan.frames != .first, (2...info.frameCount).contains(frameCount) else {
                throw WireError.invalid("\(frameCount) frames")
            }
        }
        let profile = profileBytes ?? 0
        guard profile == 0 || (!plan.convertsColor && profile <= limits.maximumMetadataBytes) else {
            throw WireError.invalid("a profile of \(profile) bytes")
        }
        let bytes = profile.adding(8, times: frameCount)
        guard bytes <= WorkerResult.mostExtraBytes else { throw WireError.invalid("\(bytes) bytes behind the pixels") }
        guard let gainMap else { return bytes }
        let mapProfile = gainMap.profileBytes ?? 0
        guard gainMap.size == plan.gainMap?.size, mapProfile <= limits.maximumMetadataBytes else {
            throw WireError.invalid("a gain map that was not planned")
        }
        return bytes.adding(1, times: gainMap.size.bitmapBytes).adding(1, times: mapProfile)
    }

    init(_ reader: inout WireReader) throws {
        info = try reader.info()
        size = try reader.size()
        isOpaque = try reader.bool()
        frameCount = try reader.int(0...Int.max)
        loopCount = try reader.int(0...Int.max)
        profileBytes = try reader.optionalInt()
        let (hasDepth, isOpaque) = (try reader.bool(), try reader.bool())
        isDeepOpaque = hasDepth ? isOpaque : nil
        gainMap = try reader.bool() ? GainMapFacts(&reader) : nil
    }
}

/// The facts of a gain map beside its pixels, behind which its profile follows.
struct GainMapFacts {
    let size: PixelSize
    let isMonochrome: Bool
    let metadata: GainMap.Metadata
    /// The length of its ICC profile; nil if there is none.
    let profileBytes: Int?

    func encode(into encoder: inout KeyEncoder) {
        encoder.encode(size)
        encoder.encode(isMonochrome)
        encoder.encode(profileBytes)
        for channel in metadata.channels {
            let numbers = [
                channel.minimum, channel.maximum, channel.gamma, channel.baseOffset, channel.alternateOffset,
            ]
            for number in numbers { encoder.encode(number) }
        }
        encoder.encode(metadata.baseHeadroom)
        encoder.encode(metadata.alternateHeadroom)
        encoder.encode(metadata.usesBaseColorSpace)
    }

    init(_ map: GainMap) {
        (size, isMonochrome, metadata) = (map.size, map.isMonochrome, map.metadata)
        profileBytes = map.colorProfile?.count
    }

    init(_ reader: inout WireReader) throws {
        size = try reader.size()
        isMonochrome = try reader.bool()
        profileBytes = try reader.optionalInt()
        let channels = try (0..<3).map { _ in
            GainMap.Channel(
                minimum: try reader.double(), maximum: try reader.double(), gamma: try reader.double(),
                baseOffset: try reader.double(), alternateOffset: try reader.double())
        }
        let metadata = GainMap.Metadata(
            red: channels[0], green: channels[1], blue: channels[2], baseHeadroom: try reader.double(),
            alternateHeadroom: try reader.double(), usesBaseColorSpace: try reader.bool())
        guard let metadata else { throw WireError.invalid("a gain map without a meaning") }
        self.metadata = metadata
    }
}

/// The facts of a step of an arriving file.
struct PreviewFacts {
    /// The number of scans that the preview shows, if the file has scans.
    var scans: Int?
    /// The processor time that reading what is new took, in nanoseconds.
    var reading = 0
    /// The processor time that drawing the preview took, in nanoseconds.
    var drawing = 0

    func encode(into encoder: inout KeyEncoder) {
        encoder.encode(scans)
        encoder.encode(reading)
        encoder.encode(drawing)
    }

    init() {}

    init(_ reader: inout WireReader) throws {
        let day = 86_400_000_000_000
        scans = try reader.optionalInt()
        reading = try reader.int(0...day)
        drawing = try reader.int(0...day)
    }
}

/// The answer of a worker, which begins with the number of its request. The result is in the windows by then, but for the parts
/// that were passed before.
enum WorkerAnswer {
    case info(ImageInfo)
    case plan(PlanFacts)
    case image(ImageFacts)
    /// An image that was decoded without an earlier plan.
    case planned(PlanFacts, ImageFacts)
    /// Whether each of the frames is opaque.
    case frames([Bool])
    /// The number of bytes of a file that was rewritten.
    case bytes(Int)
    /// A preview; nil if there is nothing new to show.
    case preview(ImageFacts?, PreviewFacts)
    case failure(any Error)
    /// A window is full, and the answer comes later.
    case part(Int)

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
        case .frames(let areOpaque):
            encoder.encode(2)
            encoder.encode(areOpaque.count)
            for isOpaque in areOpaque { encoder.encode(isOpaque) }
        case .failure(let error):
            encoder.encode(3)
            encoder.encode(wire: error)
        case .info(let info):
            encoder.encode(4)
            encoder.encode(wire: info)
        case .part(let part):
            encoder.encode(5)
            encoder.encode(part)
        case .planned(let plan, let image):
            encoder.encode(6)
            plan.encode(into: &encoder)
            image.encode(into: &encoder)
        case .preview(let image, let facts):
            encoder.encode(7)
            facts.encode(into: &encoder)
            encoder.encode(image != nil)
            image?.encode(into: &encoder)
        case .bytes(let count):
            encoder.encode(8)
            encoder.encode(count)
        }
        return encoder.bytes
    }

    init(_ bytes: [UInt8], to number: Int) throws {
        var reader = WireReader(bytes)
        guard try reader.int() == number else { throw WireError.invalid("an answer to another request") }
        switch try reader.int() {
        case 0: self = .plan(try PlanFacts(&reader))
        case 1: self = .image(try ImageFacts(&reader))
        case 2: self = .frames(try (0..<reader.int(1...WorkerRequest.mostFrames)).map { _ in try reader.bool() })
        case 3: self = .failure(try reader.error())
        case 4: self = .info(try reader.info())
        case 5: self = .part(try reader.int(0...Int.max))
        case 6: self = .planned(try PlanFacts(&reader), try ImageFacts(&reader))
        case 7:
            let facts = try PreviewFacts(&reader)
            self = .preview(try reader.bool() ? try ImageFacts(&reader) : nil, facts)
        case 8: self = .bytes(try reader.int(0...Int.max))
        default: throw WireError.invalid("an unknown answer")
        }
        guard reader.isAtEnd else { throw WireError.invalid("more than an answer") }
    }
}

/// The first message of a worker: what it is, or why it could not lock itself in.
struct WorkerGreeting {
    /// Raised with every change of the messages: a worker of another version is of no use.
    static let version = 5

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
