import BenchSupport
import Foundation
import Halcyon

/// Decodes 12,000 x 9,000 pixels to 400 x 300, and measures the growth of memory beyond the file.
struct LargeFiles {
    let folder: URL

    static let size = PixelSize(12_000, 9_000)
    /// The allowed growth in bytes, besides the file and the output.
    private static let allowance = 24 << 20

    private struct Kind {
        let name: String
        let format: ImageFormat
        var hasAlpha = false
        var options = EncodeOptions()
        /// Whether memory may grow by the output and the allowance; otherwise by the decode's reservation and the allowance.
        var isStreamed = true
    }

    private static let kinds = [
        Kind(name: "baseline.jpg", format: .jpeg),
        Kind(name: "rows.png", format: .png),
        Kind(name: "rows-alpha.png", format: .png, hasAlpha: true),
        Kind(name: "lossy.webp", format: .webp, options: EncodeOptions(quality: 0.7)),
        Kind(name: "lossy-alpha.webp", format: .webp, hasAlpha: true, isStreamed: false),
        Kind(name: "progressive.jpg", format: .jpeg, options: EncodeOptions(isProgressive: true), isStreamed: false),
        Kind(name: "lossless.webp", format: .webp, options: EncodeOptions(isLossless: true), isStreamed: false),
    ]

    func measure() throws {
        for kind in Self.kinds {
            let file = folder.appending(path: kind.name)
            if !FileManager.default.fileExists(atPath: file.path) {
                _ = try Child.run(["make", folder.path, kind.name])
            }
            let growth = Int(try Child.run(["decode", file.path, "400", "300"])) ?? 0
            let output = 400 * 300 * 4
            let plan = try CoderRegistry.shared.plan(
                Data(contentsOf: file, options: .alwaysMapped),
                options: DecodeOptions(target: TargetSize(PixelSize(400, 300))))
            let bound = kind.isStreamed ? output + Self.allowance : plan.workingBytes + Self.allowance
            let verdict = growth <= bound ? "within" : "MORE THAN"
            let bytes = (try? file.resourceValues(forKeys: [.fileSizeKey]).fileSize) ?? 0
            print(
                "large: \(kind.name): file \(mebibytes(bytes)), grows by \(mebibytes(growth)) beside it, \(verdict) "
                    + "\(mebibytes(bound)); reserves \(mebibytes(plan.workingBytes))")
        }
    }

    func make(_ name: String) throws {
        guard let kind = Self.kinds.first(where: { $0.name == name }) else { throw MemoryFailure("no \(name)") }
        let image = try Picture.make(Self.size, hasAlpha: kind.hasAlpha)
        let file = try CoderRegistry.shared.encode(image, as: kind.format, options: kind.options)
        try file.write(to: folder.appending(path: name))
    }

    /// Runs in the child: prints the growth beyond the file's own bytes, which are in memory before.
    static func decode(_ arguments: [String]) throws {
        let data = try Data(contentsOf: URL(filePath: arguments[0]))
        let size = PixelSize(Int(arguments[1]) ?? 0, Int(arguments[2]) ?? 0)
        let options = DecodeOptions(target: TargetSize(size))
        // A first small image loads the code and tables of the libraries.
        _ = try? CoderRegistry.shared.decode(
            CoderRegistry.shared.encode(Picture.make(PixelSize(8, 8)), as: .png), options: options)
        let sum = data.reduce(0) { $0 &+ Int($1) }
        Resident.reset()
        let before = Resident.now
        let image = try CoderRegistry.shared.decode(data, options: options)
        let growth = Resident.peak - before
        guard image.width == size.width, sum != -1 else { throw MemoryFailure("\(image.size)") }
        print(growth)
    }
}
