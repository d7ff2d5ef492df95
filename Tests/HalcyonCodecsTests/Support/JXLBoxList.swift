import Foundation
import Testing

/// The boxes of a file, to be put together anew.
struct JXLBoxList {
    private var boxes: [(name: String, body: Data)] = []

    init(_ file: Data) throws {
        let bytes = [UInt8](file)
        var position = 0
        while position + 8 <= bytes.count {
            var count = bytes[position..<position + 4].reduce(0) { $0 << 8 | Int($1) }
            if count == 0 { count = bytes.count - position }
            try #require(count >= 8 && position + count <= bytes.count)
            let name = String(decoding: bytes[position + 4..<position + 8], as: UTF8.self)
            boxes.append((name, Data(bytes[position + 8..<position + count])))
            position += count
        }
    }

    var names: [String] { boxes.map(\.name) }

    /// The codestream, whose parts have a number each.
    var codestream: Data {
        boxes.reduce(into: Data()) { data, box in
            if box.name == "jxlc" { data.append(box.body) }
            if box.name == "jxlp" { data.append(box.body.dropFirst(4)) }
        }
    }

    func body(_ name: String) -> Data? { boxes.first { $0.name == name }?.body }

    mutating func replace(_ name: String, by body: Data) {
        for index in boxes.indices where boxes[index].name == name { boxes[index].body = body }
    }

    mutating func replaceCodestream(by codestream: Data) {
        boxes.removeAll { ["jxlc", "jxlp"].contains($0.name) }
        boxes.append(("jxlc", codestream))
    }

    mutating func insert(_ name: String, _ body: Data, at place: Int = 2) { boxes.insert((name, body), at: place) }

    var data: Data {
        boxes.reduce(into: Data()) { data, box in
            let count = UInt32(box.body.count + 8)
            data.append(contentsOf: withUnsafeBytes(of: count.bigEndian) { Array($0) })
            data.append(contentsOf: Array(box.name.utf8))
            data.append(box.body)
        }
    }
}

/// Numbers of any length, from the lowest bit of each byte on.
struct JXLBits {
    private var bytes: [UInt8] = []
    private var count = 0

    mutating func append(_ value: Int, _ bits: Int) {
        for bit in 0..<bits {
            if count % 8 == 0 { bytes.append(0) }
            bytes[count / 8] |= UInt8(value >> bit & 1) << (count % 8)
            count += 1
        }
    }

    var data: Data { Data(bytes) }
}
