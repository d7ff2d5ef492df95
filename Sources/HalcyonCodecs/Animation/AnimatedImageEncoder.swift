import Foundation
import HalcyonImage
import HalcyonSystem

/// An encoder that writes animations.
public protocol AnimatedImageEncoder: ImageEncoder {
    /// The maximum number of bytes of memory that encoding takes beside the file and the memory of the frames' decoder.
    /// The default is four frames.
    ///
    /// The bytes are reserved from the `DecodeBudget` before the encoding begins.
    func workingBytes(for animation: AnimatedImage, options: EncodeOptions) -> Int

    /// Encodes every frame with its duration, to the precision of the format, and the loop count.
    ///
    /// An implementation must request the animation's frames in order, and keep no more of them than `workingBytes`
    /// accounts for.
    ///
    /// - Throws: `CodecError.encodingFailed`, `CancellationError`, and the errors of the frames.
    func encode(
        _ animation: AnimatedImage, info: ImageInfo, as format: ImageFormat, options: EncodeOptions,
        context: WorkContext
    ) throws -> Data
}

extension AnimatedImageEncoder {
    public func workingBytes(for animation: AnimatedImage, options: EncodeOptions) -> Int {
        0.adding(4, times: animation.size.bitmapBytes)
    }
}

extension AnimatedImage {
    /// Returns whether every frame is opaque, for formats in which all frames have alpha or none has. Costs a decode of all frames.
    package func isOpaque(_ context: WorkContext) throws -> Bool {
        for index in durations.indices {
            guard try frame(at: index, context: context).isOpaque else { return false }
        }
        return true
    }

    /// Returns the times at which the frames end, in milliseconds from the beginning, for formats that count these. Durations below zero
    /// count as zero.
    ///
    /// The sums are rounded rather than each duration, so that errors do not accumulate.
    ///
    /// - Parameters:
    ///   - shortest: the least duration of a frame in milliseconds.
    ///   - longest: the greatest duration of a frame in milliseconds; longer ones count as it.
    package func endsInMilliseconds(shortest: Int, longest: Int = .max) -> [Int] {
        // 30,000 years, which no format holds, and which can be counted.
        let last = Duration.seconds(1_000_000_000_000)
        let most = min(Duration.milliseconds(longest), last)
        var (time, end) = (Duration.zero, 0)
        return durations.map { duration in
            time = min(time + min(max(.zero, duration), most), last)
            end = max(Int((time / .milliseconds(1)).rounded()), end + shortest)
            return end
        }
    }
}

/// The comparison of two frames, so that an encoder can leave out the unchanged area.
package enum FrameDifference {
    /// Returns the smallest rectangle that contains every changed pixel; nil for equal frames. Both frames must have
    /// the same size.
    package static func rect(from old: Bitmap, to new: Bitmap) -> PixelRect? {
        if old === new { return nil }
        return old.withPixels { old in
            new.withPixels { rect(from: old, to: $0, size: new.size) }
        }
    }

    private static func rect(
        from old: UnsafeRawBufferPointer, to new: UnsafeRawBufferPointer, size: PixelSize
    ) -> PixelRect? {
        guard let oldStart = old.baseAddress, let newStart = new.baseAddress else { return nil }
        let (width, rowBytes) = (size.width, size.width * 4)
        // Compares whole rows at memory speed, since most of them are equal.
        func isChanged(_ row: Int) -> Bool {
            memcmp(oldStart + row * rowBytes, newStart + row * rowBytes, rowBytes) != 0
        }
        guard let top = (0..<size.height).first(where: isChanged),
            let bottom = (top..<size.height).last(where: isChanged)
        else { return nil }
        var (left, right) = (width - 1, 0)
        for row in top...bottom where isChanged(row) {
            let (old, new) = (oldStart + row * rowBytes, newStart + row * rowBytes)
            func isEqual(_ column: Int) -> Bool {
                old.load(fromByteOffset: column * 4, as: UInt32.self)
                    == new.load(fromByteOffset: column * 4, as: UInt32.self)
            }
            // Search only outside the columns that the rectangle covers already.
            var (first, last) = (0, width - 1)
            while first < left, isEqual(first) { first += 1 }
            while last > right, isEqual(last) { last -= 1 }
            (left, right) = (first, last)
        }
        return PixelRect(x: left, y: top, width: right - left + 1, height: bottom - top + 1)
    }
}
