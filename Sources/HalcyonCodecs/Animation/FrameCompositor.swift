import CHalcyonPixels
import HalcyonImage
import HalcyonSystem

/// Draws the frames of an animation onto each other. It keeps the last canvas and at most one other.
struct FrameCompositor {
    /// A canvas that has been shown.
    private struct Shown {
        let index: Int
        let canvas: Bitmap
        /// The canvas that the frame was drawn on, kept only if the frame is to be restored; nil is an empty canvas.
        let base: Bitmap?
        /// Whether later frames can be drawn on from here. False for a frame that is restored and hides all earlier
        /// ones, which were therefore not drawn.
        let leadsOn: Bool
    }

    private let reader: any FrameReader
    private let size: PixelSize
    private var shown: Shown?
    private var detours: FrameDetours?

    /// - Parameter detours: the allowance for frames out of order; nil if only one frame is requested.
    init(_ reader: any FrameReader, size: PixelSize, detours: FrameDetours? = nil) {
        self.reader = reader
        self.size = size
        self.detours = detours
    }

    /// Returns the canvas with the frame drawn on it.
    ///
    /// - Throws: `CodecError.limitExceeded` if requests out of order would require too many frames to be drawn, and the
    ///   errors of the reader. The next call then draws from the nearest frame that does not depend on earlier ones.
    mutating func canvas(at index: Int, context: WorkContext) throws -> Bitmap {
        if let shown, shown.index == index { return shown.canvas }
        let frames = reader.frames
        var start = 0
        var canvas: Bitmap?
        // A frame that directly follows the last one keeps the canvas under it for later frames, even if it hides all
        // of that canvas.
        let isInTurn = shown.map { $0.leadsOn && $0.index == index - 1 } ?? false
        if !isInTurn { start = firstNeeded(for: index) }
        if let shown, shown.leadsOn, shown.index < index, shown.index >= start {
            start = shown.index + 1
            canvas = try disposed(shown)
        }
        try detours?.take((start..<max(start, index)).count { frames[$0].disposal != .restore })
        // The canvas to draw on is retained by now; nothing else of the last canvas is needed.
        shown = nil
        // Frames that are restored leave nothing behind, so those on the way are not even decoded.
        for step in start..<max(start, index) where frames[step].disposal != .restore {
            try context.checkCancellation()
            let drawn = try draw(step, on: canvas, context: context)
            canvas = frames[step].disposal == .clear ? try cleared(drawn, frames[step].rect) : drawn
        }
        try context.checkCancellation()
        let result = try draw(index, on: canvas, context: context)
        let isRestored = frames[index].disposal == .restore
        let leadsOn = !isRestored || index == 0 || isInTurn || !hidesAll(frames[index])
        shown = Shown(index: index, canvas: result, base: isRestored ? canvas : nil, leadsOn: leadsOn)
        return result
    }

    /// Returns the nearest frame at or before `index` that no earlier frame shows through.
    private func firstNeeded(for index: Int) -> Int {
        let frames = reader.frames
        var first = index
        while first > 0 {
            if hidesAll(frames[first]), first == index || frames[first].disposal != .restore { break }
            // The canvas is empty after a frame that covers it and is cleared.
            if isWhole(frames[first - 1]), frames[first - 1].disposal == .clear { break }
            first -= 1
        }
        return first
    }

    private func hidesAll(_ frame: AnimationFrame) -> Bool { isWhole(frame) && frame.blend == .replace }

    private func isWhole(_ frame: AnimationFrame) -> Bool {
        frame.rect == PixelRect(x: 0, y: 0, width: size.width, height: size.height)
    }

    /// Returns the canvas that the frame after `shown` is drawn on.
    private func disposed(_ shown: Shown) throws -> Bitmap? {
        let frame = reader.frames[shown.index]
        switch frame.disposal {
        case .keep: return shown.canvas
        case .restore: return shown.base
        case .clear: return try cleared(shown.canvas, frame.rect)
        }
    }

    private func draw(_ index: Int, on canvas: Bitmap?, context: WorkContext) throws -> Bitmap {
        let frame = reader.frames[index]
        let pixels = try reader.pixels(at: index, context: context)
        let rect = frame.rect
        let bounds = PixelRect(x: 0, y: 0, width: size.width, height: size.height)
        guard pixels.size == rect.size, rect.clamped(to: size) == rect else {
            throw BitmapError.invalidSource(pixels.size)
        }
        if rect == bounds, canvas == nil || frame.blend == .replace || pixels.isOpaque { return pixels }
        let isOpaque = canvas?.isOpaque == true && (frame.blend == .over || pixels.isOpaque)
        return try Bitmap(size: size, isOpaque: isOpaque) { bytes in
            Self.fill(bytes, with: canvas)
            guard let target = bytes.baseAddress?.assumingMemoryBound(to: UInt8.self) else { return }
            pixels.withPixels { source in
                guard let source = source.baseAddress?.assumingMemoryBound(to: UInt8.self) else { return }
                halcyon_draw(
                    target + (rect.y * size.width + rect.x) * 4, size.width * 4, source, rect.size.width,
                    rect.size.height, frame.blend == .over)
            }
        }
    }

    private func cleared(_ canvas: Bitmap, _ rect: PixelRect) throws -> Bitmap? {
        guard rect.size != size else { return nil }
        return try Bitmap(size: size, isOpaque: false) { bytes in
            Self.fill(bytes, with: canvas)
            for y in rect.y..<rect.y + rect.size.height {
                let start = (y * size.width + rect.x) * 4
                UnsafeMutableRawBufferPointer(rebasing: bytes[start..<start + rect.size.width * 4])
                    .initializeMemory(as: UInt8.self, repeating: 0)
            }
        }
    }

    private static func fill(_ bytes: UnsafeMutableRawBufferPointer, with canvas: Bitmap?) {
        if let canvas {
            canvas.withPixels { bytes.copyMemory(from: $0) }
        } else {
            bytes.initializeMemory(as: UInt8.self, repeating: 0)
        }
    }
}
