import Foundation
import Halcyon
import HalcyonTesting
import TestSupport
import Testing

/// The thumbnail in a file's EXIF data, in the place of its picture and before it.
@Suite(.timeLimit(.minutes(5))) struct ThumbnailLoadTests {
    private static let formats: [ImageFormat] = [.jpeg, .heic, .avif]

    private func plain(_ size: PixelSize, _ color: UInt32, _ format: ImageFormat) throws -> Data {
        let bitmap = try Bitmap(size: size, isOpaque: true) { bytes in
            for offset in stride(from: 0, to: bytes.count, by: 4) {
                bytes.storeBytes(of: color, toByteOffset: offset, as: UInt32.self)
            }
        }
        let image = Image(bitmap: bitmap, info: ImageInfo(format: .png, size: size))
        return try CoderRegistry.shared.encode(image, as: format)
    }

    /// Returns a blue picture with a red thumbnail, and the number of bytes before those of the picture.
    private func file(_ format: ImageFormat) throws -> (data: Data, head: Int) {
        let thumbnail = try plain(PixelSize(160, 120), 0xFFC0_2020, format)
        let picture = try plain(PixelSize(640, 480), 0xFF20_20C0, format)
        guard format == .jpeg else {
            let file = ThumbnailFile(picture, thumbnail)
            return (file.data, file.data.count - file.parts[0].data.count)
        }
        let data = ExifThumbnail(thumbnail).file(picture)
        let exif = 4 + Int(data[4]) << 8 + Int(data[5])
        let scan = try #require(data[exif...].firstRange(of: Data([0xFF, 0xDA]))?.lowerBound)
        return (data, scan + 14)
    }

    private func isRed(_ bitmap: Bitmap) -> Bool { bitmap.withPixels { $0[2] > $0[0] } }

    private func request(_ url: URL, _ side: Int, thumbnail: Bool) -> ImageRequest {
        var request = ImageRequest(url)
        request.decode.target = TargetSize(PixelSize(side, side))
        request.decode.usesEmbeddedThumbnail = thumbnail
        return request
    }

    @Test(arguments: formats)
    func thumbnailAndPictureAreTwoImagesOfOneTransfer(_ format: ImageFormat) async throws {
        let fixture = PipelineFixture()
        let (url, data) = (PipelineFixture.url("camera"), try file(format).data)
        fixture.transport.answer(url, with: .data(data))
        let small = try await fixture.pipeline.response(for: request(url, 80, thumbnail: true))
        #expect(isRed(small.image.bitmap) && small.image.size == PixelSize(80, 60))
        #expect(small.image.info.size == PixelSize(640, 480) && small.origin == .network)
        let picture = try await fixture.pipeline.response(for: request(url, 80, thumbnail: false))
        #expect(!isRed(picture.image.bitmap) && picture.origin == .disk)
        let again = try await fixture.pipeline.response(for: request(url, 80, thumbnail: true))
        #expect(isRed(again.image.bitmap) && again.origin == .memory)
        #expect(try await fixture.pipeline.data(for: ImageRequest(url)) == data)
    }

    /// The picture is good for both, its thumbnail only for those that ask for it.
    @Test(arguments: formats) func thumbnailDoesNotServeThoseThatWantThePicture(_ format: ImageFormat) async throws {
        let fixture = PipelineFixture()
        let url = PipelineFixture.url("camera")
        fixture.transport.answer(url, with: .data(try file(format).data))
        func accepting(_ request: ImageRequest) -> ImageRequest {
            var request = request
            request.cachePolicy.acceptsLarger = true
            return request
        }
        let cache = fixture.pipeline.cache
        _ = try await fixture.pipeline.image(for: request(url, 80, thumbnail: true))
        #expect(cache.image(inMemoryFor: accepting(request(url, 40, thumbnail: false))) == nil)
        #expect(cache.image(inMemoryFor: accepting(request(url, 40, thumbnail: true))) != nil)
        cache.clearMemory()
        _ = try await fixture.pipeline.image(for: request(url, 80, thumbnail: false))
        #expect(cache.image(inMemoryFor: accepting(request(url, 40, thumbnail: true))) != nil)
    }

    /// It is the only preview of a HEIC and of an AVIF.
    @Test(arguments: formats, [true, false])
    func previewsBeginWithTheThumbnail(_ format: ImageFormat, isWanted: Bool) async throws {
        let fixture = PipelineFixture(disk: false) {
            $0.coders = CoderRegistry.standard()
            $0.previews.showsEmbeddedThumbnail = isWanted
        }
        let (url, gate, (data, head)) = (PipelineFixture.url("slow"), ScriptedTransportGate(), try file(format))
        let steps: [ScriptedTransport.Answer.Step] = [
            .chunk(data.prefix(head)), .wait(gate), .chunk(data.dropFirst(head)),
        ]
        fixture.transport.answer(url, with: .init(headers: ["Content-Length": "\(data.count)"], steps: steps))
        var request = ImageRequest(url, processors: [.resize(to: PixelSize(320, 240))])
        (request.wantsPreviews, request.wantsEveryPreview) = (true, true)
        let task = fixture.pipeline.task(for: request)
        if !isWanted { gate.open() }
        var previews: [ImagePreview] = []
        for try await event in task.events {
            guard case .preview(let preview) = event else { continue }
            previews.append(preview)
            gate.open()
        }
        if isWanted { #expect(previews.first.map { isRed($0.bitmap) } == true) }
        if !isWanted { #expect(previews.allSatisfy { !isRed($0.bitmap) }) }
        if format != .jpeg { #expect(previews.count == (isWanted ? 1 : 0)) }
        #expect(previews.allSatisfy { $0.size == PixelSize(320, 240) && $0.info.isPreview })
        let image = try await task.response.image
        #expect(!isRed(image.bitmap) && !image.info.isPreview)
    }
}
