import CZlib
import Foundation
import TestSupport

/// Small files that were put together to cost much.
struct HostileFile: Sendable {
    let name: String
    /// The codes of the errors that are right; `image` where it can be decoded at little cost.
    let accepted: Set<String>
    /// Bytes of the decode budget.
    var budget = 256 << 20
    let make: @Sendable () -> Data

    static let all: [HostileFile] = gifs + pngs + drawings + others

    // MARK: GIF

    static let gifs = [
        HostileFile(name: "frame-beyond-canvas.gif", accepted: ["image", "limitExceeded", "damagedImage"]) {
            gif(canvas: 1, frames: [1, 65_535])
        },
        HostileFile(name: "only-frame-beyond-canvas.gif", accepted: ["limitExceeded"]) {
            gif(canvas: 1, frames: [65_535])
        },
        HostileFile(name: "10000-frames.gif", accepted: ["limitExceeded"]) {
            gif(canvas: 1300, frames: [1300] + [Int](repeating: 1, count: 9_999), disposal: 1)
        },
        HostileFile(name: "10000-cleared-frames.gif", accepted: ["limitExceeded"]) {
            gif(canvas: 1300, frames: [1300] + [Int](repeating: 1, count: 9_999), disposal: 2)
        },
        HostileFile(name: "10000-empty-extensions.gif", accepted: ["image", "limitExceeded"]) {
            let file = gif(canvas: 2, frames: [2])
            return file.prefix(19) + Data([0x21, 0xFE, 0].repeated(10_000)) + file.dropFirst(19)
        },
    ]

    /// Frames of one colour whose codes stand for some 4,000 pixels each.
    private static func gif(canvas: Int, frames: [Int], disposal: UInt8 = 0) -> Data {
        var file = Data("GIF89a".utf8) + little16(canvas) + little16(canvas)
        file += [0x80, 0, 0, 0, 0, 0, 0xFF, 0xFF, 0xFF]
        var made: [Int: Data] = [:]
        for side in frames {
            file +=
                [0x21, 0xF9, 4, disposal << 2, 1, 0, 0, 0, 0x2C, 0, 0, 0, 0] + little16(side) + little16(side) + [0]
            let pixels = made[side] ?? flatLZW(side * side)
            made[side] = pixels
            file += pixels
        }
        return file + [0x3B]
    }

    /// A run of zeros: codes for longer and longer runs up to 4,094 pixels, then that one over and over.
    private static func flatLZW(_ pixels: Int) -> Data {
        var bits = BitWriter()
        var (left, width, next) = (pixels, 3, 6)
        bits.put(4, width)
        bits.put(0, width)
        left -= 1
        var run = 2
        while left >= run, next < 4096 {
            bits.put(next, width)
            left -= run
            run += 1
            next += 1
            if next == 1 << width, width < 12 { width += 1 }
        }
        run -= 1
        if left > run * 64 {
            // Whole bytes from here on: two codes are three bytes.
            while bits.count % 8 != 0, left >= run {
                bits.put(4095, 12)
                left -= run
            }
            let pairs = left / (run * 2)
            bits.repeatPair(4095, count: pairs)
            left -= pairs * run * 2
        }
        while left > 0 {
            let step = min(left, run)
            bits.put(step == 1 ? 0 : 4 + step, width)
            left -= step
        }
        bits.put(5, width)
        return Data([2]) + blocks(bits.finished())
    }

    private static func blocks(_ data: Data) -> Data {
        var result = Data(capacity: data.count + data.count / 255 + 2)
        for start in stride(from: 0, to: data.count, by: 255) {
            let part = data[start..<min(start + 255, data.count)]
            result.append(UInt8(part.count))
            result.append(part)
        }
        return result + [0]
    }

    // MARK: PNG

