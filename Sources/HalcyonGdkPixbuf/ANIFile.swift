import Foundation
import HalcyonCodecs
import HalcyonImage
import HalcyonSystem

/// The first frame of an ANI: the frames are icons, of which Halcyon's own coder reads the first.
struct ANIFile: LoadedPicture {
    /// The most chunks that are looked at before the first frame.
    private static let mostChunks = 256

    let info: ImageInfo
    private let icon: Range<Int>

    /// - Throws: `CodecError.damaged`.
    init(_ reader: ByteReader) throws {
        guard let icon = Self.firstIcon(reader) else {
            throw CodecError.damaged(.ani, reason: "it has no frame that is an icon")
        }
        self.icon = icon
        let header = try Self.reporting { try ICOCoder().probe(Data(reader.bytes[icon])) }
        info = ImageInfo(format: .ani, size: header.size, hasAlpha: header.hasAlpha)
    }

    /// Returns the place of the first icon, as far as it has arrived.
    private static func firstIcon(_ reader: ByteReader) -> Range<Int>? {
        var place = 12
        for _ in 0..<mostChunks {
            guard let length = reader.littleEndian32(place + 4) else { return nil }
            if reader.matches("LIST", at: place), reader.matches("fram", at: place + 8) {
                place += 12
                continue
            }
            let start = place + 8
            if reader.matches("icon", at: place) { return start..<start + min(length, reader.count - start) }
            place = start + length + length % 2
        }
        return nil
    }

    private func bytes(_ data: Data) -> Data { data.dropFirst(icon.lowerBound).prefix(icon.count) }

    func size(atLeast size: PixelSize) -> PixelSize { info.size }

    func workingBytes(of data: Data, at native: PixelSize) -> Int {
        ICOCoder().workingBytes(of: bytes(data), info: info, nativeSize: native).adding(1, times: icon.count)
    }

    func decode(_ data: Data, plan: DecodePlan, context: WorkContext) throws -> Bitmap {
        try Self.reporting { try ICOCoder().decode(bytes(data), plan: plan, context: context) }
    }

    /// Calls work on the icon, whose damage is that of the file.
    private static func reporting<Result>(_ work: () throws -> Result) throws -> Result {
        do {
            return try work()
        } catch CodecError.damaged(_, let reason) {
            throw CodecError.damaged(.ani, reason: "its first frame is damaged: \(reason)")
        }
    }
}
