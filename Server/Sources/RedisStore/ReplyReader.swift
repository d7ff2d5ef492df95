import CHiredis
import Foundation

/// An answer of the server.
enum RedisReply: Sendable, Hashable {
    case status(String)
    /// An error, of which only the first word is kept: the rest may repeat arguments.
    case error(code: String)
    case integer(Int)
    case bytes(Data)
    case null
    case list([RedisReply])

    /// The bytes as a text; nil if it is no answer of bytes.
    var text: String? {
        if case .bytes(let bytes) = self { String(decoding: bytes, as: UTF8.self) } else { nil }
    }

    var isStatus: Bool { if case .status = self { true } else { false } }
    var isInteger: Bool { if case .integer = self { true } else { false } }
    var isBytes: Bool { if case .bytes = self { true } else { false } }
}

/// The parser of a connection: hiredis', with bounds on whatever it makes of a server's bytes.
///
/// hiredis buffers an answer until it is complete, however long its header says that it is, and allocates a list by the number
/// of elements in its header alone. So the bytes of one answer are counted here, and lists have a maximum length.
struct ReplyReader: ~Copyable {
    /// The server's bytes are no answer, or a longer one than is expected.
    struct Malformed: Error {}

    private let reader: UnsafeMutablePointer<redisReader>
    private let functions: UnsafeMutablePointer<redisReplyObjectFunctions>
    private let maximumBytes: Int
    /// The bytes since the end of the last complete answer.
    private var count = 0

    /// Creates a parser.
    ///
    /// - Parameters:
    ///   - maximumBytes: the maximum length of an answer.
    ///   - allowsLists: whether answers may be lists, of at most four elements; otherwise they are malformed.
    /// - Returns: nil if there is no memory.
    init?(maximumBytes: Int, allowsLists: Bool) {
        guard let reader = redisReaderCreate() else { return nil }
        self.reader = reader
        self.maximumBytes = maximumBytes
        functions = .allocate(capacity: 1)
        functions.initialize(to: reader.pointee.fn.pointee)
        if allowsLists {
            functions.pointee.createArray = { task, count in
                count <= 4 ? ReplyReader.standard?.createArray?(task, count) : nil
            }
        } else {
            functions.pointee.createArray = { _, _ in nil }
        }
        reader.pointee.fn = functions
        // An empty buffer is kept up to this size; hiredis frees one above 16 KiB, which is made again for each answer.
        reader.pointee.maxbuf = 1 << 20
    }

    deinit {
        redisReaderFree(reader)
        functions.deallocate()
    }

    /// The functions by which hiredis makes an answer. They are never changed.
    private static let standard: redisReplyObjectFunctions? = {
        guard let reader = redisReaderCreate() else { return nil }
        defer { redisReaderFree(reader) }
        return reader.pointee.fn.pointee
    }()

    /// Adds bytes that were received.
    mutating func feed(_ bytes: UnsafeRawBufferPointer) throws(Malformed) {
        let bytes = bytes.assumingMemoryBound(to: CChar.self)
        guard redisReaderFeed(reader, bytes.baseAddress, bytes.count) == REDIS_OK else { throw Malformed() }
        count += bytes.count
    }

    /// Returns the next complete answer; nil if more bytes are needed.
    mutating func next() throws(Malformed) -> RedisReply? {
        var object: UnsafeMutableRawPointer?
        guard redisReaderGetReply(reader, &object) == REDIS_OK else { throw Malformed() }
        guard let object else {
            guard count <= maximumBytes else { throw Malformed() }
            return nil
        }
        count = reader.pointee.len - reader.pointee.pos
        return Self.reply(object)
    }

    /// Takes an object of hiredis over. Bytes of some length are not copied: they are freed with their last owner.
    private static func reply(_ object: UnsafeMutableRawPointer) -> RedisReply {
        let content = object.assumingMemoryBound(to: redisReply.self).pointee
        if content.type == REDIS_REPLY_STRING, content.len > 4096, let text = content.str {
            let owner = Owner(object)
            return .bytes(
                Data(bytesNoCopy: text, count: Int(content.len), deallocator: .custom { _, _ in owner.free() }))
        }
        defer { freeReplyObject(object) }
        return copy(content)
    }

    private static func copy(_ content: redisReply) -> RedisReply {
        let bytes = UnsafeRawBufferPointer(start: content.str, count: content.str == nil ? 0 : Int(content.len))
        switch content.type {
        case REDIS_REPLY_STATUS: return .status(String(decoding: bytes.prefix(64), as: UTF8.self))
        case REDIS_REPLY_ERROR: return .error(code: code(bytes))
        case REDIS_REPLY_INTEGER: return .integer(Int(content.integer))
        case REDIS_REPLY_STRING: return .bytes(Data(bytes))
        case REDIS_REPLY_ARRAY:
            let elements = UnsafeBufferPointer(start: content.element, count: Int(content.elements))
            return .list(elements.map { $0.map { copy($0.pointee) } ?? .null })
        default: return .null
        }
    }

    /// The first word of an error, if it is a code.
    private static func code(_ text: UnsafeRawBufferPointer) -> String {
        let word = text.prefix { $0 != UInt8(ascii: " ") }
        let isCode =
            (1...32).contains(word.count) && word.allSatisfy { (65...90).contains($0) || $0 == UInt8(ascii: "_") }
        return isCode ? String(decoding: word, as: UTF8.self) : "ERR"
    }

    /// An object of hiredis that the bytes of an answer belong to.
    private final class Owner {
        private let object: UnsafeMutableRawPointer

        init(_ object: UnsafeMutableRawPointer) { self.object = object }

        func free() { freeReplyObject(object) }
    }
}
