import Foundation
import HalcyonCodecs
import HalcyonImage

/// The tracks of an AVIF sequence (`moov`), read here beside libavif: it allocates for each of their boxes, and takes long for their
/// durations.
struct AVIFMovie {
    /// More boxes than the tracks of a picture and its alpha have. libavif keeps 1.5 KB for some boxes of eight bytes.
    private static let maximumBoxes = 2_000
    /// A track takes as much memory of libavif as so many boxes.
    private static let boxesOfTrack = 32

    private let file: ByteReader

    init(_ file: ByteReader) { self.file = file }

    // MARK: - Boxes

    /// Refuses tracks of which libavif would keep more than the file accounts for.
    ///
    /// - Throws: `CodecError.damaged`, `.limitExceeded`.
    func check() throws {
        var left = Self.maximumBoxes
        try visit { box in
            try Self.take(box.isNamed("trak") ? Self.boxesOfTrack : 1, &left)
            // Items of a track, such as EXIF, are as those of the file.
            if box.isNamed("trak") { try Self.take(ISOItems(box.body, format: .avif).namedCount, &left) }
        }
    }

    private static func take(_ count: Int, _ left: inout Int) throws {
        left -= count
        guard left >= 0 else { throw CodecError.damaged(.avif, reason: "its tracks have too many parts") }
    }

    /// Visits all boxes of the tracks that libavif reads, each before those inside of it.
    private func visit(_ body: (ISOBox) throws -> Void) rethrows {
        for movie in ISOBox.ofFile(file) where movie.isNamed("moov") {
            try Self.visit(movie.body, from: 0, body)
        }
    }

    private static func visit(_ boxes: ByteReader, from start: Int, _ body: (ISOBox) throws -> Void) rethrows {
        for box in ISOBox.all(in: boxes, from: start) {
            try body(box)
            if let start = innerStart(of: box) { try visit(box.body, from: start, body) }
        }
    }

    /// Returns where the boxes inside another one begin; nil for a box that has none that libavif reads.
    private static func innerStart(of box: ISOBox) -> Int? {
        let plain: [StaticString] = ["trak", "mdia", "minf", "stbl", "edts", "tref", "iprp", "ipco"]
        if plain.contains(where: box.isNamed) { return 0 }
        if box.isNamed("meta") || box.isNamed("iref") { return 4 }
        if box.isNamed("iinf") { return box.body.byte(0) == 0 ? 6 : 8 }
        if box.isNamed("stsd") { return 8 }
        // Properties follow the fields of a sample entry for pictures.
        return box.isNamed("av01") ? 78 : nil
    }

    // MARK: - Durations

    /// Leaves one entry in each table of durations of a checked file, for a decoder that is asked for pictures alone: libavif looks for
    /// the duration of each one that it decodes.
    static func shortenTimes(in file: UnsafeMutableRawBufferPointer) {
        let reader = ByteReader(UnsafeRawBufferPointer(file))
        AVIFMovie(reader).visit { box in
            guard box.isNamed("stts"), let count = box.body.bigEndian32(4), count > 1,
                let start = box.body.bytes.baseAddress, let first = reader.bytes.baseAddress
            else { return }
            file.storeBytes(of: UInt32(1).bigEndian, toByteOffset: start - first + 4, as: UInt32.self)
        }
    }

    /// Returns the duration of each frame.
    ///
    /// libavif counts from the first frame and the first entry of the table on for each of them, which is the cube of their number.
    ///
    /// - Parameter ticksPerSecond: the clock of the track.
    /// - Throws: `CodecError.damaged`.
    func durations(of frameCount: Int, ticksPerSecond: UInt64) throws -> [Duration] {
        guard let times = pictureTables?.first(where: { $0.isNamed("stts") })?.body, let count = times.bigEndian32(4)
        else { throw CodecError.damaged(.avif, reason: "its frames have no durations") }
        var durations: [Duration] = []
        var last: Duration?
        for entry in 0..<count {
            guard let frames = times.bigEndian32(8 + entry * 8), let ticks = times.bigEndian32(12 + entry * 8) else {
                break
            }
            let duration = Self.duration(ticks: UInt64(ticks), perSecond: ticksPerSecond)
            durations += repeatElement(duration, count: min(frames, frameCount - durations.count))
            last = duration
            guard durations.count < frameCount else { return durations }
        }
        // The last entry is for all frames behind it.
        guard let last else { throw CodecError.damaged(.avif, reason: "its frames have no durations") }
        return durations + repeatElement(last, count: frameCount - durations.count)
    }

