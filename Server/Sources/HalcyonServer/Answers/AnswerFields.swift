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
    /// The value of `Content-Disposition` and the body, where they are known already.
    var knownDisposition: String?
    var knownBody: ByteBuffer?

    /// Scripts in a vector run nowhere, and it loads nothing.
    static let vectorPolicy = "default-src 'none'; style-src 'unsafe-inline'; img-src data:; sandbox"

    func response() -> Response {
        let encoded = answer.encoded
        var headers = fields
        if isKnown {
            return Response(status: .notModified, headers: headers)
        }
        headers[.contentType] = encoded.mediaType
        headers[.contentDisposition] = knownDisposition ?? disposition
        if encoded.mediaType == ImageFormat.svg.mimeType { headers[.contentSecurityPolicy] = Self.vectorPolicy }
        var (status, body) = (HTTPResponse.Status.ok, encoded.data)
        if answer.isOriginal {
            headers[.acceptRanges] = "bytes"
            let range = ByteRange(
                request[.range], ifRange: request[.ifRange], etag: encoded.etag, count: body.count)
            switch range {
            case .whole: break
            case .part(let part):
                headers[.contentRange] = "bytes \(part.lowerBound)-\(part.upperBound - 1)/\(body.count)"
                (status, body) = (
                    .partialContent, body[body.startIndex + part.lowerBound..<body.startIndex + part.upperBound]
                )
            case .unsatisfiable:
                headers[.contentRange] = "bytes */\(body.count)"
                return Response(status: .rangeNotSatisfiable, headers: headers)
            }
        }
        if let knownBody, status == .ok {
            return Response(status: status, headers: headers, body: Self.body(knownBody))
        }
        return Response(status: status, headers: headers, body: Self.body(body, answer.share))
    }

    /// The bytes that are handed to the connection at a time.
    private static let slice = 128 << 10

    /// Returns a body that is already made, in slices if it is long: the connection has few of them at a time, and notices a client
    /// that takes none.
    ///
    /// - Parameter share: the bound that the bytes count for until they are written, or the body is dropped.
    static func body(_ data: Data, _ share: HeldBytes.Share? = nil) -> ResponseBody {
        guard data.count > slice else { return ResponseBody(byteBuffer: ByteBuffer(bytes: data)) }
        return ResponseBody(contentLength: data.count) { writer in
            var rest = data
            while !rest.isEmpty {
                try await writer.write(ByteBuffer(bytes: rest.prefix(slice)))
                rest = rest.dropFirst(slice)
            }
            try await writer.finish(nil)
            withExtendedLifetime(share) {}
        }
    }

    /// Returns a body in the memory that it is in.
    private static func body(_ buffer: ByteBuffer) -> ResponseBody {
        guard buffer.readableBytes > slice else { return ResponseBody(byteBuffer: buffer) }
        return ResponseBody(contentLength: buffer.readableBytes) { writer in
            var rest = buffer
            while let part = rest.readSlice(length: min(slice, rest.readableBytes)), part.readableBytes > 0 {
                try await writer.write(part)
            }
            try await writer.finish(nil)
        }
    }

    /// The fields that a 304 has as well.
    private var fields: HTTPFields {
        let rule = CacheControl([answer.facts] + answer.others, ttl: configuration.answer.ttl, now: now)
            .limited(by: job, now: now)
        var headers: HTTPFields = [.eTag: answer.encoded.etag, .cacheControl: rule.text]
        headers[.vary] = ClientWishes.vary(job, configuration)
        if configuration.answer.usesClientHints { headers[.acceptClientHints] = "Sec-CH-DPR, Sec-CH-Width" }
        if let lastModified { headers[.lastModified] = HTTPDate.text(lastModified) }
        return headers
    }

    private var isKnown: Bool {
        if let tags = request[.ifNoneMatch] { return answer.encoded.matches(ifNoneMatch: tags) }
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
