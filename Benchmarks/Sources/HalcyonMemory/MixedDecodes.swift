import BenchSupport
import Foundation
import Halcyon

/// Runs 20,000 decodes of all formats and sizes, two at a time, and measures the memory that stays resident.
struct MixedDecodes {
    let folder: URL

    private static let count = 20_000

    func measure() async throws {
        let files = try Self.files()
        var early = 0
        for start in stride(from: 0, to: Self.count, by: 500) {
            await withTaskGroup { group in
                for half in 0..<2 {
                    group.addTask {
                        for index in start + half * 250..<start + half * 250 + 250 { Self.decode(files, index) }
                    }
                }
            }
            if start == 0 { early = Resident.now }
        }
        let late = Resident.now
        print(
            "mixed: \(Self.count) decodes of \(files.count) files: resident \(mebibytes(early)) after 500, "
                + "\(mebibytes(late)) at the end, \(String(format: "%.2f", Double(late) / Double(early))) times that")
    }

    private static func decode(_ files: [Data], _ index: Int) {
        let data = files[index * 7919 % files.count]
        let sides = [nil, 16, 100, 333, 700]
        var options = DecodeOptions()
        if let side = sides[index % sides.count] { options.target = TargetSize(PixelSize(side, side)) }
        if index % 11 == 0 {
            guard let decoding = CoderRegistry.shared.makeProgressive(for: data, options: options) else { return }
            try? decoding.append(data.prefix(data.count / 2))
            _ = try? decoding.preview(context: .uncancellable)
            return
        }
        let image = try? CoderRegistry.shared.decode(
            index % 13 == 0 ? data.prefix(data.count / 2) : data, options: options)
        if let animation = image?.animation { _ = try? animation.frame(at: animation.frameCount - 1) }
    }

    /// Returns the files of the tests, and some of a usual size.
    static func files() throws -> [Data] {
        let (root, goldens) = (Fixtures.folder, ["half", "json", "rgba", "rgba16"])
        var files: [Data] = []
        for folder in [
            "animation", "avif", "bmp", "color", "deep", "gainmap", "gif", "hdr", "heic", "ico", "jpeg", "jxl",
            "pixbuf",
            "png", "qoi", "raw", "sequence", "svg", "tiff", "variants", "webp",
        ] {
            let names = try FileManager.default.contentsOfDirectory(atPath: root.appending(path: folder).path).sorted()
            for name in names where !goldens.contains((name as NSString).pathExtension) {
                files.append(try Data(contentsOf: root.appending(path: folder).appending(path: name)))
            }
        }
        for (index, format) in [ImageFormat.jpeg, .png, .webp, .jpeg].enumerated() {
            let image = try Picture.make(PixelSize(1600 + index * 100, 1200), hasAlpha: index == 1, shift: index)
            let data = try CoderRegistry.shared.encode(
                image, as: format, options: EncodeOptions(isProgressive: index == 3))
            files += Array(repeating: data, count: 12)
        }
        return files
    }
}

enum Fixtures {
    static let folder = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
        .deletingLastPathComponent().deletingLastPathComponent().appending(path: "Tests/Fixtures")
}
