import CTestSVG
import HalcyonCodecs
import HalcyonImage
import Testing

/// The formats of products of their own, which this program links.
@Suite struct LinkedCoderTests {
    @Test func aRegistryHasTheFormatsThatAreLinked() {
        let registry = CoderRegistry.standard()
        let formats = Set(registry.decodableFormats)
        let own: [ImageFormat] = [
            .jpeg, .png, .webp, .gif, .bmp, .ico, .qoi, .avif, .heic, .jpegXL, .tiff, .raw, .svg,
        ]
        #expect(formats == Set(own + FormatProduct.ofLoaders))
        #expect(registry.canEncode(.avif) && registry.canEncode(.heic))
        // Text is looked at last, but for what only the loaders of the system read.
        #expect(Array(registry.decodableFormats.suffix(8)) == [.svg] + FormatProduct.ofLoaders)
        #expect(registry.decodableFormats.first == .jpeg)
    }

    @Test func aFormatThatIsNotLinkedNamesItsProduct() {
        let without = BuiltInCoders.all.filter {
            $0.formats.allSatisfy { [.jpeg, .png, .webp, .gif, .bmp, .ico, .qoi].contains($0) }
        }
        for (format, decoding, encoding) in [
            (.heic, "HalcyonHEIC", "HalcyonHEICEncoding"), (.avif, "HalcyonAVIF", "HalcyonAVIF"),
            (.svg, "HalcyonSVG", nil), (.tiff, "HalcyonTIFF", nil), (.jpegXL, "HalcyonJPEGXL", "HalcyonJPEGXL"),
            (.raw, "HalcyonRAW", nil), (.tga, "HalcyonGdkPixbuf", nil), (.jpeg, nil, nil),
        ] as [(ImageFormat, String?, String?)] {
            #expect(FormatProduct.missing(toDecode: format, linked: without) == decoding)
            #expect(FormatProduct.missing(toEncode: format, linked: without) == encoding)
            // Here all are linked, and a registry without one says nothing of products.
            #expect(FormatProduct.missing(toDecode: format) == nil)
            #expect(FormatProduct.missing(toEncode: format) == nil)
        }
        // The products of one format are two.
        let decoder = BuiltInCoders.all.filter { $0 is any ImageDecoder }
        #expect(FormatProduct.missing(toEncode: .heic, linked: decoder) == "HalcyonHEICEncoding")
        let error = CodecError.unsupportedFormat(.heic, product: "HalcyonHEIC")
        #expect(error.description == "no coder for heic: link the product HalcyonHEIC of the package halcyon")
        let written = CodecError.unsupportedExtension("heic", encodable: [.png], product: "HalcyonHEICEncoding")
        #expect(written.description.hasSuffix("png; link the product HalcyonHEICEncoding of the package halcyon"))
    }

    /// The compiler has compared the declarations of librsvg with its header, in this target's C.
    @Test func librsvgHasTheUnitsThatAreKnown() {
        #expect(test_svg_unit_count() == 9)
    }
}
