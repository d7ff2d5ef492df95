import Foundation
import HalcyonCache

/// An entry in the form in which Redis holds it, one string:
///
///     magic            8 bytes, "HalcyonR"
///     version          4 bytes, as all numbers with the least significant byte first
///     lengths          4 bytes each of the key, the metadata and the extended data; 8 bytes of the data
///     stored at        8 bytes, seconds since 2001 as a Double
///     kept until       8 bytes, the same; infinity is never
///     body's checksum  32 hexadecimal digits
///     front's checksum 32 hexadecimal digits, of all fields before it, the key and the metadata
///     key, metadata    the rest of the front
///     extended, data   the body
///
/// New metadata replaces the front alone. The checksums are the XXH3-128 by which the library names its entries
/// (`CacheKey.fileName`), at several GB/s: against damage, not against somebody who writes into Redis on purpose.
struct StoredValue {
    /// The lengths, times and the body's checksum.
    let header: Header
    /// The bytes before the body.
    let front: [UInt8]
    let key: [UInt8]
    let metadata: Data

    /// A value that is no entry of the key: damaged, cut, of another key or version, or of another program.
    struct Foreign: Error {}

    struct Header: Equatable {
        var keyLength: UInt32
        var metadataLength: UInt32
        var extendedLength: UInt32
        var dataLength: UInt64
        var storedAt: Date
        var keptUntil: Date?
        var bodyChecksum: [UInt8]

        static let magic = Array("HalcyonR".utf8)
        static let version: UInt32 = 1
        static let checksumLength = 32
        /// The length of all fields of fixed length, with the front's checksum.
        static let length = 48 + 2 * checksumLength

        /// The length of the front.
        var frontLength: Int { Self.length + Int(keyLength) + Int(metadataLength) }
        /// The length of the whole value; nil if it cannot be one.
        var valueLength: Int? {
            let (sum, overflows) = UInt64(frontLength + Int(extendedLength)).addingReportingOverflow(dataLength)
            return overflows ? nil : Int(exactly: sum)
        }
    }

    // MARK: Writing

    /// Returns the value of an entry.
    ///
    /// - Throws: `RedisStoreError.tooLarge`, before anything is copied.
    static func value(
        of data: Data, metadata: Data, extended: Data, for key: CacheKey, storedAt: Date, keptUntil: Date?, limit: Int
    ) throws(RedisStoreError) -> [UInt8] {
        let count = Header.length + key.bytes.count + metadata.count + extended.count + data.count
        guard count <= limit else { throw .tooLarge(bytes: count) }
        var body: [UInt8] = []
        body.reserveCapacity(extended.count + data.count)
        body.append(contentsOf: extended)
        body.append(contentsOf: data)
        let header = Header(
            keyLength: UInt32(key.bytes.count), metadataLength: UInt32(metadata.count),
            extendedLength: UInt32(extended.count), dataLength: UInt64(data.count), storedAt: storedAt,
            keptUntil: keptUntil, bodyChecksum: checksum(body))
        return front(header, key.bytes, metadata) + body
    }

    /// Returns the front of this value with other metadata.
    ///
    /// - Throws: `RedisStoreError.tooLarge`
    func front(metadata: Data, keptUntil: Date?, limit: Int) throws(RedisStoreError) -> [UInt8] {
        let count = (header.valueLength ?? .max) - self.metadata.count + metadata.count
        guard count <= limit else { throw .tooLarge(bytes: count) }
        var header = header
        (header.metadataLength, header.keptUntil) = (UInt32(metadata.count), keptUntil)
        return Self.front(header, key, metadata)
    }

    private static func front(_ header: Header, _ key: [UInt8], _ metadata: Data) -> [UInt8] {
        var fields = Header.magic
        for number in [Header.version, header.keyLength, header.metadataLength, header.extendedLength] {
            withUnsafeBytes(of: number.littleEndian) { fields.append(contentsOf: $0) }
        }
        let times = [header.storedAt.timeIntervalSinceReferenceDate, header.keptUntil?.timeIntervalSinceReferenceDate]
        for number in [header.dataLength] + times.map({ ($0 ?? .infinity).bitPattern }) {
            withUnsafeBytes(of: number.littleEndian) { fields.append(contentsOf: $0) }
        }
        fields += header.bodyChecksum
        return fields + checksum(fields + key + metadata) + key + metadata
    }

