import Foundation
import Halcyon
import Testing

/// A picture of Kitty's protocol, put together from its chunks.
struct KittyPicture {
    let keys: [String: String]
    let file: Data
    let row: Int
    let column: Int
    let chunks: Int

    /// Reads the pictures of a screen, and fails at anything that the protocol does not allow.
    static func all(on screen: ScreenModel, at place: SourceLocation = #_sourceLocation) throws -> [KittyPicture] {
        var pictures: [KittyPicture] = []
        var open: (keys: [String: String], payload: [UInt8], text: ScreenModel.Text, chunks: Int)?
        for text in screen.texts where text.introducer == "_" {
            let end = try #require(text.content.firstIndex(of: UInt8(ascii: ";")), sourceLocation: place)
            #expect(text.content.first == UInt8(ascii: "G"), sourceLocation: place)
            var keys: [String: String] = [:]
            for pair in String(decoding: text.content[1..<end], as: UTF8.self).split(separator: ",") {
                let parts = pair.split(separator: "=").map(String.init)
                try #require(parts.count == 2 && keys[parts[0]] == nil, sourceLocation: place)
                keys[parts[0]] = parts[1]
            }
            // The question whether the terminal knows the protocol.
            if keys["a"] == "q" { continue }
            let payload = text.content[(end + 1)...]
            #expect(payload.count <= 4096, sourceLocation: place)
            if let begun = open {
                #expect(Set(keys.keys).isSubset(of: ["m", "q"]), sourceLocation: place)
                open = (begun.keys, begun.payload + payload, begun.text, begun.chunks + 1)
            } else {
                open = (keys, Array(payload), text, 1)
            }
            // All but the last chunk are whole groups of base64.
            if keys["m"] == "1" { #expect(payload.count % 4 == 0, sourceLocation: place) }
            guard keys["m"] != "1", let whole = open else { continue }
            let file = try #require(Data(base64Encoded: Data(whole.payload)), sourceLocation: place)
            pictures.append(
                KittyPicture(
                    keys: whole.keys, file: file, row: whole.text.row, column: whole.text.column, chunks: whole.chunks))
            open = nil
        }
        #expect(open == nil, "a picture without its end", sourceLocation: place)
        return pictures
    }
}

/// An inline image of iTerm2.
struct ITermPicture {
    let keys: [String: String]
    let file: Data
    let row: Int
    let column: Int

    static func all(on screen: ScreenModel, at place: SourceLocation = #_sourceLocation) throws -> [ITermPicture] {
        try screen.texts.filter { $0.introducer == "]" && $0.content.starts(with: "1337;".utf8) }.map { text in
            let content = String(decoding: text.content, as: UTF8.self)
            let parts = content.dropFirst(5).split(separator: ":", maxSplits: 1)
            try #require(parts.count == 2 && parts[0].hasPrefix("File="), sourceLocation: place)
            var keys: [String: String] = [:]
            for pair in parts[0].dropFirst(5).split(separator: ";") {
                let sides = pair.split(separator: "=").map(String.init)
                try #require(sides.count == 2, sourceLocation: place)
                keys[sides[0]] = sides[1]
            }
            let file = try #require(Data(base64Encoded: String(parts[1])), sourceLocation: place)
            return ITermPicture(keys: keys, file: file, row: text.row, column: text.column)
        }
    }
}

/// A decoder of Sixel.
struct SixelPicture {
    let size: PixelSize
    let row: Int
    let column: Int
    /// The colours by rows as shares of 100; nil where nothing was drawn.
    private(set) var pixels: [[Int]?]
    private(set) var colors: [Int: [Int]] = [:]

    func pixel(x: Int, y: Int) -> [Int]? { pixels[y * size.width + x] }

    static func all(on screen: ScreenModel, at place: SourceLocation = #_sourceLocation) throws -> [SixelPicture] {
        try screen.texts.filter { $0.introducer == "P" }.map { text in
            try SixelPicture(text, at: place)
        }
    }

    private init(_ text: ScreenModel.Text, at place: SourceLocation) throws {
        let start = try #require(text.content.firstIndex(of: UInt8(ascii: "q")), sourceLocation: place)
        // The second parameter: pixels that are not drawn stay as they are.
        #expect(String(decoding: text.content[..<start], as: UTF8.self) == "0;1;0", sourceLocation: place)
        var reader = Reader(bytes: text.content[(start + 1)...])
        try #require(reader.next() == "\"", sourceLocation: place)
        let raster = reader.numbers()
        try #require(raster.count == 4 && raster[0] == 1 && raster[1] == 1, sourceLocation: place)
        size = PixelSize(raster[2], raster[3])
        (row, column) = (text.row, text.column)
        pixels = Array(repeating: nil, count: size.width * size.height)
        try draw(&reader, at: place)
    }

    private mutating func draw(_ reader: inout Reader, at place: SourceLocation) throws {
        var (x, top, color, count) = (0, 0, -1, 1)
        while let character = reader.next() {
            switch character {
            case "#":
                let numbers = reader.numbers()
                color = try #require(numbers.first, sourceLocation: place)
                #expect((0...255).contains(color), sourceLocation: place)
                guard numbers.count > 1 else { continue }
                try #require(numbers.count == 5 && numbers[1] == 2, sourceLocation: place)
                #expect(numbers[2...].allSatisfy { (0...100).contains($0) }, sourceLocation: place)
                colors[color] = Array(numbers[2...])
            case "!": count = try #require(reader.numbers().first, sourceLocation: place)
            case "$": x = 0
            case "-": (x, top) = (0, top + 6)
            case "?"..."~":
                let bits = Int(character.asciiValue ?? 63) - 63
                let shares = try #require(colors[color], "a colour without a definition", sourceLocation: place)
                for _ in 0..<count {
                    try #require(x < size.width, sourceLocation: place)
                    for bit in 0..<6 where bits >> bit & 1 == 1 {
                        try #require(top + bit < size.height, sourceLocation: place)
                        #expect(pixels[(top + bit) * size.width + x] == nil, "drawn twice", sourceLocation: place)
                        pixels[(top + bit) * size.width + x] = shares
                    }
                    x += 1
                }
                count = 1
            default: Issue.record("\(character) in a picture", sourceLocation: place)
            }
        }
    }

    private struct Reader {
        var bytes: ArraySlice<UInt8>

        mutating func next() -> Character? { bytes.popFirst().map { Character(UnicodeScalar($0)) } }

        mutating func numbers() -> [Int] {
            let text = bytes.prefix { (0x30...0x39).contains($0) || $0 == UInt8(ascii: ";") }
            bytes = bytes.dropFirst(text.count)
            return String(decoding: text, as: UTF8.self).split(separator: ";").compactMap { Int($0) }
        }
    }
}
