import Foundation
import Halcyon
import HalcyonCodecs
import HalcyonImage
import HalcyonVideo
import TestSupport
import Testing

/// The frames that are read of videos.
@Suite(.timeLimit(.minutes(5))) struct VideoFrameTests {
    private let folder = TemporaryFolder()

    private func color(
        _ file: URL, _ position: VideoFrame.Position, _ choice: VideoFrame.Choice = .exact
    ) async throws -> TestVideo.Color {
        TestVideo.Color(try await VideoFrame(file, at: position, choice: choice).image().bitmap)
    }

    @Test func theExactFrameIsTheOneThatIsShown() async throws {
        let file = try TestVideo.write(to: "a.webm", in: folder)
        let image = try await VideoFrame(file).image()
        #expect(image.size == PixelSize(64, 48) && image.bitmap.isOpaque && image.info.frameCount == 1)
        #expect(TestVideo.Color(image.bitmap) == .red)
        #expect(try await color(file, .seconds(0)) == .red)
        #expect(try await color(file, .seconds(1.95)) == .red)
        #expect(try await color(file, .seconds(2)) == .green)
        #expect(try await color(file, .time(.milliseconds(3_990))) == .green)
        #expect(try await color(file, .seconds(4.01)) == .blue)
        #expect(try await color(file, .fraction(0.5)) == .green)
    }

    /// There is a key frame at each full second.
    @Test func keyFramesAreChosen() async throws {
        let file = try TestVideo.write(to: "a.webm", in: folder)
        #expect(try await color(file, .seconds(1.4), .closestKeyFrame) == .red)
        #expect(try await color(file, .seconds(1.6), .closestKeyFrame) == .green)
        #expect(try await color(file, .seconds(1.5), .closestKeyFrame) == .red)
        #expect(try await color(file, .seconds(1.6), .previousKeyFrame) == .red)
        #expect(try await color(file, .seconds(1.4), .nextKeyFrame) == .green)
        #expect(try await color(file, .seconds(3.9), .previousKeyFrame) == .green)
        #expect(try await color(file, .fraction(0.6), .closestKeyFrame) == .blue)
        #expect(VideoFrame(file).choice == .closestKeyFrame)
    }

    @Test(arguments: VideoFrame.Choice.allCases) func placesOutsideOfTheVideoAreItsEnds(_ choice: VideoFrame.Choice)
        async throws
    {
        let file = try TestVideo.write(to: "a.webm", in: folder)
        for position: VideoFrame.Position in [
            .seconds(6), .seconds(1_000), .seconds(.infinity), .time(.seconds(Int64.max)), .fraction(1),
            .fraction(.infinity),
        ] {
            #expect(try await color(file, position, choice) == .blue, "\(position)")
        }
        for position: VideoFrame.Position in [
            .seconds(-5), .seconds(.nan), .seconds(-.infinity), .time(.seconds(Int64.min)), .fraction(-1),
            .fraction(.nan), .start,
        ] {
            #expect(try await color(file, position, choice) == .red, "\(position)")
        }
    }

    @Test(arguments: [
        ("a.mkv", "matroskamux"), ("jpeg.mkv", "jpegenc ! matroskamux"),
        ("vp9.webm", "vp9enc keyframe-max-dist=10 cpu-used=8 ! webmmux"), ("a.avi", "jpegenc ! avimux"),
        ("a.mov", "jpegenc ! qtmux"), ("a.ogv", "theoraenc ! oggmux"), ("raw.avi", "videoconvert ! avimux"),
        // Without an index and a duration.
        ("live.webm", "vp8enc keyframe-max-dist=10 ! webmmux streamable=true"),
    ])
    func containersAndCodecs(_ name: String, _ coding: String) async throws {
        let file = try TestVideo.write(coding, to: name, in: folder)
        #expect(try await color(file, .start) == .red)
        #expect(try await color(file, .seconds(2.05)) == .green)
        #expect(try await color(file, .seconds(1.95)) == .red)
        #expect(try await color(file, .seconds(99)) == .blue)
        #expect(try await color(file, .seconds(4.2), .closestKeyFrame) == .blue)
    }

    @Test func aFractionOfAnUnknownDurationIsAnError() async throws {
        let file = try TestVideo.write("vp8enc ! webmmux streamable=true", to: "live.webm", in: folder)
        await #expect(throws: VideoFrameError.unknownDuration) {
            try await VideoFrame(file, at: .fraction(0.5)).image()
        }
        #expect(try await color(file, .fraction(0)) == .red)
    }

    @Test func soundIsLeftOut() async throws {
        let file = try TestVideo.url("a.webm", in: folder)
        let sound = "audiotestsrc num-buffers=200 ! vorbisenc ! queue ! m."
        let picture =
            "videotestsrc pattern=solid-color foreground-color=0xff00ff00 num-buffers=30 ! vp8enc ! queue ! m."
        try TestVideo.write(
            "webmmux name=m ! filesink location=\"\(file.path(percentEncoded: false))\" \(sound) \(picture)")
        #expect(try await color(file, .seconds(0.5)) == .green)
        let soundAlone = try TestVideo.write(
            "audiotestsrc num-buffers=100", "vorbisenc ! webmmux", to: "sound.webm", in: folder)
        await #expect(throws: VideoFrameError.noVideoStream) { try await VideoFrame(soundAlone).image() }
    }

    /// The bars are grey at the left and blue at the right.
    @Test func aTurnedVideoIsUpright() async throws {
        let file = try TestVideo.write(
            "videotestsrc pattern=smpte75 num-buffers=3 ! video/x-raw,width=64,height=48", "jpegenc ! qtmux",
            to: "a.mov",
            in: folder)
        let plain = try await VideoFrame(file).image()
        #expect(plain.size == PixelSize(64, 48) && TestVideo.Color(plain.bitmap, x: 60, y: 4) == .blue)
        // The matrix of the track's header: a quarter turn clockwise.
        let turned = try Data(contentsOf: file).patched(behind: Array("tkhd".utf8), at: 40) { bytes in
            let matrix: [UInt8] = [0, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 255, 255, 0, 0, 0, 0, 0, 0]
            bytes.replaceSubrange(0..<20, with: matrix)
        }
        let image = try await VideoFrame(try TestVideo.write(turned, to: "turned.mov", in: folder)).image()
        #expect(image.size == PixelSize(48, 64) && image.info.orientation == .right)
        #expect(TestVideo.Color(image.bitmap, x: 44, y: 60) == .blue)
        #expect(TestVideo.Color(image.bitmap, x: 44, y: 4) == .other)
    }

    @Test func pixelsThatAreNotSquareAreStretched() async throws {
        let source = "videotestsrc num-buffers=3 ! video/x-raw,width=64,height=48,pixel-aspect-ratio="
        let wide = try TestVideo.write(source + "2/1", "vp8enc ! webmmux", to: "wide.webm", in: folder)
        #expect(try await VideoFrame(wide).image().size == PixelSize(128, 48))
        let high = try TestVideo.write(source + "1/2", "vp8enc ! webmmux", to: "high.webm", in: folder)
        #expect(try await VideoFrame(high).image().size == PixelSize(64, 96))
    }

    @Test func aFrameIsFittedToItsBox() async throws {
        let file = try TestVideo.write(to: "a.webm", in: folder)
        let small = try await VideoFrame(file, maximumSize: PixelSize(32, 32)).image()
        #expect(small.size == PixelSize(32, 24) && TestVideo.Color(small.bitmap) == .red)
        #expect(small.info.size == PixelSize(64, 48))
        #expect(try await VideoFrame(file, maximumSize: PixelSize(1_000, 1_000)).image().size == PixelSize(64, 48))
        await #expect(throws: BitmapError.invalidSize(PixelSize(0, 5))) {
            try await VideoFrame(file, maximumSize: PixelSize(0, 5)).image()
        }
    }

    @Test func transparencyIsKept() async throws {
        let file = try TestVideo.write(
            "videotestsrc pattern=solid-color foreground-color=0x80ff0000 num-buffers=3"
                + " ! video/x-raw,format=BGRA,width=64,height=48", "avimux", to: "a.avi", in: folder)
        let image = try await VideoFrame(file).image()
        let pixel = try #require(image.bitmap.pixel(x: 5, y: 5))
        #expect(!image.bitmap.isOpaque && image.info.hasAlpha)
        #expect(pixel.alpha == 128 && pixel.red == 128 && pixel.green == 0 && pixel.blue == 0)
    }
}