    private static func checksum(_ bytes: [UInt8]) -> [UInt8] { Array(CacheKey(bytes).fileName.utf8) }

    // MARK: Reading

    /// Reads and checks the front of a value.
    ///
    /// - Parameter value: the value from its beginning; it may end behind the front.
    /// - Returns: nil if the value goes on beyond these bytes before the front has ended.
    /// - Throws: `Foreign`
    init?(frontOf value: Data, for key: CacheKey) throws(Foreign) {
        let header = try Self.header(value)
        guard header.keyLength == key.bytes.count, header.valueLength != nil else { throw Foreign() }
        guard value.count >= header.frontLength else { return nil }
        let front = value.withUnsafeBytes { [UInt8]($0[..<header.frontLength]) }
        let (fields, rest) = (front[..<(Header.length - Header.checksumLength)], front[Header.length...])
        guard Self.checksum(Array(fields + rest))[...] == front[fields.endIndex..<Header.length],
            rest.starts(with: key.bytes)
        else { throw Foreign() }
        (self.header, self.front, self.key) = (header, front, key.bytes)
        metadata = Data(rest.dropFirst(key.bytes.count))
    }

    /// Reads and checks a whole value.
    ///
    /// - Throws: `Foreign`
    static func entry(_ value: Data, for key: CacheKey) throws(Foreign) -> CacheEntry {
        guard let front = try StoredValue(frontOf: value, for: key), front.header.valueLength == value.count else {
            throw Foreign()
        }
        let header = front.header
        guard checksum([UInt8](value.dropFirst(header.frontLength))) == header.bodyChecksum else { throw Foreign() }
        let dataOffset = header.frontLength + Int(header.extendedLength)
        return CacheEntry(
            data: part(of: value, from: dataOffset), metadata: front.metadata,
            extended: Data(value.dropFirst(header.frontLength).prefix(Int(header.extendedLength))),
            keptUntil: header.keptUntil, storedAt: header.storedAt)
    }

    /// Returns the bytes from an offset on; many of them are not copied, and keep the whole value in memory.
    private static func part(of value: Data, from offset: Int) -> Data {
        let count = value.count - offset
        guard count > 4096 else { return Data(value.dropFirst(offset)) }
        return value.withUnsafeBytes { bytes in
            guard let start = bytes.baseAddress else { return Data() }
            return Data(
                bytesNoCopy: UnsafeMutableRawPointer(mutating: start + offset), count: count,
                deallocator: .custom { _, _ in withExtendedLifetime(value) {} })
        }
    }

    /// Reads the fields of fixed length.
    private static func header(_ value: Data) throws(Foreign) -> Header {
        guard value.count >= Header.length, value.starts(with: Header.magic) else { throw Foreign() }
        func number<Number: FixedWidthInteger>(_ offset: Int, _: Number.Type) -> Number {
            Number(littleEndian: value.withUnsafeBytes { $0.loadUnaligned(fromByteOffset: offset, as: Number.self) })
        }
        let storedAt = Double(bitPattern: number(32, UInt64.self))
        let keptUntil = Double(bitPattern: number(40, UInt64.self))
        guard number(8, UInt32.self) == Header.version, storedAt.isFinite, !keptUntil.isNaN else { throw Foreign() }
        return Header(
            keyLength: number(12, UInt32.self), metadataLength: number(16, UInt32.self),
            extendedLength: number(20, UInt32.self), dataLength: number(24, UInt64.self),
            storedAt: Date(timeIntervalSinceReferenceDate: storedAt),
            keptUntil: keptUntil == .infinity ? nil : Date(timeIntervalSinceReferenceDate: keptUntil),
            bodyChecksum: value.withUnsafeBytes { [UInt8]($0[48..<80]) })
    }
}
