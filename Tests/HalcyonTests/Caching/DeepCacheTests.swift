import Foundation
import Halcyon
import HalcyonCodecs
import HalcyonImage
import TestSupport
import Testing

/// Images of more than 8 bits a channel in the caches.
@Suite(.timeLimit(.minutes(5))) struct DeepCacheTests {
    private func fixture() -> PipelineFixture { PipelineFixture { $0.coders = .standard() } }

    private func request(_ url: URL, _ format: DeepBitmap.Format? = .init(), size: Int? = nil) -> ImageRequest {
        var request = ImageRequest(url, cachePolicy: .storeProcessed)
        request.decode.depth = format
        request.decode.target = size.map { TargetSize(PixelSize($0, $0)) }
        return request
    }

    @Test func memoryTellsTheDepthsApart() async throws {
        let fixture = fixture()
        let url = try fixture.serve("deep/rgb.png")
        let deep = try await fixture.pipeline.image(for: request(url))
        #expect(deep.deepBitmap?.format == .init())
        #expect(try await fixture.pipeline.image(for: request(url, nil)).deepBitmap == nil)
        let light = DeepBitmap.Format(.float16, colorSpace: .linearSRGB)
        #expect(try await fixture.pipeline.image(for: request(url, light)).deepBitmap?.format == light)
        let again = try await fixture.pipeline.response(for: request(url))
        #expect(again.origin == .memory && again.image.deepBitmap === deep.deepBitmap)
        #expect(fixture.transport.requestCount == 1)
    }

    /// A reduced image has an entry of its own on the disk, unless it has deep pixels.
    @Test func theDiskNeverGivesLessThanWasAsked() async throws {
        let fixture = fixture()
        let url = try fixture.serve("deep/rgb.png")
        let deep = try #require(try await fixture.pipeline.image(for: request(url, size: 12)).deepBitmap)
        _ = try await fixture.pipeline.image(for: request(url, nil, size: 12))
        #expect(await fixture.pipeline.shutdown(within: .seconds(300)))
        fixture.pipeline.cache.clearMemory()
        let read = try await fixture.pipeline.response(for: request(url, size: 12))
        #expect(read.origin == .disk)
        let (old, new) = (deep.withPixels { [UInt8]($0) }, read.image.deepBitmap?.withPixels { [UInt8]($0) })
        #expect(old == new)
        #expect(try await fixture.pipeline.image(for: request(url, nil, size: 12)).deepBitmap == nil)
        #expect(fixture.transport.requestCount == 1)
    }

    /// The source of a plain request is not replaced by its pixels of 8 bits, which a later request would get.
    @Test(arguments: [FixedFormatCacheSerializer.png, .jpeg()])
    func aPlainRequestKeepsTheSource(_ serializer: FixedFormatCacheSerializer) async throws {
        let fixture = fixture()
        let url = try fixture.serve("deep/rgb.png")
        var plain = request(url, nil)
        plain.serializer = serializer
        _ = try await fixture.pipeline.image(for: plain)
        #expect(await fixture.pipeline.shutdown(within: .seconds(300)))
        fixture.pipeline.cache.clearMemory()
        var deep = request(url)
        deep.serializer = serializer
        let read = try await fixture.pipeline.response(for: deep)
        let whole = try CoderRegistry.standard().decode(
            TestFiles.data("deep/rgb.png"), options: DecodeOptions(depth: .init()))
        #expect(read.origin == .disk)
        let words = read.image.deepBitmap?.withPixels { [UInt8]($0) }
        #expect(words == whole.deepBitmap?.withPixels { [UInt8]($0) })
    }

    @Test func aSerializerOfPNGKeepsTheSource() async throws {
        let fixture = fixture()
        let url = try fixture.serve("deep/rgb.png")
        var request = request(url)
        request.serializer = .png
        let deep = try #require(try await fixture.pipeline.image(for: request).deepBitmap)
        #expect(await fixture.pipeline.shutdown(within: .seconds(300)))
        fixture.pipeline.cache.clearMemory()
        let read = try await fixture.pipeline.response(for: request)
        #expect(read.origin == .disk)
        #expect(read.image.deepBitmap?.withPixels { [UInt8]($0) } == deep.withPixels { [UInt8]($0) })
    }

    /// An image in memory that has no other owner than the view's bitmap does not come back without its deep pixels.
    @Test func theWeakLevelDoesNotKeepThem() async throws {
        let fixture = fixture()
        let url = try fixture.serve("deep/rgb.png")
        let bitmap = try await fixture.pipeline.image(for: request(url)).bitmap
        #expect(await fixture.pipeline.shutdown(within: .seconds(300)))
        fixture.pipeline.cache.memoryConfiguration = MemoryCacheConfiguration(costLimit: 0)
        let again = try await fixture.pipeline.response(for: request(url))
        #expect(again.image.deepBitmap != nil)
        #expect(again.origin != .memory)
        #expect(bitmap.size == again.image.size)
    }

    private struct Drawing: ImageProvider {
        let cacheKey: String
        let drawn: Image

        func image() async throws -> Image { drawn }
    }

    /// From the network, from memory, from the disk, and encoded.
    @Test func theLightOfTheSourceStays() async throws {
        let fixture = fixture()
        let url = try fixture.serve("hdr/pq-16-bit.png")
        var request = request(url)
        #expect(try await fixture.pipeline.image(for: request).deepBitmap?.format == .init())
        request.decode.keepsDynamicRange = true
        let pq = DeepBitmap.Format(colorSpace: .bt2020PQ)
        let bright = try #require(try await fixture.pipeline.image(for: request).deepBitmap)
        #expect(bright.format == pq)
        #expect(try await fixture.pipeline.image(for: self.request(url)).deepBitmap?.format == .init())
        let encoding = ImageEncoding(.png, options: EncodeOptions(bitsPerChannel: 16))
        let file = try await fixture.pipeline.encodedImage(for: request, as: encoding)
        let back = try CoderRegistry.standard().decode(file.data, options: DecodeOptions(depth: pq))
        #expect(back.deepBitmap?.withPixels { [UInt8]($0) } == bright.withPixels { [UInt8]($0) })
        #expect(await fixture.pipeline.shutdown(within: .seconds(300)))
        fixture.pipeline.cache.clearMemory()
        let read = try await fixture.pipeline.response(for: request)
        #expect(read.origin == .disk && read.image.deepBitmap?.format == pq)
        #expect(fixture.transport.requestCount == 1)
    }

    /// A program's own image in PQ is kept as that, from the disk as well.
    @Test func anImageOfAProviderKeepsItsLight() async throws {
        let (fixture, pq) = (fixture(), DeepBitmap.Format(colorSpace: .bt2020PQ))
        let deep = try DeepBitmap(size: PixelSize(20, 10), format: pq, isOpaque: true) { bytes in
            let words = bytes.bindMemory(to: UInt16.self)
            for index in words.indices { words[index] = index % 4 == 3 ? 65_535 : UInt16(index * 77 % 65_536) }
        }
        var request = ImageRequest(.provider(Drawing(cacheKey: "pq", drawn: try Image(deep))))
        (request.decode.depth, request.decode.keepsDynamicRange) = (.init(), true)
        for origin in ["provider", "disk"] {
            let made = try await fixture.pipeline.image(for: request)
            #expect(made.deepBitmap?.format == pq, "\(origin)")
            #expect(made.deepBitmap?.withPixels { [UInt8]($0) } == deep.withPixels { [UInt8]($0) }, "\(origin)")
            #expect(await fixture.pipeline.shutdown(within: .seconds(300)))
            fixture.pipeline.cache.clearMemory()
        }
    }

    /// Light above white in floating point, which no integer of its space has.
    @Test(arguments: [true, false]) func theLightOfFloatsIsKept(hasJPEGXL: Bool) async throws {
        let linear = DeepBitmap.Format(.float16, colorSpace: .linearSRGB)
        let fixture = PipelineFixture { $0.coders = hasJPEGXL ? .standard() : .standard(formats: [.png]) }
        let deep = try DeepBitmap(size: PixelSize(20, 10), format: linear, isOpaque: true) { bytes in
            let words = bytes.bindMemory(to: UInt16.self)
            // From 0.25 to almost 8.
            for index in words.indices { words[index] = index % 4 == 3 ? 0x3C00 : UInt16(0x3400 + index * 77 % 0x1400) }
        }
        var request = ImageRequest(.provider(Drawing(cacheKey: "light", drawn: try Image(deep))))
        request.decode.depth = linear
        for origin in ["provider", "disk"] {
            let made = try #require(try await fixture.pipeline.image(for: request).deepBitmap, "\(origin)")
            for (x, y) in [(0, 0), (7, 3), (19, 9)] {
                let (old, new) = (deep.pixel(x: x, y: y)?.red ?? 0, made.pixel(x: x, y: y)?.red ?? 0)
                // Without JPEG XL it is kept in PQ of 16 bits.
                #expect(hasJPEGXL ? old == new : abs(new / old - 1) < 0.01, "\(origin)")
            }
            #expect(await fixture.pipeline.shutdown(within: .seconds(300)))
            fixture.pipeline.cache.clearMemory()
        }
    }

    @Test func anImageOfAProviderHasThemToo() async throws {
        let (fixture, size) = (fixture(), PixelSize(20, 10))
        let deep = try DeepBitmap(size: size, format: .init(), isOpaque: true) { bytes in
            let words = bytes.bindMemory(to: UInt16.self)
            for index in words.indices { words[index] = index % 4 == 3 ? 65_535 : UInt16(index * 77 % 65_536) }
        }
        var request = ImageRequest(.provider(Drawing(cacheKey: "deep", drawn: try Image(deep))))
        #expect(try await fixture.pipeline.image(for: request).deepBitmap == nil)
        request.decode.depth = .init()
        let made = try await fixture.pipeline.image(for: request)
        #expect(made.deepBitmap?.withPixels { [UInt8]($0) } == deep.withPixels { [UInt8]($0) })
        request.decode.target = TargetSize(PixelSize(10, 10))
        #expect(try await fixture.pipeline.image(for: request).deepBitmap?.size == PixelSize(10, 5))
        // The disk has a file of all bits.
        #expect(await fixture.pipeline.shutdown(within: .seconds(300)))
        fixture.pipeline.cache.clearMemory()
        request.decode.target = nil
        let read = try await fixture.pipeline.response(for: request)
        #expect(read.origin == .disk)
        #expect(read.image.deepBitmap?.withPixels { [UInt8]($0) } == deep.withPixels { [UInt8]($0) })
    }
}
