import CGIF
import Foundation
import HalcyonImage
import HalcyonSystem

/// A writer of GIF files by giflib, frame by frame. `close` must be called, also after an error.
struct GIFWriter {
    private final class Output {
        var bytes = Data()
    }

    private let output = Output()
    private let file: UnsafeMutablePointer<GifFileType>

    init(_ size: PixelSize) throws {
        guard max(size.width, size.height) <= 65_535 else {
            throw CodecError.encodingFailed(.gif, reason: "\(size) is more than 65535 pixels a side")
        }
        var code: Int32 = 0
        let opened = EGifOpen(
            Unmanaged.passUnretained(output).toOpaque(),
            { file, bytes, count in
                guard let file, let bytes, let output = file.pointee.UserData else { return 0 }
                Unmanaged<Output>.fromOpaque(output).takeUnretainedValue().bytes.append(bytes, count: Int(count))
                return count
            }, &code)
        guard let opened else { throw Self.error(code) }
        file = opened
        EGifSetGifVersion(file, true)
        do {
            try check(
                EGifPutScreenDesc(file, Int32(clamping: size.width), Int32(clamping: size.height), 8, 0, nil))
        } catch {
            close()
            throw error
        }
    }

    /// Ends the file, frees giflib's state, and returns the bytes. The writer cannot be used afterwards.
    @discardableResult
    func close() -> Data {
        var code: Int32 = 0
        EGifCloseFile(file, &code)
        return output.bytes
    }

    /// Writes the loop count; 0 is infinite.
    func loop(_ count: Int) throws {
        try check(EGifPutExtensionLeader(file, 0xFF))
        try check(EGifPutExtensionBlock(file, 11, "NETSCAPE2.0"))
        let count = UInt16(clamping: count)
        try check(EGifPutExtensionBlock(file, 3, [1, UInt8(count & 255), UInt8(count >> 8)]))
        try check(EGifPutExtensionTrailer(file))
    }

    /// Appends a frame with a palette of its own.
    ///
    /// - Parameter delay: the delay in hundredths of a second.
    /// - Parameter isCleared: whether the frame's rectangle is cleared after the delay.
    func append(_ frame: Bitmap, x: Int, y: Int, delay: Int, isCleared: Bool, context: WorkContext) throws {
        let palette = try GIFPalette(frame)
        let wait = UInt16(clamping: delay)
        let flags = UInt8((isCleared ? 2 : 1) << 2 | (palette.transparentIndex == nil ? 0 : 1))
        let control = [flags, UInt8(wait & 255), UInt8(wait >> 8), UInt8(palette.transparentIndex ?? 0)]
        try check(EGifPutExtension(file, 0xF9, 4, control))
        // The table's size is a power of two.
        var count = 2
        while count < palette.colors.count { count *= 2 }
        let colors = palette.colors + Array(repeating: GifColorType(), count: count - palette.colors.count)
        guard let map = GifMakeMapObject(Int32(count), colors) else { throw BitmapError.outOfMemory(bytes: count) }
        defer { GifFreeMapObject(map) }
        try check(
            EGifPutImageDesc(
                file, Int32(clamping: x), Int32(clamping: y), Int32(clamping: frame.width),
                Int32(clamping: frame.height), false, map))
        for row in 0..<frame.height {
            if row % 64 == 0 { try context.checkCancellation() }
            var line = Array(palette.indices[row * frame.width..<(row + 1) * frame.width])
            try check(EGifPutLine(file, &line, Int32(clamping: frame.width)))
        }
    }

    private func check(_ status: Int32) throws {
        guard status == GIF_OK else { throw Self.error(file.pointee.Error) }
    }

    private static func error(_ code: Int32) -> any Error {
        if code == E_GIF_ERR_NOT_ENOUGH_MEM { return BitmapError.outOfMemory(bytes: 0) }
        let text = GifErrorString(code).map { String(cString: $0) }
        return CodecError.encodingFailed(.gif, reason: text ?? "giflib's error \(code)")
    }
}
