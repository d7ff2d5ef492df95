import Foundation
import Halcyon
import HalcyonProcessing

/// Draws the demo's thumbnails on one picture, each with its title, its format and its load times.
struct ContactSheet {
    /// The size of a thumbnail in pixels.
    static let cell = PixelSize(288, 216)
    static let cornerRadius = 16.0
    private static let gap = 28
    private static let caption = 46
    private static let header = 112
    private static let background = Canvas.Color(0x14181F)
    private static let ink = Canvas.Color(0xE8ECF2)
    private static let quiet = Canvas.Color(0x93A0B4)
    private static let accent = Canvas.Color(0x3FB8AF)
    private static let warning = Canvas.Color(0xF2A65A)

    /// The processors of each thumbnail's request.
    static var processors: [any ImageProcessor] {
        [.resize(to: cell, mode: .fill, upscale: true), .roundCorners(radius: cornerRadius)]
    }

    let items: [DemoItem]
    /// A sentence under the title.
    let summary: String

    func draw() throws -> Bitmap {
        let columns = items.count < 5 ? max(1, items.count) : 5
        let rows = (items.count + columns - 1) / columns
        let size = PixelSize(
            Self.gap + columns * (Self.cell.width + Self.gap),
            Self.header + rows * (Self.cell.height + Self.caption + Self.gap / 2) + Self.gap / 2)
        var canvas = Canvas(size: size, background: Self.background)
        canvas.fill(PixelRect(x: Self.gap, y: 34, width: 8, height: 52), Self.accent)
        canvas.write("Halcyon", x: Self.gap + 22, y: 26, color: Self.ink, scale: 3)
        canvas.write(summary, x: Self.gap + 24, y: 76, color: Self.quiet)
        for (index, item) in items.enumerated() {
            let x = Self.gap + index % columns * (Self.cell.width + Self.gap)
            let y = Self.header + index / columns * (Self.cell.height + Self.caption + Self.gap / 2)
            draw(item, at: (x, y), on: &canvas)
        }
        return try canvas.bitmap()
    }

    private func draw(_ item: DemoItem, at place: (x: Int, y: Int), on canvas: inout Canvas) {
        let textTop = place.y + Self.cell.height + 9
        if let image = item.response?.image {
            let x = place.x + (Self.cell.width - image.width) / 2
            canvas.draw(image.bitmap, x: x, y: place.y + (Self.cell.height - image.height) / 2)
            canvas.write(Self.fitting(item.title), x: place.x + 2, y: textTop, color: Self.ink)
            canvas.write(Self.fitting(Self.label(item)), x: place.x + 2, y: textTop + 18, color: Self.quiet)
        } else {
            Self.frame(place, on: &canvas)
            let failure = item.failure
            canvas.write(
                failure?.code ?? "", x: place.x + 20, y: place.y + 92, color: Self.warning, scale: 2)
            canvas.write(Self.fitting(item.title), x: place.x + 2, y: textTop, color: Self.ink)
            canvas.write(Self.fitting(failure?.message ?? ""), x: place.x + 2, y: textTop + 18, color: Self.quiet)
        }
    }

    /// The format and the load times: `JPEG  net 41 ms  disk 6 ms  mem 0.1 ms`.
    static func label(_ item: DemoItem) -> String {
        let format = item.response?.image.info.format.name.uppercased() ?? ""
        let times = zip(DemoPass.allCases, item.outcomes).map { pass, outcome in
            "\(pass.short) \(Milliseconds.text(outcome.milliseconds))"
        }
        return ([format] + times).joined(separator: "  ")
    }

    /// Draws an empty frame in place of an image that must fail.
    private static func frame(_ place: (x: Int, y: Int), on canvas: inout Canvas) {
        canvas.fill(PixelRect(x: place.x, y: place.y, width: cell.width, height: cell.height), .init(0x1C222C))
        for edge in [
            PixelRect(x: place.x, y: place.y, width: cell.width, height: 2),
            PixelRect(x: place.x, y: place.y + cell.height - 2, width: cell.width, height: 2),
            PixelRect(x: place.x, y: place.y, width: 2, height: cell.height),
            PixelRect(x: place.x + cell.width - 2, y: place.y, width: 2, height: cell.height),
        ] {
            canvas.fill(edge, .init(0x2D3644))
        }
    }

    private static func fitting(_ text: String) -> String {
        guard PixelFont.width(of: text) > cell.width else { return text }
        var text = text
        while !text.isEmpty, PixelFont.width(of: text + "…") > cell.width { text.removeLast() }
        return text + "…"
    }
}
