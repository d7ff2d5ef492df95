import Foundation
import Halcyon
import HalcyonCodecs
import HalcyonImage
import HalcyonSystem
import HalcyonVideo
import TestSupport
import Testing

/// Files that are no videos, or that do harm where they are taken for one.
@Suite(.timeLimit(.minutes(5))) struct VideoAttackTests {
    private let folder = TemporaryFolder()

    private func error(_ frame: VideoFrame) async -> (any Error)? {
        do {
            _ = try await frame.image()
            return nil
        } catch {
            return error
        }
    }

    private func error(_ bytes: Data, _ name: String = "a.mp4") async throws -> VideoFrameError? {
        await error(VideoFrame(try TestVideo.write(bytes, to: name, in: folder), at: .seconds(1)))
            as? VideoFrameError
    }

    @Test func filesThatAreNoVideos() async throws {
        #expect(try await error(Data()) == .notAVideo("empty"))
        var random = SplitMix(state: 7)
        let noise = Data((0..<5_000).map { _ in UInt8(truncatingIfNeeded: random.next()) })
        #expect(try await error(noise) == .notAVideo(""))
        #expect(try await error(TestFiles.data("png/rgb8.png")) == .notAVideo("image/png"))
        #expect(
            try await error(Data("<svg xmlns=\"http://www.w3.org/2000/svg\"/>".utf8)) == .notAVideo("image/svg+xml")
        )
        #expect(try await error(Data("1\n00:00:00,000 --> 00:00:10,000\nhello\n\n".utf8)) == .notAVideo(""))
        let sound = try TestVideo.write("audiotestsrc num-buffers=20", "wavenc", to: "a.wav", in: folder)
        #expect(await error(VideoFrame(sound)) as? VideoFrameError == .notAVideo("audio/x-wav"))
    }

    @Test func filesThatCannotBeOpened() async throws {
        let missing = try TestVideo.url("missing.mp4", in: folder)
        #expect(await error(VideoFrame(missing)) as? VideoFrameError == .unreadable("there is no such file"))
        #expect(await error(VideoFrame(folder.url)) as? VideoFrameError == .unreadable("it is a folder"))
        let pipe = try TestVideo.url("pipe.mp4", in: folder)
        try #require(mkfifo(pipe.path, 0o600) == 0)
        #expect(await error(VideoFrame(pipe)) as? VideoFrameError == .unreadable("it is not a regular file"))
        let server = try RawServer { _ in }
        let remote = try #require(URL(string: "http://127.0.0.1:\(server.port)/a.mp4"))
        #expect(await error(VideoFrame(remote)) as? VideoFrameError == .unreadable("it is not the URL of a file"))
        #expect(server.connectionCount == 0)
    }

    /// Each names a server and a file that is a video.
    @Test(arguments: ["a.mp4", "a.m3u8", "a.mpd", "a.sdp", "a.ism", "a.qtl", "a.ram", "a.asx", "a.nfo"])
    func noAddressInAFileIsFollowed(_ name: String) async throws {
        let server = try RawServer { _ in }
        let web = "http://127.0.0.1:\(server.port)/a.ts"
        let video = try TestVideo.write(to: "real.webm", in: folder)
        for address in [web, video.absoluteString, video.path] {
            let texts = [
                "#EXTM3U\n#EXT-X-VERSION:3\n#EXT-X-TARGETDURATION:10\n#EXTINF:9,\n\(address)\n#EXT-X-ENDLIST\n",
                "#EXTM3U\n#EXT-X-STREAM-INF:BANDWIDTH=1,CODECS=\"avc1.42e00a\"\n\(address)\n",
                """
                v=0\r\no=- 0 0 IN IP4 127.0.0.1\r\ns=x\r\nc=IN IP4 127.0.0.1\r\nt=0 0\r
                a=control:rtsp://127.0.0.1:\(server.port)/a\r\nm=video \(server.port) RTP/AVP 96\r
                a=rtpmap:96 H264/90000\r\n
                """,
                """
                <?xml version="1.0"?><MPD xmlns="urn:mpeg:dash:schema:mpd:2011" type="static"><Period>\
                <AdaptationSet mimeType="video/mp4"><Representation id="1"><BaseURL>\(address)</BaseURL>\
                </Representation></AdaptationSet></Period></MPD>
                """,
                "<?xml version=\"1.0\"?><SmoothStreamingMedia MajorVersion=\"2\"><StreamIndex Url=\"\(address)\"/>"
                    + "</SmoothStreamingMedia>",
                "<?xml version=\"1.0\"?><?quicktime type=\"application/x-quicktime-media-link\"?><embed src=\"\(address)\"/>",
                "RTSPtext\n\(address)\n", "[Reference]\nRef1=\(address)\n", "\(address)\n",
                "<ASX version=\"3.0\"><Entry><Ref href=\"\(address)\"/></Entry></ASX>",
            ]
            for text in texts {
                guard case .notAVideo = try await error(Data(text.utf8), name) else {
                    Issue.record("\(text) is taken for a video")
                    continue
                }
            }
        }
        #expect(server.connectionCount == 0)
    }

    /// A movie that refers to another one, which QuickTime would play in its place.
    @Test func aReferenceMovieIsNotFollowed() async throws {
        let server = try RawServer { _ in }
        func box(_ type: String, _ content: Data) -> Data {
            var size = UInt32(content.count + 8).bigEndian
            return Data(bytes: &size, count: 4) + Data(type.utf8) + content
        }
        let address = Data("http://127.0.0.1:\(server.port)/a.mov\0".utf8)
        var length = UInt32(address.count).bigEndian
        let reference = box(
            "rdrf", Data(count: 4) + Data("url ".utf8) + Data(bytes: &length, count: 4) + address)
        let movie = box("ftyp", Data("qt  \0\0\0\0qt  ".utf8)) + box("moov", box("rmra", box("rmda", reference)))
        #expect(try await error(movie + Data(count: 4_096)) != nil)
        #expect(server.connectionCount == 0)
    }

    @Test func aCodecWithoutADecoderIsNamed() async throws {
        let file = try TestVideo.write("jpegenc ! avimux", to: "a.avi", in: folder)
        var bytes = [UInt8](try Data(contentsOf: file))
        let (jpeg, indeo) = (Array("MJPG".utf8), Array("IV50".utf8))
        for start in 0..<bytes.count - 4 where Array(bytes[start..<start + 4]) == jpeg {
            bytes.replaceSubrange(start..<start + 4, with: indeo)
        }
        #expect(try await error(Data(bytes)) == .noDecoder("video/x-indeo"))
    }

    @Test(arguments: [
        ("a.webm", TestVideo.webM), ("a.avi", "jpegenc ! avimux"), ("a.mov", "jpegenc ! qtmux"),
        ("a.ogv", "theoraenc ! oggmux"),
    ])
    func aFileThatEndsEarlyGivesAFrameOrAnError(_ name: String, _ coding: String) async throws {
        let whole = try Data(contentsOf: try TestVideo.write(coding, to: name, in: folder))
        for part in 1..<12 {
            let cut = try TestVideo.write(whole.prefix(whole.count * part / 12), to: "cut-\(part)", in: folder)
            for position: VideoFrame.Position in [.start, .seconds(5)] {
                do {
                    let image = try await VideoFrame(cut, at: position, choice: .exact).image()
                    #expect(TestVideo.Color(image.bitmap) != .other)
                    if position == .start { #expect(TestVideo.Color(image.bitmap) == .red) }
                } catch {
                    #expect(error is VideoFrameError, "\(error)")
                }
            }
        }
    }

    @Test func damagedFilesEndWithAFrameOrAnError() async throws {
        // Not WebM, whose demuxer may warn of an error that it reports wrongly, and these tests end at such a warning.
        let whole = [UInt8](
            try Data(contentsOf: try TestVideo.write("jpegenc ! qtmux", to: "a.mov", in: folder)))
        var random = SplitMix(state: 11)
        for round in 0..<40 {
            var bytes = whole
            for _ in 0..<8 {
                bytes[Int(random.next() % UInt64(bytes.count))] = UInt8(truncatingIfNeeded: random.next())
            }
            let file = try TestVideo.write(Data(bytes), to: "damaged-\(round)", in: folder)
            let failure = await error(
                VideoFrame(file, at: .seconds(3), choice: round % 2 == 0 ? .exact : .closestKeyFrame))
            #expect(
                failure == nil || failure is VideoFrameError || failure is CodecError,
                "\(String(describing: failure))")
        }
    }

    @Test func largeVideosAreRefused() async throws {
        let file = try TestVideo.write(to: "a.webm", in: folder)
        let narrow = VideoFrame(file, limits: DecodeLimits(maximumSide: 63))
        #expect(await error(narrow) as? CodecError == .limitExceeded("longest side", value: 64, limit: 63))
        let few = VideoFrame(file, limits: DecodeLimits(maximumPixels: 3_000))
        #expect(await error(few) as? CodecError == .limitExceeded("pixels", value: 3_072, limit: 3_000))
        var poor = VideoFrame(file)
        poor.budget = DecodeBudget(capacity: 100_000)
        guard case .limitExceeded = await error(poor) as? CodecError else {
            Issue.record("more memory than there is")
            return
        }
        #expect(poor.budget.available == 100_000)
    }

    /// The container declares 64 x 48 pixels, and the first frame as many as the codec can.
    @Test func framesLargerThanTheirContainerAreRefused() async throws {
        let limits = DecodeLimits(maximumPixels: 1 << 20)
        let vp8 = try Data(contentsOf: try TestVideo.write(to: "a.webm", in: folder))
            .patched(behind: [0x9D, 0x01, 0x2A]) { $0.replaceSubrange(0..<4, with: [0xFF, 0x3F, 0xFF, 0x3F]) }
        let vp9 = try Data(
            contentsOf: try TestVideo.write("vp9enc cpu-used=8 ! webmmux", to: "a9.webm", in: folder)
        ).patched(behind: [0x49, 0x83, 0x42]) { bytes in
            bytes[0] |= 0x0F
            bytes.replaceSubrange(1..<4, with: [0xFF, 0xFF, 0xFF])
            bytes[4] |= 0xF0
        }
        let jpeg = try Data(contentsOf: try TestVideo.write("jpegenc ! avimux", to: "a.avi", in: folder))
            .patched(behind: [0xFF, 0xC0], at: 3) { $0.replaceSubrange(0..<4, with: [0xF0, 0x00, 0xF0, 0x00]) }
        for (name, bytes, area) in [
            ("8.webm", vp8, 16_383 * 16_383), ("9.webm", vp9, 65_536 * 65_536), ("j.avi", jpeg, 61_440 * 61_440),
        ] {
            let frame = VideoFrame(
                try TestVideo.write(bytes, to: name, in: folder),
                limits: DecodeLimits(maximumPixels: limits.maximumPixels, maximumSide: 1 << 20))
            #expect(
                await error(frame) as? CodecError
                    == .limitExceeded("pixels", value: area, limit: limits.maximumPixels), "\(name)")
        }
    }
}