    static let pngs = [
        HostileFile(name: "shared-chunks.png", accepted: ["image", "limitExceeded", "damagedImage"]) {
            // A palette file whose chunks beside the pixels are 2 MB, in front of a thousand frames.
            var file = signature + header(1, 1, depth: 8, kind: 3)
            file += chunk("acTL", big32(1000) + big32(0)) + chunk("PLTE", Data([0, 0, 0]))
            for _ in 0..<2_000 { file += chunk("tRNS", Data(count: 1000)) }
            return file + frames(1000, side: 1, rowBytes: 1) + chunk("IEND", Data())
        },
        HostileFile(name: "private-chunks.png", accepted: ["image", "limitExceeded"]) {
            var file = signature + header(1, 1, depth: 8, kind: 0) + chunk("acTL", big32(1000) + big32(0))
            for _ in 0..<2_000 { file += chunk("teSt", Data(count: 1000)) }
            return file + frames(1000, side: 1, rowBytes: 1) + chunk("IEND", Data())
        },
        HostileFile(name: "large-frames.png", accepted: ["image", "limitExceeded"], budget: 512 << 20) {
            signature + header(4096, 4096, depth: 1, kind: 0) + chunk("acTL", big32(4) + big32(0))
                + frames(4, side: 4096, rowBytes: 512) + chunk("IEND", Data())
        },
        HostileFile(name: "frames-beyond-the-budget.png", accepted: ["limitExceeded"]) {
            signature + header(16_384, 16_384, depth: 1, kind: 0) + chunk("acTL", big32(4) + big32(0))
                + frames(4, side: 16_384, rowBytes: 2048) + chunk("IEND", Data())
        },
        HostileFile(name: "profile-of-100-megabytes.png", accepted: ["image"]) {
            profiled(ProfileFile.table(steps: 255, held: 2), depth: 8)
        },
        HostileFile(name: "packed-profile.png", accepted: ["image"]) {
            profiled(ProfileFile.table(steps: 170), depth: 8)
        },
        HostileFile(name: "packed-profile-of-words.png", accepted: ["image"]) {
            profiled(ProfileFile.table(steps: 170), depth: 16)
        },
    ]

    private static func profiled(_ profile: Data, depth: UInt8) -> Data {
        signature + header(8, 8, depth: depth, kind: 2) + chunk("iCCP", Data("p\0\0".utf8) + compressed(profile))
            + chunk("IDAT", compressed(Data(count: (Int(depth) * 3 + 1) * 8))) + chunk("IEND", Data())
    }

    private static let signature = Data([0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A])

    private static func header(_ width: Int, _ height: Int, depth: UInt8, kind: UInt8) -> Data {
        chunk("IHDR", big32(width) + big32(height) + [depth, kind, 0, 0, 0])
    }

    /// Frames of the whole canvas, the first of which is the default image.
    private static func frames(_ count: Int, side: Int, rowBytes: Int) -> Data {
        let pixels = compressed(Data(count: (rowBytes + 1) * side))
        var (file, sequence) = (Data(), 0)
        for index in 0..<count {
            let place = big32(side) + big32(side) + big32(0) + big32(0)
            file += chunk("fcTL", big32(sequence) + place + [0, 1, 0, 10, 0, 0])
            file += index == 0 ? chunk("IDAT", pixels) : chunk("fdAT", big32(sequence + 1) + pixels)
            sequence += index == 0 ? 1 : 2
        }
        return file
    }

    private static func still(_ side: Int) -> Data {
        signature + header(side, side, depth: 1, kind: 0)
            + chunk("IDAT", compressed(Data(count: (side / 8 + 1) * side))) + chunk("IEND", Data())
    }

    private static func chunk(_ name: String, _ body: Data) -> Data {
        let named = Data(name.utf8) + body
        let sum = named.withUnsafeBytes { crc32_z(0, $0.baseAddress?.assumingMemoryBound(to: UInt8.self), $0.count) }
        return big32(body.count) + named + big32(Int(sum))
    }

    private static func compressed(_ data: Data) -> Data {
        var count = compressBound(UInt(data.count))
        var result = Data(count: Int(count))
        _ = result.withUnsafeMutableBytes { target in
            data.withUnsafeBytes { source in
                compress2(
                    target.baseAddress?.assumingMemoryBound(to: UInt8.self), &count,
                    source.baseAddress?.assumingMemoryBound(to: UInt8.self), UInt(source.count), 9)
            }
        }
        return result.prefix(Int(count))
    }

