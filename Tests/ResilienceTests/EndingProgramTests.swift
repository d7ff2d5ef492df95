import Foundation
import TestSupport
import Testing

/// Programs that end in the middle of their work end with their own status, whatever other threads are doing.
@Suite(.serialized, .timeLimit(.minutes(60))) struct EndingProgramTests {
    private static let isSoak = ProcessInfo.processInfo.environment["HALCYON_SOAK"] != nil

    /// libcrypto would free its locks while hashes are made: without care 19 of 20 ended by a signal.
    @Test func aProgramThatMakesHashesEnds() async throws {
        try await Self.run(["hash", "-", "4"], times: 5)
    }

    @Test func aProgramThatStoresEnds() async throws {
        let folder = TemporaryFolder()
        try await Self.run(["store", folder.url.path(percentEncoded: false), "20"], times: 5)
    }

    /// libheif's list of plug-ins would be gone: without care half of the programs ended by a signal.
    @Test(arguments: [
        "jpeg/progressive.jpg", "png/rgb8.png", "gif/animated.gif", "webp/animated.webp", "avif/420.avif",
        "heic/420.heic",
        "tiff/rgb-jpeg.tiff", "svg/view-box.svg", "bmp/24.bmp", "color/cmyk-adobe.jpg",
    ])
    func aProgramThatDecodesEnds(_ file: String) async throws {
        let isFrail = file.hasSuffix("heic")
        try await Self.run(["decode", TestFiles.url(file).path(percentEncoded: false), "20"], times: isFrail ? 8 : 2)
    }

    private static func run(_ arguments: [String], times: Int) async throws {
        for _ in 0..<times * (isSoak ? 50 : 1) {
            let program = try TestProgram(Spawn.builtExecutable("EndingProgram"), arguments)
            let status = await program.ended()
            #expect(status == 0, "\(arguments)")
        }
    }
}
