import HalcyonCodecs
import HalcyonImage

/// The directories of a raw file that has the structure of a TIFF: those that follow each other, and those inside of them.
struct RAWDirectories {
    /// The maximum number of directories that are read, which may form a ring, and of those inside of one.
    private static let (maximumDirectories, maximumParts) = (64, 16)
    private static let maximumStrips = 4096

    private enum Tag {
        static let panasonicPicture = 0x2E
        static let kind = 254
        static let (width, height, bits, compression, photometric) = (256, 257, 258, 259, 262)
        static let (stripOffsets, samples, stripCounts, planes) = (273, 277, 279, 284)
        static let parts = 330
        static let (pictureOffset, pictureCount) = (513, 514)
        static let exif = 34_665
        static let makerNote = 37_500
    }

    private let reader: ByteReader
    private(set) var places = RAWPlaces()

    /// Reads the directories; nil if there is not even the place of the first one.
    init?(_ reader: ByteReader) {
        self.reader = reader
        let isLittleEndian = reader.matches("II", at: 0)
        guard let first = isLittleEndian ? reader.littleEndian32(4) : reader.bigEndian32(4) else { return nil }
        var waiting = [first]
        var seen: Set<Int> = []
        while let offset = waiting.popLast(), seen.count < Self.maximumDirectories {
            guard seen.insert(offset).inserted else { continue }
            let directory = ExifDirectory(in: reader, isLittleEndian: isLittleEndian, at: offset)
            guard directory.isWhole, let next = directory.nextOffset else {
                places.isCut = true
                continue
            }
            if seen.count == 1 { readFirst(directory) }
            read(directory)
            if next != 0 { waiting.append(next) }
            waiting += directory.values(of: Tag.parts, atMost: Self.maximumParts).filter { $0 != 0 }
        }
    }

    /// Reads what only the first directory has.
    private mutating func readFirst(_ directory: ExifDirectory) {
        places.orientation = directory.orientation
        if reader.matches([0x49, 0x49, 0x55, 0], at: 0), let picture = directory.place(of: Tag.panasonicPicture) {
            places.add(picture.offset, count: picture.count)
        }
        if let exif = directory.value(of: Tag.exif) {
            let exif = ExifDirectory(in: reader, isLittleEndian: directory.isLittleEndian, at: exif)
            if let note = exif.place(of: Tag.makerNote) {
                readOlympus(at: note.offset, isLittleEndian: directory.isLittleEndian)
            }
            if !exif.isWhole { places.isCut = true }
        }
    }

    /// Adds the preview that a directory describes, unless it describes values of a sensor, a mask or a depth.
    private mutating func read(_ directory: ExifDirectory) {
        if let offset = directory.value(of: Tag.pictureOffset), let count = directory.value(of: Tag.pictureCount) {
            places.add(offset, count: count)
        }
        let kind = directory.value(of: Tag.kind) ?? 0
        let photometric = directory.value(of: Tag.photometric)
        // A smaller copy, and one in other colours; grey, RGB or YCbCr.
        guard kind & ~0x1_0001 == 0, photometric.map([0, 1, 2, 6].contains) ?? true else { return }
        let starts = directory.values(of: Tag.stripOffsets, atMost: Self.maximumStrips)
        let lengths = directory.values(of: Tag.stripCounts, atMost: Self.maximumStrips)
        guard let start = starts.first, let length = lengths.first, starts.count == lengths.count else { return }
        switch directory.value(of: Tag.compression) {
        // Each strip is a JPEG of its own.
        case 6, 7: if starts.count == 1 { places.add(start, count: length) }
        case 1 where kind & 1 == 1 && photometric == 2: addPixels(of: directory, starts, lengths)
        default: break
        }
    }

    /// Adds rows of red, green and blue, whose strips follow each other without a gap.
    private mutating func addPixels(of directory: ExifDirectory, _ starts: [Int], _ lengths: [Int]) {
        guard directory.value(of: Tag.samples) == 3, directory.value(of: Tag.planes) ?? 1 == 1,
            directory.values(of: Tag.bits, atMost: 3) == [8, 8, 8],
            let width = directory.value(of: Tag.width), let height = directory.value(of: Tag.height),
            let area = PixelSize(width, height).area, area > 0
        else { return }
        var end = starts[0]
        for (start, length) in zip(starts, lengths) {
            guard start == end else { return }
            end += length
        }
        guard area <= (end - starts[0]) / 3 else { return }
        places.add(starts[0], count: 3 * area, pixels: PixelSize(width, height))
    }

    /// Reads the note of an Olympus camera: the settings, a directory inside of its directory, have the place of the preview.
    ///
    /// Offsets count from the note's beginning, behind which it says its order of bytes; those of the first digital cameras count
    /// from the file's, in its order.
    private mutating func readOlympus(at start: Int, isLittleEndian: Bool) {
        let note = reader.part(at: start, length: reader.count)
        if note.matches("OLYMP\0", at: 0) {
            return readSettings(in: reader, isLittleEndian: isLittleEndian, at: start + 8, base: 0)
        }
        let header = note.matches("OLYMPUS\0", at: 0) ? 8 : note.matches("OM SYSTEM\0\0\0", at: 0) ? 12 : nil
        guard let header else { return }
        readSettings(in: note, isLittleEndian: note.matches("II", at: header), at: header + 4, base: start)
    }

    /// - Parameter base: the place in the file that offsets in `bytes` count from.
    private mutating func readSettings(in bytes: ByteReader, isLittleEndian: Bool, at offset: Int, base: Int) {
        let outer = ExifDirectory(in: bytes, isLittleEndian: isLittleEndian, at: offset)
        guard let place = outer.place(of: 0x2020) else { return }
        // The directory itself, or a number that says where it is.
        let inner = place.count > 1 ? place.offset : outer.value(of: 0x2020)
        guard let inner else { return }
        let settings = ExifDirectory(in: bytes, isLittleEndian: isLittleEndian, at: inner)
        if !settings.isWhole { places.isCut = true }
        if let offset = settings.value(of: 0x101), let count = settings.value(of: 0x102), offset > 0 {
            places.add(base + offset, count: count)
        }
    }
}