    // MARK: SVG

    static let drawings = [
        HostileFile(name: "image-inside.svg", accepted: ["limitExceeded", "damagedImage"]) {
            svg("<image width='9' height='9' href='data:image/png;base64,\(still(20_000).base64EncodedString())'/>")
        },
        HostileFile(name: "many-images-inside.svg", accepted: ["image", "limitExceeded", "damagedImage"]) {
            let picture = still(2000).base64EncodedString()
            return svg("<image width='9' height='9' href='data:image/png;base64,\(picture)'/>".repeated(40))
        },
        HostileFile(name: "20000-elements-inside.svg", accepted: ["image"]) {
            inside(svg("<rect width='9' height='9'/>".repeated(20_000)))
        },
        HostileFile(name: "250-drawings-inside.svg", accepted: ["image"]) {
            svg(
                image(svg("<rect width='1e9' height='1e9' filter='url(#f)'/><filter id='f'><feFlood/></filter>"))
                    .repeated(250))
        },
        HostileFile(name: "large-drawing-inside.svg", accepted: ["image"]) {
            inside(
                Data(
                    "<svg xmlns='http://www.w3.org/2000/svg' width='1e6' height='1e6'><rect width='1e6' height='1e6'/></svg>"
                        .utf8))
        },
        HostileFile(name: "elements-of-entities.svg", accepted: ["image"]) {
            Data("<!DOCTYPE svg [<!ENTITY e '\("<g/>".repeated(100))'>]>".utf8) + svg("&e;".repeated(200))
        },
        HostileFile(name: "250-groups.svg", accepted: ["image", "limitExceeded", "damagedImage"]) {
            let opened = "<g opacity='.9'>".repeated(250)
            return svg(opened + "<rect width='9' height='9'/>" + "</g>".repeated(250))
        },
        HostileFile(name: "80-patterns.svg", accepted: ["image", "limitExceeded", "damagedImage"]) {
            let all = (1...80).map { nested("pattern id='p\($0)' width='1' height='1'", "pattern", fill: "p\($0 + 1)") }
            return svg(all.joined() + "<rect width='9' height='9' fill='url(#p1)'/>")
        },
        HostileFile(name: "120-masks.svg", accepted: ["image", "limitExceeded", "damagedImage"]) {
            let all = (1...120).map { number in
                "<mask id='m\(number)'><rect width='9' height='9' fill='#fff' mask='url(#m\(number + 1))'/></mask>"
            }
            return svg(all.joined() + "<rect width='9' height='9' mask='url(#m1)'/>")
        },
        HostileFile(name: "200-uses.svg", accepted: ["image", "limitExceeded", "damagedImage"]) {
            let all = (1...200).map { "<g id='u\($0)'><use href='#u\($0 + 1)'/></g>" }
            return svg("<defs>" + all.joined() + "<rect id='u201' width='9' height='9'/></defs><use href='#u1'/>")
        },
        HostileFile(name: "a-long-line.svg", accepted: ["image"]) {
            svg("<text>\("a".repeated(4000))</text>")
        },
        HostileFile(name: "a-line-of-long-letters.svg", accepted: ["image"]) {
            svg("<text>\("@".repeated(2500))</text>")
        },
        HostileFile(name: "a-line-of-symbols.svg", accepted: ["image"]) {
            svg("<text>\("\u{2603}".repeated(300))</text>")
        },
        HostileFile(name: "a-line-of-large-letters.svg", accepted: ["image"]) {
            svg("<text font-size='1000'>\("@".repeated(1000))</text>")
        },
        HostileFile(name: "a-long-text.svg", accepted: ["image"]) {
            svg("<text>\("<tspan>letters</tspan>".repeated(2000))</text>")
        },
        HostileFile(name: "letters-without-end.svg", accepted: ["limitExceeded"]) {
            svg("<text>\("a".repeated(1_000_000))</text>")
        },
        HostileFile(name: "20000-elements.svg", accepted: ["image"]) {
            svg("<rect width='9' height='9'/>".repeated(20_000))
        },
    ]

