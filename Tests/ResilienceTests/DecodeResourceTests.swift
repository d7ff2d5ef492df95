import Foundation
import TestSupport
import Testing

@testable import HostileDecode

/// Every fixture and damaged copies of it, decoded in a process of its own: a typed error or an image, in the memory that
/// was reserved and in a time that the file's size and the picture's account for.
@Suite(.serialized, .timeLimit(.minutes(60)))
struct DecodeResourceTests {
    /// Damaged copies of each file: `HALCYON_SOAK` runs the full count.
    private static let copies: UInt64 = ProcessInfo.processInfo.environment["HALCYON_SOAK"] == nil ? 10 : 1000
    private static let formats = [
        "jpg", "png", "gif", "webp", "avif", "heic", "tiff", "bmp", "ico", "qoi", "jxl", "svg", "dng",
        "loaders",
    ]
    /// The endings of raw files, each of another camera.
    private static let rawEndings = ["dng", "cr2", "cr3", "nef", "arw", "pef", "orf", "rw2", "raf"]

    /// The endings of the formats that the loaders of the system decode, in a worker.
    private static let loaderEndings = ["pnm", "pbm", "pgm", "ppm", "tga", "xpm", "xbm", "icns", "ani", "jp2"]

    private static func files(_ format: String) throws -> [String] {
        let names = try FileManager.default.subpathsOfDirectory(atPath: TestFiles.folder.path(percentEncoded: false))
        let endings =
            switch format {
            case "dng": rawEndings
            case "loaders": loaderEndings
            case "tiff": [format, "tif"]
            default: [format, format + "z"]
            }
        return names.sorted().filter { name in endings.contains { name.hasSuffix("." + $0) } }.map {
            TestFiles.url($0).path(percentEncoded: false)
        }
    }

    @Test(arguments: formats)
    func aDamagedFileTakesNoMoreThanWasReserved(_ format: String) async throws {
        let cases = try Self.files(format).flatMap { path in
            (0...Self.copies).map { DecodeCase(path: path, seed: $0) }
        }
        try #require(cases.count > 20)
        let reports = try await DecodeChild.run(cases)
        #expect(reports.count == cases.count)
        #expect(reports.flatMap(\.problems) == [])
        let images = reports.count { $0.decodeCase.seed == 0 && $0.steps?.first?.outcome == "image" }
        let seconds = reports.flatMap { $0.steps ?? [] }.reduce(0) { $0 + $1.seconds }
        print("hostile: \(format): \(cases.count) files, \(images) are images, \(seconds) s")
        #expect(images >= 10)
    }

    /// No picture shows anything of what memory held before: it is the same whatever that is, and whichever files a worker decoded
    /// before.
    @Test(arguments: formats)
    func aDamagedFileShowsNothingOfFormerMemory(_ format: String) async throws {
        let cases = try Self.files(format).flatMap { path in
            ([0] + (1...Self.copies / 2).map { 1_000_000 + $0 }).map { DecodeCase(path: path, seed: $0) }
        }
        let one = try await DecodeChild.run(cases, filling: 0x55)
        let other = Array(try await DecodeChild.run(cases.reversed(), filling: 0xAA).reversed())
        #expect(one.count == cases.count && other.count == cases.count)
        for (one, other) in zip(one, other) {
            for (first, second) in zip(one.steps ?? [], other.steps ?? []) {
                #expect(
                    first.outcome == second.outcome && first.checksum == second.checksum,
                    "\(one.decodeCase.name), \(first.name): \(first.outcome), \(second.outcome)")
            }
        }
    }

    @Test func aCraftedFileTakesNoMoreThanWasReserved() async throws {
        let folder = TemporaryFolder()
        try FileManager.default.createDirectory(at: folder.url, withIntermediateDirectories: true)
        let cases = try HostileFile.all.map { file in
            let place = folder.url.appending(path: file.name)
            try file.make().write(to: place)
            return DecodeCase(path: place.path(percentEncoded: false), budget: file.budget)
        }
        let reports = try await DecodeChild.run(cases)
        #expect(reports.count == cases.count)
        for (file, report) in zip(HostileFile.all, reports) {
            #expect(report.problems == [])
            for step in report.steps ?? [] {
                #expect(file.accepted.union(["image"]).contains(step.outcome), "\(file.name), \(step.name)")
            }
            let whole = report.steps?.prefix(2).map(\.outcome) ?? []
            #expect(!file.accepted.isDisjoint(with: whole), "\(file.name): \(whole)")
        }
    }
}
