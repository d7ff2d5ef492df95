import Foundation
import Halcyon
import HTTPTypes
import Hummingbird
import ImageURLs

/// The HTTP answer with a picture: its status, fields and the part of the body that was asked for.
struct AnswerFields {
    let answer: ImageAnswer
    let job: ImageJob
    let configuration: ServerConfiguration
    /// The time of the answer.
    let now: Date
    /// The fields of the request.
    let request: HTTPFields
    /// The value of `Content-Disposition`, where it is known already.
    var knownDisposition: String?

    /// Scripts in a vector run nowhere, and it loads nothing.
    static let vectorPolicy = "default-src 'none'; style-src 'unsafe-inline'; img-src data:; sandbox"

    func response() -> Response {
        let bytes = answer.bytes
        var headers = fields
        if isKnown {
            return Response(status: .notModified, headers: headers)
        }
        headers[.contentType] = bytes.mediaType
        headers[.contentDisposition] = knownDisposition ?? disposition
        if bytes.mediaType == ImageFormat.svg.mimeType { headers[.contentSecurityPolicy] = Self.vectorPolicy }
        guard answer.isOriginal else { return Response(status: .ok, headers: headers, body: bytes.body()) }
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
        headers[.vary] = ClientWishes.vary(job, configuration)
        if configuration.answer.usesClientHints { headers[.acceptClientHints] = "Sec-CH-DPR, Sec-CH-Width" }
        if let lastModified { headers[.lastModified] = HTTPDate.text(lastModified) }
        return headers
    }

    private var isKnown: Bool {
        if let tags = request[.ifNoneMatch] { return answer.bytes.matches(ifNoneMatch: tags) }
        return lastModified.map { request[.ifModifiedSince] == HTTPDate.text($0) } ?? false
    }

    /// The moment of the source's last change; nil for an answer with a watermark, which may change alone.
    private var lastModified: Date? {
        guard configuration.answer.sendsLastModified, ImageService.watermarks(of: job).isEmpty else { return nil }
        return answer.facts.lastModified
    }

    /// The value of `Content-Disposition`.
    var disposition: String {
        let name = job.filename ?? Self.name(of: job.source)
        return ContentDisposition(isAttachment: job.attachment, name: name)
            .value(fileExtension: answer.format.fileExtension)
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
