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
        case .made(let buffer):
            return Self.body(buffer.readableBytes, share) { range in
                buffer.getSlice(at: buffer.readerIndex + range.lowerBound, length: range.count) ?? ByteBuffer()
            }
        case .original(let data):
            let start = data.startIndex + (part?.lowerBound ?? 0)
            return Self.body(part?.count ?? data.count, share) { range in
                ByteBuffer(bytes: data[start + range.lowerBound..<start + range.upperBound])
            }
        }
    }

    /// - Parameter bytes: returns a range of the bytes.
    private static func body(
        _ count: Int, _ share: HeldBytes.Share?, _ bytes: @escaping @Sendable (Range<Int>) -> ByteBuffer
    ) -> ResponseBody {
        guard count > slice else { return ResponseBody(byteBuffer: bytes(0..<count)) }
        return ResponseBody(contentLength: count) { writer in
            for range in ranges(count) { try await writer.write(bytes(range)) }
            try await writer.finish(nil)
            withExtendedLifetime(share) {}
        }
    }

    /// The slices of an encoding, all in the same memory; none of an original.
    var parts: [ByteBuffer] {
        guard case .made(let buffer) = storage else { return [] }
        return Self.ranges(buffer.readableBytes).compactMap { range in
            buffer.getSlice(at: buffer.readerIndex + range.lowerBound, length: range.count)
        }
    }

    private static func ranges(_ count: Int) -> [Range<Int>] {
        stride(from: 0, to: count, by: slice).map { start in start..<min(start + slice, count) }
    }
}