    private static func nested(_ opening: String, _ name: String, fill: String) -> String {
        "<\(opening)><rect width='1' height='1' fill='url(#\(fill))'/></\(name)>"
    }

    /// A drawing with another one inside.
    private static func inside(_ drawing: Data) -> Data { svg(image(drawing)) }

    private static func image(_ drawing: Data) -> String {
        "<image width='9' height='9' href='data:image/svg+xml;base64,\(drawing.base64EncodedString())'/>"
    }

    private static func svg(_ body: String) -> Data {
        Data("<svg xmlns='http://www.w3.org/2000/svg' width='9' height='9'>\(body)</svg>".utf8)
    }

    // MARK: Others

    static let others = [
        HostileFile(name: "tile-beyond-image.tiff", accepted: ["limitExceeded", "damagedImage"]) {
            tiff(side: 16, tile: 65_536)
        },
        HostileFile(name: "tile-of-twice-the-image.tiff", accepted: ["image", "damagedImage"]) {
            tiff(side: 16, tile: 32)
        },
        HostileFile(name: "frames-beyond-canvas.webp", accepted: ["image", "damagedImage", "limitExceeded"]) {
            webp(canvas: 1, frame: 16_384, count: 200)
        },
        HostileFile(name: "ring-of-items.heic", accepted: ["limitExceeded", "damagedImage"]) {
            ring(["iden", "iden"])
        },
        HostileFile(name: "item-of-itself.heic", accepted: ["limitExceeded", "damagedImage"]) { ring(["iden"]) },
        HostileFile(name: "chain-of-items.heic", accepted: ["limitExceeded", "damagedImage"]) {
            ring([String](repeating: "iden", count: 20_000), isClosed: false)
        },
        HostileFile(name: "items-without-declaration.heic", accepted: ["limitExceeded", "damagedImage"]) {
            ring(["iden"], undeclared: 65_000)
        },
        HostileFile(name: "references.heic", accepted: ["limitExceeded", "damagedImage"]) {
            ring([String](repeating: "iden", count: 100), targets: 65_000)
        },
        HostileFile(name: "canvas-beyond-frames.webp", accepted: ["image", "damagedImage", "limitExceeded"]) {
            webp(canvas: 4096, frame: 1, count: 3)
        },
    ]

    /// One grey tile, packed by deflate.
    private static func tiff(side: Int, tile: Int) -> Data {
        let pixels = compressed(Data(count: min(tile * tile, 64 << 20)))
        let entries: [(Int, Int, Int)] = [
            (256, 4, side), (257, 4, side), (258, 3, 8), (259, 3, 8), (262, 3, 1), (277, 3, 1), (322, 4, tile),
            (323, 4, tile), (324, 4, 8 + 2 + 10 * 12 + 4), (325, 4, pixels.count),
        ]
        var file = Data("II".utf8) + [42, 0] + little32(8) + little16(entries.count)
        for (tag, kind, value) in entries { file += little16(tag) + little16(kind) + little32(1) + little32(value) }
        return file + little32(0) + pixels
    }

    /// Frames of lossless pixels, each of one colour.
    private static func webp(canvas: Int, frame: Int, count: Int) -> Data {
        // Signature, 14 bits each of width and height less one, no alpha, version 0; no transform, no cache, no meta
        // codes, and five simple codes of one symbol: every pixel is that without a bit.
        let size = (frame - 1) | (frame - 1) << 14
        let pixels = Data([0x2F]) + little32(size) + [0x88, 0x88, 0x08, 0, 0, 0]
        let body = Data("VP8L".utf8) + little32(pixels.count) + pixels + Data(count: pixels.count % 2)
        let place = little24(0) + little24(0) + little24(frame - 1) + little24(frame - 1) + little24(10) + [0]
        let one = Data("ANMF".utf8) + little32(place.count + body.count) + place + body
        var file = Data("WEBPVP8X".utf8) + little32(10) + [2, 0, 0, 0] + little24(canvas - 1) + little24(canvas - 1)
        file += Data("ANIM".utf8) + little32(6) + Data(count: 6)
        for _ in 0..<count { file += one }
        return Data("RIFF".utf8) + little32(file.count) + file
    }

