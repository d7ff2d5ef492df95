import Foundation
import HalcyonImage
import HalcyonSystem

/// The pictures of an icon or a cursor, whose directory is not trusted: each picture says itself how large it is.
struct ICODirectory {
    /// A picture: a PNG, or a BMP without its file header that has rows of a mask behind those of its pixels.
    struct Entry {
        /// The place of its bytes in the file, which may end before.
        let range: Range<Int>
        /// The length that the directory says.
        let declaredBytes: Int
        let size: PixelSize
        let bits: Int
        let hasAlpha: Bool
        let isPNG: Bool
    }

    /// The most entries that are looked at: some files have an entry for each of a dozen sizes in three depths.
    private static let mostEntries = 256
    let entries: [Entry]

    /// Reads the entries. Those that cannot be read, or whose pictures are behind the end of the file, are left out.
    ///
    /// - Throws: `CodecError.damaged` if no entry has a picture, and for a file that is cut off: one that misses a picture which is as
    ///   large, by the directory, as the largest one that it has.
    init(_ reader: ByteReader) throws {
        let count = min(reader.littleEndian16(4) ?? 0, Self.mostEntries)
        var missing = 0
        entries = try (0..<count).compactMap { index in
            let offset = 6 + 16 * index
            do {
                return try Self.entry(reader, at: offset)
            } catch {
                guard let width = reader.byte(offset), let height = reader.byte(offset + 1), reader.count >= offset + 16
                else { throw error }
                // A side of 0 stands for 256 and for all that no byte can say.
                missing = max(missing, width * height == 0 ? .max : width * height)
                return nil
            }
        }
        if missing > 0, entries.allSatisfy({ $0.size.area ?? .max <= missing }) {
            throw Self.damaged("the file was cut off")
        }
        guard !entries.isEmpty else { throw Self.damaged("none of its \(count) entries is a picture that is read") }
    }

    /// The largest picture, and the deepest one of that size: the size of the image.
    var largest: Entry { entries.reduce(entries[0]) { $0.isBetter(than: $1) ? $0 : $1 } }

    /// The deepest picture of a size.
    func entry(of size: PixelSize) -> Entry {
        let same = entries.filter { $0.size == size }
        return same.reduce(same.first ?? largest) { $0.isBetter(than: $1) ? $0 : $1 }
    }

    /// Returns the size of the smallest picture that is at least as large, none of which is larger than the largest one.
    func size(atLeast size: PixelSize) -> PixelSize {
        let whole = largest.size
        let fitting = entries.map(\.size).filter { other in
            (size.width...max(size.width, whole.width)).contains(other.width)
                && (size.height...max(size.height, whole.height)).contains(other.height)
        }
        return fitting.min { ($0.area ?? .max) < ($1.area ?? .max) } ?? whole
    }

    /// Returns an entry whose picture has a header that can be read; nil if it has none, though all of it is there.
    ///
    /// - Throws: `CodecError.damaged` if its bytes end before its header does.
    private static func entry(_ reader: ByteReader, at offset: Int) throws -> Entry? {
        guard let length = reader.littleEndian32(offset + 8), let start = reader.littleEndian32(offset + 12),
            start < reader.count
        else { throw damaged("the file was cut off") }
        guard start >= 22 else { return nil }
        let range = start..<start + min(length, reader.count - start)
        let part = reader.part(at: start, length: range.count)
        func unreadable() throws -> Entry? {
            guard length <= range.count else { throw damaged("the file was cut off") }
            return nil
        }
        if part.matches([0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A], at: 0) {
            guard let header = IconPNG.info(of: part) else { return try unreadable() }
            return Entry(
                range: range, declaredBytes: length, size: header.size,
                bits: header.bitsPerChannel * (header.hasAlpha ? 4 : 3), hasAlpha: header.hasAlpha, isPNG: true)
        }
        guard let header = try? ICOBitmap(part) else { return try unreadable() }
        return Entry(
            range: range, declaredBytes: length, size: header.size, bits: header.bits, hasAlpha: true, isPNG: false)
    }

    static func damaged(_ reason: String) -> CodecError { .damaged(.ico, reason: reason) }
}

extension ICODirectory.Entry {
    fileprivate func isBetter(than other: Self) -> Bool {
        let (area, otherArea) = (size.area ?? 0, other.size.area ?? 0)
        return area == otherArea ? bits >= other.bits : area > otherArea
    }
}
