import Foundation
import Halcyon
import Hummingbird

/// The bytes of an answer, with the fields that depend on them alone.
///
/// An encoding is in the memory that connections take it from. The cache and all requests that are answered with it share
/// it: there is no other copy.
struct AnswerBytes: Sendable {
    private enum Storage {
        /// An encoding.
        case made(ByteBuffer)
        /// The source's own bytes, which connections get part by part: they may be many.
        case original(Data)
    }

    private let storage: Storage
    let mediaType: String
    let etag: String

    /// The bytes that are handed to the connection at a time.
    private static let slice = 128 << 10

    init(made encoded: EncodedImage) {
        (storage, mediaType, etag) = (.made(ByteBuffer(bytes: encoded.data)), encoded.mediaType, encoded.etag)
    }

    init(original encoded: EncodedImage) {
        (storage, mediaType, etag) = (.original(encoded.data), encoded.mediaType, encoded.etag)
    }

    var count: Int {
        switch storage {
        case .made(let buffer): buffer.readableBytes
        case .original(let data): data.count
        }
    }

    /// The memory that they take, at most: buffers have a power of two.
    var cost: Int {
        switch storage {
        case .made(let buffer): buffer.storageCapacity
        case .original(let data): data.count
        }
    }

    /// Whether a client with this field has them already.
    func matches(ifNoneMatch field: String?) -> Bool { EncodedImage.matches(ifNoneMatch: field, etag: etag) }

    // MARK: - Bodies

    /// Returns the body of a response, in slices if it is long: the connection has few of them at a time, and notices a client that
    /// takes none.
    ///
    /// - Parameters:
    ///   - part: a part of the source's own bytes; nil, the default, is all.
    ///   - share: the bound that the bytes count for until they are written, or the body is dropped.
    func body(part: Range<Int>? = nil, share: HeldBytes.Share? = nil) -> ResponseBody {
        switch storage {
        case .made(let buffer): Self.body(buffer)
        case .original(let data):
            Self.body(
                part.map { data[data.startIndex + $0.lowerBound..<data.startIndex + $0.upperBound] } ?? data, share)
        }
    }

    private static func body(_ data: Data, _ share: HeldBytes.Share?) -> ResponseBody {
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

    private static func body(_ buffer: ByteBuffer) -> ResponseBody {
        guard buffer.readableBytes > slice else { return ResponseBody(byteBuffer: buffer) }
        return ResponseBody(contentLength: buffer.readableBytes) { writer in
            for part in parts(of: buffer) { try await writer.write(part) }
            try await writer.finish(nil)
        }
    }

    /// The slices of an encoding, all in the same memory; none of an original.
    var parts: [ByteBuffer] {
        switch storage {
        case .made(let buffer): Self.parts(of: buffer)
        case .original: []
        }
    }

    private static func parts(of buffer: ByteBuffer) -> [ByteBuffer] {
        guard buffer.readableBytes > slice else { return [buffer] }
        var (rest, parts) = (buffer, [ByteBuffer]())
        while rest.readableBytes > 0, let part = rest.readSlice(length: min(slice, rest.readableBytes)) {
            parts.append(part)
        }
        return parts
    }
}