    // MARK: HEIC

    /// Items that are each derived from the next one, the last of them from the first.
    /// Items that are made of each other.
    ///
    /// - Parameters:
    ///   - undeclared: how many items have a size beside them.
    ///   - targets: how often each names the next.
    private static func ring(
        _ kinds: [String], isClosed: Bool = true, undeclared: Int = 0, targets: Int = 1
    ) -> Data {
        let items = kinds.enumerated().map { index, kind in
            fullBox("infe", version: 2, big16(index + 1) + big16(0) + Data(kind.utf8) + [0])
        }
        let links = kinds.indices.dropLast(isClosed ? 0 : 1).map { index in
            let next = [UInt8](big16((index + 1) % kinds.count + 1)).repeated(targets)
            return box("dimg", big16(index + 1) + big16(targets) + next)
        }
        let properties = (0..<kinds.count + undeclared).map { big16($0 + 1) + [1, 1] }
        let sizes = box("ipco", fullBox("ispe", big32(64) + big32(64)))
        let owners = fullBox("ipma", big32(properties.count) + properties.reduce(Data(), +))
        let body =
            fullBox("hdlr", big32(0) + Data("pict".utf8) + Data(count: 13)) + fullBox("pitm", big16(1))
            + fullBox("iinf", big16(kinds.count) + items.reduce(Data(), +)) + fullBox("iref", links.reduce(Data(), +))
            + box("iprp", sizes + owners) + fullBox("iloc", big16(0x4400) + big16(0))
        return box("ftyp", Data("heic".utf8) + big32(0) + Data("mif1heic".utf8)) + fullBox("meta", body)
    }

    private static func box(_ name: String, _ body: Data) -> Data { big32(body.count + 8) + Data(name.utf8) + body }

    private static func fullBox(_ name: String, version: UInt8 = 0, _ body: Data) -> Data {
        box(name, Data([version, 0, 0, 0]) + body)
    }

    // MARK: Numbers

    private static func big16(_ value: Int) -> Data { big32(value).suffix(2) }

    private static func little16(_ value: Int) -> Data { little32(value).prefix(2) }
    private static func little24(_ value: Int) -> Data { little32(value).prefix(3) }

    private static func little32(_ value: Int) -> Data {
        withUnsafeBytes(of: UInt32(truncatingIfNeeded: value).littleEndian) { Data($0) }
    }

    private static func big32(_ value: Int) -> Data {
        withUnsafeBytes(of: UInt32(truncatingIfNeeded: value).bigEndian) { Data($0) }
    }
}

/// Codes of a GIF, the lowest bit first.
private struct BitWriter {
    private(set) var count = 0
    private var bytes = Data()

    mutating func put(_ value: Int, _ width: Int) {
        for bit in 0..<width {
            if count % 8 == 0 { bytes.append(0) }
            if value >> bit & 1 != 0 { bytes[bytes.count - 1] |= 1 << UInt8(count % 8) }
            count += 1
        }
    }

    /// Two codes of twelve bits, so many times, from the start of a byte on.
    mutating func repeatPair(_ value: Int, count pairs: Int) {
        var pair = BitWriter()
        pair.put(value, 12)
        pair.put(value, 12)
        bytes.append(Data([UInt8](pair.bytes).repeated(pairs)))
        count += pairs * 24
    }

    func finished() -> Data { bytes }
}

extension Array where Element == UInt8 {
    fileprivate func repeated(_ count: Int) -> [UInt8] {
        var result: [UInt8] = []
        result.reserveCapacity(self.count * count)
        for _ in 0..<count { result += self }
        return result
    }
}

extension String {
    fileprivate func repeated(_ count: Int) -> String { String(repeating: self, count: count) }
}
