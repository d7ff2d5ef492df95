import Foundation
import Halcyon
import HalcyonCache
import HalcyonSystem
import ImageURLs
import NIOPosix
import Synchronization

/// An encoded answer, and what its fields depend on.
struct ImageAnswer: Sendable {
    let bytes: AnswerBytes
    let format: ImageFormat
    let isOriginal: Bool
    let facts: SourceFacts
    /// The facts of the other sources that are in it: watermarks with a URL.
    var others: [SourceFacts] = []
    /// The share of an original's bytes, which last until the client has taken them.
    var share: HeldBytes.Share?
    /// The place of an encoding in the caches; nil for originals.
    var place: Place?

    /// The request and the encoding by which the caches know an answer, and the key of both.
    struct Place: Sendable {
        let request: ImageRequest
        let encoding: ImageEncoding
        let key: ImageService.AnswerKey
    }
}

/// The way from a job to an answer: the facts of its source, a plan, and the first place that has the answer: memory, the disk, or the
/// work itself, behind a queue.
final class ImageService: Sendable {
    /// The key of an answer, whose hash is computed once.
    struct AnswerKey: Hashable {
        private let image: ImageKey
        private let encoding: ImageEncoding
        let hashValue: Int

        init(image: ImageKey, encoding: ImageEncoding) {
            var hasher = Hasher()
            hasher.combine(image)
            hasher.combine(encoding)
            (self.image, self.encoding, hashValue) = (image, encoding, hasher.finalize())
        }

        func hash(into hasher: inout Hasher) {
            hasher.combine(hashValue)
        }
    }

    private typealias Expectation = CostQueue<AnswerKey>.Expectation

    let pipeline: ImagePipeline
    let originals: Originals
    /// The places of decodes and encodes, by their pixels.
    let work: CostQueue<AnswerKey>
    /// The memory that an answer takes beside its bytes, about.
    private static let answerCost = 1024

    /// The answers that the disk or the machines' store had.
    let keptAnswers = Atomic(0)
    private let configuration: ServerConfiguration
    /// The bytes of answers in memory. All that the setting grants is theirs.
    let answers: MemoryCache<AnswerKey, AnswerBytes>
    private let reports: MemoryCache<String, ImageReport>
    private let trims: MemoryCache<TrimKey, Trimmed>
    private let marks: MemoryCache<String, WatermarkPicture>
    /// The server's own watermark; nil if there is none.
    private let ownMark: LocalPicture?

    init(
        _ pipeline: ImagePipeline, _ configuration: ServerConfiguration, rules: SourceRules, time: TimeSource = .system
    ) throws {
        (self.pipeline, self.configuration) = (pipeline, configuration)
        originals = try Originals(pipeline, configuration, rules: rules, time: time)
        let queue = configuration.queue
        work = CostQueue(
            limits: CostQueueLimits(
                working: queue.pixels, waitingCount: queue.waiting, waitingCost: queue.waitingPixels,
                waitingTime: queue.waitingTime, standingCost: queue.pixels / 4, burstTime: queue.burstTime),
            time: time)
        answers = MemoryCache(
            configuration: MemoryCacheConfiguration(costLimit: configuration.cache.memoryBytes), timeSource: time)
        marks = MemoryCache(
            configuration: MemoryCacheConfiguration(costLimit: 16 << 20, timeToLive: .seconds(3600)), timeSource: time)
        ownMark = try configuration.answer.watermark.map {
            try LocalPicture(
                path: $0, key: "answer.watermark", maximumBytes: configuration.source.maximumBytes)
        }
        trims = MemoryCache(
            configuration: MemoryCacheConfiguration(costLimit: 2 << 20, timeToLive: .seconds(3600)), timeSource: time)
        reports = MemoryCache(
            configuration: MemoryCacheConfiguration(costLimit: 8 << 20, timeToLive: .seconds(3600)), timeSource: time)
    }

    /// Returns an answer that is in memory; nil if there is none. Nothing waits.
    ///
    /// - Throws: `ImageURLError` for a job that no source suits.
    func answer(inMemoryFor job: ImageJob, at address: Originals.Address, accept: AcceptField) throws -> ImageAnswer? {
        guard let facts = originals.knownFacts(at: address) else { return nil }
        if !job.raw, !Self.watermarks(of: job).isEmpty { return nil }
        var trimmed: PixelRect?
        if let trim = Self.trim(of: job, facts) {
            guard let known = trims.value(for: TrimKey(facts, trim, job)) else { return nil }
            trimmed = known.part
        }
        let plan = try plan(job, facts, trimmed, [:], accept)
        guard !plan.isOriginal else { return nil }
        let (request, key) = request(for: plan, facts, address)
        return answers.value(for: key).map {
            ImageAnswer(
                bytes: $0, format: plan.format(of: $0), isOriginal: false, facts: facts,
                place: .init(request: request, encoding: plan.encoding, key: key))
        }
    }

