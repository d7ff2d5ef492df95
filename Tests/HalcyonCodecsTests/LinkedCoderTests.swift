import CTestSVG
import HalcyonCodecs
import HalcyonImage
import Testing

/// The formats of products of their own, which this program links.
@Suite struct LinkedCoderTests {
    @Test func aRegistryHasTheFormatsThatAreLinked() {
        let registry = CoderRegistry.standard()
        let formats = Set(registry.decodableFormats)
        #expect(formats == [.jpeg, .png, .webp, .gif, .bmp, .avif, .heic, .tiff, .svg])
        #expect(registry.canEncode(.avif) && registry.canEncode(.heic))
        // Text is looked at last.
        #expect(registry.decodableFormats.last == .svg)
        #expect(registry.decodableFormats.first == .jpeg)
    }

    /// The compiler has compared the declarations of librsvg with its header, in this target's C.
    @Test func librsvgHasTheUnitsThatAreKnown() {
        #expect(test_svg_unit_count() == 9)
    }
}
