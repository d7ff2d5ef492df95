import CTestVideo
import Foundation
import HalcyonImage
import TestSupport

/// Videos that GStreamer writes for the tests: two seconds of red, two of green and two of blue, at ten frames a second.
enum TestVideo {
    struct Failure: Error, CustomStringConvertible {
        let description: String
    }

    enum Color {
        case red, green, blue, other

        /// The colour of a pixel, as far as codecs keep it.
        init(_ bitmap: Bitmap, x: Int = 8, y: Int = 8) {
            guard let pixel = bitmap.pixel(x: x, y: y) else {
                self = .other
                return
            }
            let (red, green, blue) = (pixel.red > 150, pixel.green > 150, pixel.blue > 150)
            self =
                switch (red, green, blue) {
                case (true, false, false): .red
                case (false, true, false): .green
                case (false, false, true): .blue
                default: .other
                }
        }
    }

    /// The way to a file: VP8 in WebM, with a key frame a second.
    static let webM = "vp8enc keyframe-max-dist=10 ! webmmux"

    static func write(_ pipeline: String) throws {
        var text = [CChar](repeating: 0, count: 256)
        guard test_video_run(pipeline, &text) else {
            throw Failure(
                description: String(decoding: text.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self))
        }
    }

    /// Writes the three colours.
    ///
    /// - Parameter coding: the elements between the pixels and the file.
    @discardableResult
    static func write(_ coding: String = webM, to name: String, in folder: TemporaryFolder) throws -> URL {
        let file = try url(name, in: folder)
        let parts = ["0xffff0000", "0xff00ff00", "0xff0000ff"].map {
            "videotestsrc pattern=solid-color foreground-color=\($0) num-buffers=20"
                + " ! video/x-raw,format=I420,width=64,height=48,framerate=10/1 ! c."
        }
        try write("concat name=c ! \(coding) ! \(sink(file)) " + parts.joined(separator: " "))
        return file
    }

    /// Writes what one source draws.
    static func write(_ source: String, _ coding: String, to name: String, in folder: TemporaryFolder) throws -> URL {
        let file = try url(name, in: folder)
        try write("\(source) ! \(coding) ! \(sink(file))")
        return file
    }

    static func write(_ bytes: Data, to name: String, in folder: TemporaryFolder) throws -> URL {
        let file = try url(name, in: folder)
        try bytes.write(to: file)
        return file
    }

    static func url(_ name: String, in folder: TemporaryFolder) throws -> URL {
        try FileManager.default.createDirectory(at: folder.url, withIntermediateDirectories: true)
        return folder.url.appending(path: name)
    }

    private static func sink(_ file: URL) -> String {
        "filesink location=\"\(file.path(percentEncoded: false))\""
    }
}

extension Data {
    /// Returns a copy in which the bytes at a distance from a mark are replaced, behind the first such mark.
    func patched(behind mark: [UInt8], at distance: Int = 0, _ change: (inout [UInt8]) -> Void) throws -> Data {
        guard let found = firstRange(of: Data(mark)) else { throw TestVideo.Failure(description: "no \(mark)") }
        var bytes = [UInt8](self)
        let start = found.upperBound + distance
        var part = [UInt8](bytes[start..<Swift.min(start + 64, bytes.count)])
        change(&part)
        bytes.replaceSubrange(start..<start + part.count, with: part)
        return Data(bytes)
    }
}