    /// Returns the answer to a job.
    ///
    /// - Throws: `ImageURLError`, `ImagePipelineError`, `CostQueueRefusal`, `CancellationError`.
    func answer(to job: ImageJob, at address: Originals.Address, accept: AcceptField) async throws -> ImageAnswer {
        do {
            return try await attempt(job, address, accept)
        } catch  where Originals.Failure(error) == .changed {
            // The source has changed behind the facts: once more, with those of its present bytes.
            return try await attempt(job, address, accept)
        }
    }

    private func attempt(
        _ job: ImageJob, _ address: Originals.Address, _ accept: AcceptField
    ) async throws -> ImageAnswer {
        let pictures = Self.watermarks(of: job).count
        guard job.raw || pictures <= Self.maximumWatermarks else {
            throw ImageURLError.unsupported("watermark of \(pictures) pictures")
        }
        var expectation: Expectation?
        let facts = try await originals.facts(
            at: address, beforeWaiting: { if !job.raw { try work.check() } },
            beforeTransfer: { if !job.raw { expectation = try work.expect() } })
        let part = try await trimmed(job, facts, address, expectation)
        let (marks, others) = try await watermarks(of: job, expectation)
        let plan = try plan(job, facts, part, marks, accept)
        if plan.isOriginal {
            let original = try await originals.original(of: facts, at: address)
            let share = try originals.sentBytes.share(original.data.count)
            let bytes = AnswerBytes(original: original)
            return ImageAnswer(
                bytes: bytes, format: plan.format(of: bytes), isOriginal: true, facts: facts, share: share)
        }
        let isStored = !([facts] + others).contains { $0.freshness.isNotStored }
        let (request, key) = request(for: plan, facts, address)
        let place = ImageAnswer.Place(request: request, encoding: plan.encoding, key: key)
        let bytes = try await bytes(at: place, cost: plan.cost, facts, address, expectation, isStored: isStored)
        return ImageAnswer(
            bytes: bytes, format: plan.format(of: bytes), isOriginal: false, facts: facts, others: others,
            place: isStored ? place : nil)
    }

    private func plan(
        _ job: ImageJob, _ facts: SourceFacts, _ trimmed: PixelRect?,
        _ watermarks: [ImageJob.Watermark.Picture: WatermarkPicture], _ accept: AcceptField
    ) throws -> JobPlan {
        try JobPlan(
            job, facts, trimmed: trimmed, watermarks: watermarks, accept: accept, coders: pipeline.configuration.coders,
            configuration: configuration)
    }

    // MARK: - Watermarks

    static func watermarks(of job: ImageJob) -> Set<ImageJob.Watermark.Picture> {
        var pictures = Set(
            job.effects.compactMap { effect in
                if case .watermark(let watermark) = effect { watermark.picture } else { nil }
            })
        if let watermark = job.watermark { pictures.insert(watermark.picture) }
        return pictures
    }

    /// The maximum number of pictures that a job lays on others: they are held, 16 MiB each at most, while the job waits.
    private static let maximumWatermarks = 4

    /// Returns the pictures that a job lays on others, at most 2,048 pixels wide and high, and the facts of those with a URL.
    private func watermarks(
        of job: ImageJob, _ expectation: Expectation?
    ) async throws -> ([ImageJob.Watermark.Picture: WatermarkPicture], [SourceFacts]) {
        var (found, sources): ([ImageJob.Watermark.Picture: WatermarkPicture], [SourceFacts]) = ([:], [])
        guard !job.raw else { return (found, sources) }
        for picture in Self.watermarks(of: job) {
            let address: Originals.Address
            switch picture {
            case .url(let source): address = try await originals.address(of: ImageJob(source: source), headers: [:])
            case .configured:
                guard let ownMark else { throw ImageURLError.unsupported("watermark") }
                address = try await ownMark.address(for: ImageJob(source: ""), configuration.source)
            }
            let facts = try await originals.facts(at: address)
            found[picture] = try await watermark(facts, address, expectation)
            // The server's own one is a setting, which lasts.
            if case .url = picture { sources.append(facts) }
        }
        return (found, sources)
    }

    private func watermark(
        _ facts: SourceFacts, _ address: Originals.Address, _ expectation: Expectation?
    ) async throws -> WatermarkPicture {
        if let known = marks.value(for: facts.hash) { return known }
        var request = originals.request(for: facts, at: address)
        request.decode = address.request.decode
        request.decode.target = TargetSize(PixelSize(2048, 2048))
        request.decode.firstFrameOnly = true
        let image = try await worked(
            request, facts, address, cost: facts.pixels(firstFrameOnly: true), expectation: expectation, isLast: false
        ) {
            [pipeline] in try await pipeline.image(for: $0)
        }
        let picture = WatermarkPicture(hash: facts.hash, image: image)
        marks.insert(picture, for: facts.hash, cost: image.bitmap.byteCount)
        return picture
    }

    // MARK: - Borders

    private struct TrimKey: Hashable {
        let hash: String
        let trim: ImageJob.Trim
        /// The turns from an upright picture to the pixels that are looked at.
        let orientation: Orientation

        init(_ facts: SourceFacts, _ trim: ImageJob.Trim, _ job: ImageJob) {
            (hash, self.trim) = (facts.hash, trim)
            orientation = job.autoRotate ? .up : facts.info.orientation.inverse
        }
    }

