import Foundation
import Halcyon
import HalcyonNetwork
import HalcyonSystem
import HTTPTypes
import Hummingbird
import ImageURLs
import Logging

/// The answers to all requests for pictures.
struct ImageHandler: Sendable {
    let service: ImageService
    let grammars: [any ImageURLGrammar]
    let configuration: ServerConfiguration
    let fallback: FallbackPicture?
    let metrics: ServerMetrics
    let logger: Logger
    let time: TimeSource
    let warm: WarmAnswers
    private let dates = HTTPDate.Cache()

    private static let infoPrefix = "/info/"

    /// Answers a request, with a line in the log. It never throws.
    func respond(_ request: Request, _ context: ServerRequestContext) async -> Response {
        let id = RequestID(request.headers[.requestID])
        let begin = ContinuousClock.now
        metrics.began()
        var subject = ""
        var failure: AnswerFailure?
        var response: Response
        do {
            response = try await answer(request, context, &subject)
        } catch {
            let found = AnswerFailure(error, wait: configuration.queue.waitingTime)
            failure = found
            response = found.response(id)
        }
        end(
            id, &response.head, bytes: response.body.contentLength ?? 0, to: request.head, failure, subject,
            since: begin)
        return request.method == .head ? response.createHeadResponse() : response
    }

    /// Adds the fields that all answers have, and counts and logs the answer.
    private func end(
        _ id: RequestID, _ head: inout HTTPResponse, bytes: Int, to request: HTTPRequest,
        _ failure: AnswerFailure?, _ subject: String, since begin: ContinuousClock.Instant
    ) {
        head.headerFields[.requestID] = id.description
        head.headerFields[.contentTypeOptions] = "nosniff"
        let duration = ContinuousClock.now - begin
        metrics.ended(head.status.code, duration, bytes: bytes)
        let level: Logger.Level = head.status.code >= 500 ? .error : .info
        guard level >= logger.logLevel else { return }
        // The source is told without its query, which may hold a secret.
        var fields: Logger.Metadata = [
            "request_id": "\(id)", "method": "\(request.method.rawValue)", "source": "\(subject.prefix { $0 != "?" })",
            "status": .stringConvertible(head.status.code), "bytes": .stringConvertible(bytes),
            "seconds": .stringConvertible(Double(Int((duration / .microseconds(1)).rounded())) / 1e6),
        ]
        if let failure { fields["code"] = "\(failure.code)" }
        logger.log(level: level, "\(failure?.message ?? "answered")", metadata: fields)
    }

    private func answer(
        _ request: Request, _ context: ServerRequestContext, _ subject: inout String
    ) async throws -> Response {
        let target = request.head.path ?? "/"
        guard target.utf8.count <= ImageJob.Bounds.path else { throw ImageURLError.tooLong }
        let key = warm.key(target, request.headers)
        if let recipe = key.flatMap({ warm.recipe(for: $0) }) {
            var found = answer(inMemoryOf: recipe)
            if found == nil { found = await answer(keptOf: recipe) }
            if let found {
                subject = recipe.job.source
                return fields(found, request.headers).response()
            }
        }
        let isInfo = target.hasPrefix(Self.infoPrefix)
        let (stated, ignoresQuery) = try job(at: isInfo ? String(target.dropFirst(Self.infoPrefix.count - 1)) : target)
        subject = stated.source
        if stated.isExpired(now: seconds) {
            throw AnswerFailure(404, "expired", "the URL has expired")
        }
        let wishes = ClientWishes(request.headers, usesHints: configuration.answer.usesClientHints)
        let job = wishes.applied(to: stated) { JobPlan.usualQuality($0.imageFormat, configuration.answer) }
        var fields = request.headers
        // A range counts for GET alone (RFC 9110, 14.2).
        if request.method == .head { fields[.range] = nil }
        let (headers, service) = (passed(fields), service)
        if isInfo {
            let (report, facts) = try await context.channel.whileClientWaits {
                try await service.report(on: job, at: try await service.originals.address(of: job, headers: headers))
            }
            return try info(report, facts, job)
        }
        let address: Originals.Address
        do {
            address = try await service.originals.address(of: job, headers: headers)
            var answer = try service.answer(inMemoryFor: job, at: address, accept: wishes.accept)
            if answer == nil {
                answer = try await context.channel.whileClientWaits {
                    try await service.answer(to: job, at: address, accept: wishes.accept)
                }
            }
            guard let answer else { throw CancellationError() }
            var ready = self.fields(answer, job, fields)
            let known = ready.ofJob
            ready.known = known
            // The facts of a watermark are looked at each time.
            if let key, !answer.isOriginal, ImageService.watermarks(of: job).isEmpty,
                service.originals.knownFacts(at: address)?.hash == answer.facts.hash,
                let recipe = WarmAnswers.Recipe(answer, job, address, known)
            {
                warm.insert(recipe, for: key, ignoresQuery: ignoresQuery)
            }
            return ready.response()
        } catch {
            guard let fallback else { throw error }
            let response = try await context.channel.whileClientWaits {
                try await fallback.response(
                    after: error, to: job, accept: wishes.accept, isPrivate: !headers.isEmpty, now: time.now, service,
                    configuration)
            }
            guard let response else { throw error }
            return response
        }
    }