    private static func duration(ticks: UInt64, perSecond: UInt64) -> Duration {
        guard perSecond > 0 else { return .zero }
        // A day is more than any frame is shown for.
        let (seconds, rest) = ticks.quotientAndRemainder(dividingBy: perSecond)
        guard seconds < 86_400 else { return .seconds(86_400) }
        let nanoseconds = perSecond.dividingFullWidth(rest.multipliedFullWidth(by: 1_000_000_000)).quotient
        return .seconds(Int64(seconds)) + .nanoseconds(Int64(nanoseconds))
    }

    /// The tables of the track that libavif decodes: the first of AV1 pictures that is there and not the alpha of another one.
    private var pictureTables: [ISOBox]? {
        guard let movie = Self.child("moov", of: ISOBox.ofFile(file)) else { return nil }
        for track in ISOBox.all(in: movie.body) where track.isNamed("trak") {
            let boxes = Array(ISOBox.all(in: track.body))
            guard let header = Self.child("tkhd", of: boxes)?.body, let version = header.byte(0),
                header.bigEndian32(version == 1 ? 20 : 12) != 0,
                let media = Self.child("mdia", of: boxes),
                let info = Self.child("minf", of: ISOBox.all(in: media.body)),
                let table = Self.child("stbl", of: ISOBox.all(in: info.body))
            else { continue }
            let tables = Array(ISOBox.all(in: table.body))
            let formats = tables.lazy.filter { $0.isNamed("stsd") }.flatMap { ISOBox.all(in: $0.body, from: 8) }
            let places = tables.filter { $0.isNamed("stco") || $0.isNamed("co64") }
            let references = Self.child("tref", of: boxes).map { Array(ISOBox.all(in: $0.body)) } ?? []
            guard formats.contains(where: { $0.isNamed("av01") }),
                places.contains(where: { $0.body.bigEndian32(4) ?? 0 > 0 }),
                (Self.child("auxl", of: references)?.body.bigEndian32(0) ?? 0) == 0
            else { continue }
            return tables
        }
        return nil
    }

    // MARK: - Loops

    /// Returns the number of times that a sequence plays, by its edit list, as libavif 1.0 and browsers read it: 0 for ever, which is
    /// also for a sequence without an edit list.
    var loopCount: Int {
        guard let movie = Self.child("moov", of: ISOBox.ofFile(file)),
            let track = Self.child("trak", of: ISOBox.all(in: movie.body)),
            let edits = Self.child("edts", of: ISOBox.all(in: track.body)),
            let list = Self.child("elst", of: ISOBox.all(in: edits.body))?.body,
            let header = Self.child("tkhd", of: ISOBox.all(in: track.body))?.body,
            let version = list.byte(0), let flags = list.byte(3)
        else { return 0 }
        guard flags & 1 == 1 else { return 1 }
        guard list.bigEndian32(4) == 1 else { return 0 }
        let segment = version == 1 ? Self.long(list, 8) : list.bigEndian32(8)
        let isLong = header.byte(0) == 1
        let whole = isLong ? Self.long(header, 28) : header.bigEndian32(20)
        guard let segment, let whole, segment > 0, whole < (isLong ? Int.max : Int(UInt32.max)) else { return 0 }
        return min(whole / segment + (whole % segment > 0 ? 1 : 0), 65_535)
    }

    private static func child(_ name: StaticString, of boxes: some Sequence<ISOBox>) -> ISOBox? {
        boxes.first { $0.isNamed(name) }
    }

    private static func long(_ reader: ByteReader, _ offset: Int) -> Int? {
        guard let high = reader.bigEndian32(offset), let low = reader.bigEndian32(offset + 4) else { return nil }
        return high > Int(Int32.max) ? .max : high << 32 | low
    }
}