    private struct Trimmed {
        let part: PixelRect?
    }

    /// The border that a job removes; nil for none, and for animations, whose frames have different ones.
    private static func trim(of job: ImageJob, _ facts: SourceFacts) -> ImageJob.Trim? {
        facts.info.isAnimated || job.raw ? nil : job.trim
    }

    /// Returns the part of a source without the border that a job removes: known by the hash of the bytes, or found in all pixels.
    private func trimmed(
        _ job: ImageJob, _ facts: SourceFacts, _ address: Originals.Address, _ expectation: Expectation?
    ) async throws -> PixelRect? {
        guard let trim = Self.trim(of: job, facts) else { return nil }
        let key = TrimKey(facts, trim, job)
        if let known = trims.value(for: key) { return known.part }
        var request = originals.request(for: facts, at: address)
        request.decode = address.request.decode
        let part = try await worked(
            request, facts, address, cost: facts.pixels(firstFrameOnly: true), expectation: expectation, isLast: false
        ) {
            [pipeline] request in
            let image = try await pipeline.image(for: request)
            return try await NIOThreadPool.singleton.runIfActive {
                BorderTrim.part(of: try image.bitmap.oriented(key.orientation), trim)
            }
        }
        trims.insert(Trimmed(part: part), for: key, cost: 128)
        return part
    }

    private func request(
        for plan: JobPlan, _ facts: SourceFacts, _ address: Originals.Address
    ) -> (ImageRequest, AnswerKey) {
        var request = originals.request(for: facts, at: address)
        request.decode = plan.decode
        request.processors = plan.processors
        return (request, AnswerKey(image: pipeline.key(for: request), encoding: plan.encoding))
    }

    /// Returns the encoding that the disk or the machines' store has, which is in memory from then on; nil if there is none.
    func kept(at place: ImageAnswer.Place) async -> AnswerBytes? {
        guard let kept = await pipeline.cachedEncodedImage(for: place.request, as: place.encoding) else { return nil }
        keptAnswers.add(1, ordering: .relaxed)
        return remembered(kept, at: place)
    }

    private func remembered(_ encoded: EncodedImage, at place: ImageAnswer.Place) -> AnswerBytes {
        let bytes = AnswerBytes(made: encoded)
        answers.insert(bytes, for: place.key, cost: bytes.cost + Self.answerCost)
        return bytes
    }

    private func bytes(
        at place: ImageAnswer.Place, cost: Int, _ facts: SourceFacts, _ address: Originals.Address,
        _ expectation: Expectation?, isStored: Bool
    ) async throws -> AnswerBytes {
        if let known = answers.value(for: place.key) { return known }
        let kept = await kept(at: place)
        try Task.checkCancellation()
        if let kept { return kept }
        let made = try await worked(
            place.request, facts, address, as: place.encoding, cost: cost, expectation: expectation
        ) {
            [pipeline] in try await pipeline.encodedImage(for: $0, as: place.encoding)
        }
        return isStored ? remembered(made, at: place) : AnswerBytes(made: made)
    }

    /// Does work on the bytes of a source in a place of the queue.
    ///
    /// A place is never held while the source's server is waited for: bytes that no cache has any more are fetched before, and held.
    private func worked<Value: Sendable>(
        _ request: ImageRequest, _ facts: SourceFacts, _ address: Originals.Address,
        as encoding: ImageEncoding = .original, cost: Int, expectation: Expectation? = nil, isLast: Bool = true,
        _ body: @Sendable (ImageRequest) async throws -> Value
    ) async throws -> Value {
        let key = AnswerKey(image: pipeline.key(for: request), encoding: encoding)
        func place(for facts: SourceFacts, _ request: ImageRequest) async throws -> Value {
            try await originals.holding(facts) {
                try await work.withPlace(for: key, cost: cost, expectation: expectation, isLast: isLast) {
                    try await body(request)
                }
            }
        }
        do {
            return try await place(for: facts, request)
        } catch  where Originals.Failure(error) == .notKept {
            var (held, again) = (facts, request)
            held.original = try await originals.original(of: facts, at: address)
            again.source = originals.request(for: held, at: address).source
            return try await place(for: held, again)
        }
    }

    // MARK: - Reports

    /// Returns the facts about a job's source for `/info`.
    func report(on job: ImageJob, at address: Originals.Address) async throws -> (ImageReport, SourceFacts) {
        let facts = try await originals.facts(at: address)
        if let known = reports.value(for: facts.hash) { return (known, facts) }
        var request = originals.request(for: facts, at: address)
        request.decode = address.request.decode
        request.decode.target = TargetSize(PixelSize(128, 128))
        request.decode.firstFrameOnly = true
        let image = try await worked(request, facts, address, cost: facts.pixels(firstFrameOnly: true)) {
            [pipeline] in try await pipeline.image(for: $0)
        }
        let report = ImageReport(facts.info, thumbnail: image)
        reports.insert(report, for: facts.hash, cost: 512)
        return (report, facts)
    }
}
