import Foundation
import Halcyon
import HalcyonCodecs
import HalcyonSystem

/// The encoder of one protocol, with the options of the user.
struct PictureEncoder: Sendable {
    /// A picture as the bytes of a protocol.
    enum Picture: Sendable {
        /// Lines of text.
        case lines([[UInt8]])
        /// A sequence that draws at the cursor.
        case sequence([UInt8])
    }

    let way: DrawingProtocol
    /// Whether sequences go through tmux.
    let isWrapped: Bool
    /// The surface that the user has chosen; nil to show what lies below.
    let surface: Backdrop.Surface?
    /// The terminal's own background, for protocols without soft edges.
    let background: Color?
    let dithers: Bool
    /// Whether text may have any colour, or one of the 256 of xterm's palette.
    var hasEveryColor = true
    /// The maximum number of colours of a picture of Sixel, from 2 to 256.
    var sixelColors = 256

    /// Encodes a picture.
    ///
    /// - Parameters:
    ///   - id: The picture's number in the terminal; a later picture of the same number replaces it.
    ///   - isFrame: Whether it is drawn over an earlier frame, of which nothing may show through.
    /// - Throws: `CodecError`, `BitmapError`, `CancellationError`.
    func picture(
        _ bitmap: Bitmap, id: UInt32, isFrame: Bool = false, context: WorkContext = .uncancellable
    ) throws -> Picture {
        let bitmap = try backdrop(isFrame: isFrame)?.flattened(bitmap) ?? bitmap
        switch way {
        case .kitty:
            return sequence(KittyEncoder.sequences(png: try Self.png(bitmap, context), id: id))
        case .iterm2:
            return sequence([ITermEncoder.sequence(file: try Self.png(bitmap, context), size: bitmap.size)])
        case .sixel:
            return sequence([try SixelEncoder.sequence(bitmap, colors: sixelColors, dithers: dithers)])
        case .blocks:
            return .lines(BlockEncoder.lines(bitmap, inEveryColor: hasEveryColor))
        }
    }

    /// Wraps a file that the terminal decodes and plays itself, as iTerm2 does.
    func file(_ data: Data, size: PixelSize) -> Picture {
        sequence([ITermEncoder.sequence(file: data, size: size)])
    }

    private func backdrop(isFrame: Bool) -> Backdrop? {
        if let surface { return Backdrop(surface: surface, keepsClear: false) }
        switch way {
        case .kitty, .iterm2: return nil
        case .sixel: return Backdrop(surface: .color(background ?? .black), keepsClear: !isFrame)
        case .blocks: return Backdrop(surface: .color(background ?? .black), keepsClear: true)
        }
    }

    private func sequence(_ parts: [[UInt8]]) -> Picture {
        .sequence(parts.flatMap { isWrapped ? TmuxPassthrough.wrapped($0) : $0 })
    }

    private static func png(_ bitmap: Bitmap, _ context: WorkContext) throws -> Data {
        let image = Image(
            bitmap: bitmap, info: ImageInfo(format: .png, size: bitmap.size, hasAlpha: !bitmap.isOpaque))
        return try CoderRegistry.shared.encode(image, as: .png, context: context)
    }
}
