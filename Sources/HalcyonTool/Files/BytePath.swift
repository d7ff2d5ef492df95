import Foundation
import Glibc

/// The path of a file as the system has it: bytes without a zero, which need not be UTF-8.
struct BytePath: Hashable, Sendable, CustomStringConvertible {
    private(set) var bytes: [UInt8]

    init(_ bytes: some Sequence<UInt8>) { self.bytes = Array(bytes) }

    /// The path that an argument of this program spells, with the bytes that its text may have lost.
    init(argument: String) { self = Self.arguments([argument])[0] }

    /// The paths that arguments of this program spell. Several may have lost their bytes to the same text: they are told apart by
    /// their order.
    static func arguments(_ texts: [String]) -> [BytePath] {
        var uses: [String: Int] = [:]
        return texts.map { text in
            guard let known = CommandBytes.known[text] else { return BytePath(text.utf8) }
            let use = uses[text, default: 0]
            uses[text] = use + 1
            return BytePath(known[min(use, known.count - 1)])
        }
    }

    /// The path of a file: URL of this machine, whose bytes need not be text; nil for anything else.
    init?(fileURL text: String) {
        let scheme = "file://"
        guard text.lowercased().hasPrefix(scheme), let slash = text.dropFirst(scheme.count).firstIndex(of: "/"),
            ["", "localhost"].contains(text.dropFirst(scheme.count)[..<slash])
        else { return nil }
        let encoded = Array(text[slash...].utf8)
        var bytes: [UInt8] = []
        var index = 0
        while index < encoded.count {
            let digits = encoded[index...].dropFirst().prefix(2)
            if encoded[index] == UInt8(ascii: "%"), digits.count == 2,
                let byte = UInt8(String(decoding: digits, as: UTF8.self), radix: 16)
            {
                // No path has a zero, which would end it early.
                guard byte != 0 else { return nil }
                bytes.append(byte)
                index += 3
            } else {
                bytes.append(encoded[index])
                index += 1
            }
        }
        self.bytes = bytes
    }

    /// The path for a terminal: no character of a name controls it, and bytes that are no text are marked.
    var description: String {
        let text = String(decoding: bytes, as: UTF8.self)
        return String(String.UnicodeScalarView(text.unicodeScalars.map { Self.isControl($0) ? "?" : $0 }))
    }

    /// The path as text; nil if it is not UTF-8.
    var text: String? { String(validating: bytes, as: UTF8.self) }

    /// The bytes after the last slash.
    var name: ArraySlice<UInt8> { bytes[(lastSlash.map { $0 + 1 } ?? 0)...] }

    /// The path of the folder: `.` for a bare name.
    var parent: BytePath {
        guard let lastSlash else { return BytePath(".".utf8) }
        let above = bytes[..<lastSlash].droppingSlashes
        return BytePath(above.isEmpty ? [Self.slash] : above)
    }

    /// The bytes after the last dot of the name, as text; empty without a dot, or if nothing is before it.
    var pathExtension: String { extensionDot.map { String(decoding: bytes[($0 + 1)...], as: UTF8.self) } ?? "" }

    func replacingExtension(with text: String) -> BytePath {
        BytePath(bytes[..<(extensionDot ?? bytes.count)] + Array("." + text).flatMap(\.utf8))
    }

    func appending(_ relative: some Collection<UInt8>) -> BytePath {
        if relative.isEmpty { return self }
        return BytePath(bytes + (bytes.isEmpty || bytes.last == Self.slash ? [] : [Self.slash]) + relative)
    }

    func withCString<Result>(_ body: (UnsafePointer<CChar>) throws -> Result) rethrows -> Result {
        try (bytes.map { CChar(bitPattern: $0) } + [0]).withUnsafeBufferPointer { buffer in
            // An array with an element has an address.
            guard let base = buffer.baseAddress else { return try "".withCString(body) }
            return try body(base)
        }
    }

    /// The path without slashes at its end; that of the root keeps its own.
    var withoutSlashes: BytePath {
        let rest = bytes[...].droppingSlashes
        return rest.isEmpty && !bytes.isEmpty ? BytePath([Self.slash]) : BytePath(rest)
    }

    static let slash = UInt8(ascii: "/")

    private var lastSlash: Int? { bytes.lastIndex(of: Self.slash) }

    private var extensionDot: Int? {
        let name = name
        guard let dot = name.lastIndex(of: UInt8(ascii: ".")), dot > name.startIndex else { return nil }
        return dot
    }

    /// Control characters, and those that turn the direction of the text after them.
    private static func isControl(_ scalar: Unicode.Scalar) -> Bool {
        switch scalar.properties.generalCategory {
        case .control, .format, .lineSeparator, .paragraphSeparator: true
        default: false
        }
    }
}

extension BytePath: Comparable {
    static func < (left: BytePath, right: BytePath) -> Bool { left.bytes.lexicographicallyPrecedes(right.bytes) }
}

extension ArraySlice<UInt8> {
    fileprivate var droppingSlashes: ArraySlice<UInt8> {
        self[..<(lastIndex { $0 != BytePath.slash }.map { $0 + 1 } ?? startIndex)]
    }
}

/// The arguments of this program whose bytes are not UTF-8, by the text that the standard library makes of them.
private enum CommandBytes {
    static let known: [String: [[UInt8]]] = {
        var known: [String: [[UInt8]]] = [:]
        for index in 0..<Int(CommandLine.argc) {
            guard let pointer = CommandLine.unsafeArgv[index] else { continue }
            let bytes = UnsafeRawBufferPointer(start: pointer, count: strlen(pointer)).map { $0 }
            guard String(validating: bytes, as: UTF8.self) == nil else { continue }
            // Alone, and as the value of `--option=`.
            for part in [bytes[...], bytes.drop { $0 != UInt8(ascii: "=") }.dropFirst()] where !part.isEmpty {
                known[String(decoding: part, as: UTF8.self), default: []].append(Array(part))
            }
        }
        return known
    }()
}
