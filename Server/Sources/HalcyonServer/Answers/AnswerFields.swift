import Foundation
import Halcyon
import HTTPTypes
import Hummingbird
import ImageURLs
import NIOConcurrencyHelpers

/// The HTTP answer with a picture: its status, fields and the part of the body that was asked for.
struct AnswerFields {
    let answer: ImageAnswer
    let job: ImageJob
    let configuration: ServerConfiguration
    /// The time of the answer.
    let now: Date
    /// The fields of the request.
    let request: HTTPFields
    /// The fields that depend on the job and the settings alone, where they are known already.
    var known: Known?

    /// The fields that depend on the job and the settings alone.
    struct Known: Sendable {
        let disposition: String
        let vary: String?
        /// Whether the answer may say when its source changed last. One with a watermark may change alone.
        let tellsLastModified: Bool
    }

    /// Scripts in a vector run nowhere, and it loads nothing.
    static let vectorPolicy = "default-src 'none'; style-src 'unsafe-inline'; img-src data:; sandbox"

    /// The head of an answer with all bytes, or of one without if the client has them.
    var head: HTTPResponse {
        let bytes = answer.bytes
        var headers = fields
        if isKnown { return HTTPResponse(status: .notModified, headerFields: headers) }
        headers[.contentType] = bytes.mediaType
        headers[.contentLength] = String(bytes.count)
        headers[.contentDisposition] = (known ?? ofJob).disposition
        if bytes.mediaType == ImageFormat.svg.mimeType { headers[.contentSecurityPolicy] = Self.vectorPolicy }
        return HTTPResponse(status: .ok, headerFields: headers)
    }

    func response() -> Response {
        let (bytes, head) = (answer.bytes, head)
        var headers = head.headerFields
        if head.status == .notModified { return Response(status: .notModified, headers: headers) }
        guard answer.isOriginal else { return Response(status: .ok, headers: headers, body: bytes.body()) }
        headers[.contentLength] = nil
        headers[.acceptRanges] = "bytes"
        switch ByteRange(request[.range], ifRange: request[.ifRange], etag: bytes.etag, count: bytes.count) {
        case .whole: return Response(status: .ok, headers: headers, body: bytes.body(share: answer.share))
        case .part(let part):
            headers[.contentRange] = "bytes \(part.lowerBound)-\(part.upperBound - 1)/\(bytes.count)"
            return Response(
                status: .partialContent, headers: headers, body: bytes.body(part: part, share: answer.share))
        case .unsatisfiable:
            headers[.contentRange] = "bytes */\(bytes.count)"
            return Response(status: .rangeNotSatisfiable, headers: headers)
        }
    }

    /// The fields that a 304 has as well.
    private var fields: HTTPFields {
        let rule = CacheControl([answer.facts] + answer.others, ttl: configuration.answer.ttl, now: now)
            .limited(by: job, now: now)
        var headers: HTTPFields = [.eTag: answer.bytes.etag, .cacheControl: rule.text]
        headers[.vary] = (known ?? ofJob).vary
        if configuration.answer.usesClientHints { headers[.acceptClientHints] = "Sec-CH-DPR, Sec-CH-Width" }
        if let lastModified { headers[.lastModified] = HTTPDate.text(lastModified) }
        return headers
    }

    private var isKnown: Bool {
        if let tags = request[.ifNoneMatch] { return answer.bytes.matches(ifNoneMatch: tags) }
        return lastModified.map { request[.ifModifiedSince] == HTTPDate.text($0) } ?? false
    }

    private var lastModified: Date? { (known ?? ofJob).tellsLastModified ? answer.facts.lastModified : nil }

    var ofJob: Known {
        let name = job.filename ?? Self.name(of: job.source)
        let disposition = ContentDisposition(isAttachment: job.attachment, name: name)
        return Known(
            disposition: disposition.value(fileExtension: answer.format.fileExtension),
            vary: ClientWishes.vary(job, configuration),
            tellsLastModified: configuration.answer.sendsLastModified && ImageService.watermarks(of: job).isEmpty)
    }

    /// The last part of a source's path, decoded.
    private static func name(of source: String) -> String {
        let path = source.prefix { $0 != "?" && $0 != "#" }
        let last = path.split(separator: "/").last.map(String.init) ?? ""
        return last.removingPercentEncoding ?? last
    }
}

/// Dates in the form of HTTP (RFC 9110, 5.6.7).
enum HTTPDate {
    /// The text of the present second, which most answers share.
    final class Cache: Sendable {
        private let last = NIOLockedValueBox((second: Int.min, text: ""))

        func text(_ date: Date) -> String {
            let second = Int(date.timeIntervalSince1970.rounded(.down))
            return last.withLockedValue { last in
                if last.second != second { last = (second, HTTPDate.text(date)) }
                return last.text
            }
        }
    }

    static func text(_ date: Date) -> String {
        let format = Date.VerbatimFormatStyle(
            format: """
                \(weekday: .abbreviated), \(day: .twoDigits) \(month: .abbreviated) \(year: .padded(4)) \
                \(hour: .twoDigits(clock: .twentyFourHour, hourCycle: .zeroBased)):\(minute: .twoDigits):\
                \(second: .twoDigits) GMT
                """,
            locale: Locale(identifier: "en_US_POSIX"), timeZone: .gmt, calendar: Calendar(identifier: .gregorian))
        return date.formatted(format)
    }
}