    private func fields(_ answer: ImageAnswer, _ job: ImageJob, _ fields: HTTPFields) -> AnswerFields {
        AnswerFields(answer: answer, job: job, configuration: configuration, now: time.now, request: fields)
    }

    // MARK: - Requests that have been answered before

    /// The time by which URLs expire.
    private var seconds: Int64 { Int64(time.now.timeIntervalSince1970) }

    /// Returns how a request is answered, if it has been answered before.
    func recipe(for request: HTTPRequest) -> WarmAnswers.Recipe? {
        guard let target = request.path, target.utf8.count <= ImageJob.Bounds.path,
            let key = warm.key(target, request.headerFields)
        else { return nil }
        return warm.recipe(for: key)
    }

    func answer(inMemoryOf recipe: WarmAnswers.Recipe) -> WarmAnswers.Found? {
        warm.answer(inMemoryOf: recipe, service, now: seconds)
    }

    func answer(keptOf recipe: WarmAnswers.Recipe) async -> WarmAnswers.Found? {
        await warm.answer(keptOf: recipe, service, now: seconds)
    }

    /// Returns the whole answer to a request, with a line in the log.
    func response(
        _ found: WarmAnswers.Found, to request: HTTPRequest, since begin: ContinuousClock.Instant
    ) -> WarmResponse {
        metrics.began()
        let fields = fields(found, request.headerFields)
        var head = fields.head
        let bytes = head.status == .ok ? found.answer.bytes : nil
        end(
            RequestID(request.headerFields[.requestID]), &head, bytes: bytes?.count ?? 0, to: request,
            nil, found.recipe.job.source, since: begin)
        head.headerFields[.date] = dates.text(Date())
        head.headerFields[.server] = ServerConfiguration.HTTP.name
        return WarmResponse(head: head, body: request.method == .head ? [] : bytes?.parts ?? [])
    }

    private func fields(_ found: WarmAnswers.Found, _ fields: HTTPFields) -> AnswerFields {
        var fields = self.fields(found.answer, found.recipe.job, fields)
        fields.known = found.recipe.fields
        return fields
    }

    private func info(_ report: ImageReport, _ facts: SourceFacts, _ job: ImageJob) throws -> Response {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        let data = try encoder.encode(report)
        let rule = CacheControl([facts], ttl: configuration.answer.ttl, now: time.now).limited(by: job, now: time.now)
        var headers: HTTPFields = [.contentType: "application/json", .cacheControl: rule.text]
        headers[.vary] = ClientWishes.vary(nil, configuration)
        return Response(status: .ok, headers: headers, body: .init(byteBuffer: ByteBuffer(bytes: data)))
    }

    /// Returns the job of a URL by the first grammar that understands it and finds the address of a source in it.
    ///
    /// - Returns: also whether neither that grammar nor those before it read the URL's query.
    /// - Throws: the error of the first grammar that the URL seems to be written in.
    private func job(at target: String) throws(ImageURLError) -> (job: ImageJob, ignoresQuery: Bool) {
        var (failure, ignoresQuery): (ImageURLError?, Bool) = (nil, true)
        for grammar in grammars {
            if grammar is PlainURL { ignoresQuery = false }
            do {
                let job = try grammar.job(at: target)
                _ = try service.originals.rules.resolve(job.source)
                return (job, ignoresQuery)
            } catch {
                if failure.map({ Self.isOfAnotherGrammar($0, target) }) ?? true { failure = error }
            }
        }
        throw failure ?? .path("no grammar is configured")
    }

    /// Whether an error says that the URL is written in another grammar: the scheme of its source, or the word that begins the URLs
    /// of others, was taken for an option, or there is no source where the grammar has it.
    private static func isOfAnotherGrammar(_ error: ImageURLError, _ target: String) -> Bool {
        switch error {
        case .path, .source(.relative): true
        case .unsupported(let name): target.contains("/\(name):/") || name == "unsafe" && target.hasPrefix("/unsafe/")
        default: false
        }
    }

    private func passed(_ fields: HTTPFields) -> HTTPHeaders {
        var headers = HTTPHeaders()
        for text in configuration.source.passHeaders {
            guard let name = HTTPField.Name(text), let value = fields[name] else { continue }
            headers.set(text, value)
        }
        return headers
    }
}
