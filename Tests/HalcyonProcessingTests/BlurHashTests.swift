import HalcyonImage
import HalcyonProcessing
import TestSupport
import Testing

@Suite struct BlurHashTests {
    /// Texts that others publish, most of them those of the format's own site.
    static let published = [
        "LEHV6nWB2yk8pyo0adR*.7kCMdnj", "LGF5]+Yk^6#M@-5c,1J5@[or[Q6.", "L6PZfSi_.AyE_3t7t7R**0o#DgR4",
        "LKO2?U%2Tw=w]~RBVZRi};RPxuwH", "LlMF%n00%#MwS|WCWEM{R*bbWBbH", "LFE.@D9F01_2%L%MIVD*9Goe-;WB",
        "UBL_:rOpGG-oBUNG,qRj2so|=eE1w^n4S5NH", "KJG8_@Dgx]_4V?xuyE%NRj", "00TI:j", "1lMF%n00",
        "eaF#5R0#WBjYR+58-nWCWBn~bIsTbbayjFWof8jFj[WX-nNHR*jss.", "U00000fQfQfQfQfQfQfQfQfQfQfQfQfQfQfQ",
        ":lMF%n00%#Mwo}wbtRjFS|WCWEM{a$s.WBazR*bbWBbHflaxt7aeRjofs.R*R+axR+WBs:ofjsofbFWBflfjs:jsWCfQjZWCbHkCWVf8j@jsjs"
            + "a|ayj@oLj[azj?j[f6oLay",
    ]

    /// Pixels, red, green and blue, that another implementation's tests expect of a text.
    private static let publishedPixels: [(String, PixelSize, Double, String)] = [
        (
            "UBL_:rOpGG-oBUNG,qRj2so|=eE1w^n4S5NH", PixelSize(4, 4), 1.0,
            """
            ac8651 ad8753 a67e3f ad814f
            b98f5f b0814d b97e45 c08451
            c68c5e c17737 d67f42 d38a59
            c08c5b c27e40 cf7e39 c98550
            """
        ),
        (
            "UBL_:rOpGG-oBUNG,qRj2so|=eE1w^n4S5NH", PixelSize(5, 5), 1.0,
            """
            ac8651 ad8754 aa834a a67c3c b18558
            b58d5c b08654 af7d45 b78147 ba8353
            c39062 bb804a c17536 d48854 c88552
            c5895a c57c3f d07627 dc8850 cc8756
            be8e5e be844e c57b36 cb8142 c1814d
            """
        ),
        (
            "UBL_:rOpGG-oBUNG,qRj2so|=eE1w^n4S5NH", PixelSize(4, 3), 1.0,
            """
            ac8651 ad8753 a67e3f ad814f
            bf9162 b57d47 c47f46 c98754
            c38959 c67a37 d67f3b cf8856
            """
        ),
        (
            "UBL_:rOpGG-oBUNG,qRj2so|=eE1w^n4S5NH", PixelSize(3, 4), 1.0,
            """
            ac8651 ac8550 a87d41
            b98f5f b07c46 c1854f
            c68c5e c57228 da8c5a
            c08c5b c67a34 cf854c
            """
        ),
        (
            "UBMOZfK1GG%LBBNG,;Rj2skq=eE1s9n4S5Na", PixelSize(5, 5), 1.0,
            """
            aa8652 af8654 ad8149 a77c39 b48655
            b58d5c b38654 b37d46 ba8147 be8553
            c48f60 bf8049 c67736 d68956 cc8655
            c58956 c67b3a d37622 dd8a50 ce8958
            be8e5e c0854d c87c35 cd8441 c4844d
            """
        ),
        (
            "UBMOZfK1GG%LBBNG,;Rj2skq=eE1s9n4S5Na", PixelSize(5, 5), 0.5,
            """
            b7854f b98450 b8824b b58043 bb8451
            bc8855 bb8450 bb8049 be824a c08450
            c38957 c0824a c47d42 cd8651 c78551
            c38651 c47f44 cb7d3b d0874e c88652
            c08955 c1844d c58042 c78347 c3834c
            """
        ),
    ]

    @Test(arguments: publishedPixels)
    func thePixelsAreThePublishedOnes(text: String, size: PixelSize, punch: Double, rows: String) throws {
        let pixels = rows.split { $0.isWhitespace }.compactMap { Color(hex: String($0)) }
        let image = try BlurHash(text).image(size, punch: punch)
        #expect(image.colors(in: PixelRect(x: 0, y: 0, width: size.width, height: size.height)) == pixels)
    }

    @Test(arguments: published) func thePixelsAreThoseOfTheFormulas(text: String) throws {
        let hash = try BlurHash(text)
        #expect(hash.text == text)
        for size in [PixelSize(32, 32), PixelSize(1, 1), PixelSize(1, 9), PixelSize(50, 1), PixelSize(20, 33)] {
            for punch in [1.0, 0, 0.3, 2, 10, -1] {
                let plain = PlainBlurHash.pixels(text, size, punch: punch)
                // Between two bytes that are equally near, single precision may choose the other.
                try expect(hash.image(size, punch: punch), size, within: 1) { plain[$1 * size.width + $0] }
            }
        }
    }

    @Test func anImageIsLikeAProgramsOwn() throws {
        let image = try BlurHash("LEHV6nWB2yk8pyo0adR*.7kCMdnj").image()
        #expect(image.size == PixelSize(32, 32))
        #expect(image.bitmap.isOpaque)
        #expect(image.scale == 1)
        #expect(image.info == (try Image(width: 32, height: 32, pixels: image.bytes)).info)
    }

    @Test(arguments: [
        (0, "000000"), (0xFF_FFFF, "00TSUA"), (0xFF_0000, "00TI:j"), (0x00FF00, "0009dg"), (0x4A7859, "008ia?"),
    ])
    func oneComponentIsOneColor(rgb: Int, text: String) throws {
        let pixel = [rgb & 255, rgb >> 8 & 255, rgb >> 16, 255].map { UInt8($0) }
        for (width, height) in [(1, 1), (7, 1), (1, 5), (64, 64), (65, 200)] {
            let hash = try BlurHash(encoding: flat(width, height, pixel), componentsX: 1, componentsY: 1)
            #expect(hash.text == text)
            #expect((hash.componentsX, hash.componentsY) == (1, 1))
            try expect(hash.image(PixelSize(3, 2)), PixelSize(3, 2)) { _, _ in pixel }
            #expect(hash.averageColor == Color(premultipliedBlue: pixel[0], green: pixel[1], red: pixel[2], alpha: 255))
        }
    }

    @Test func everyGreyComesBack() throws {
        for grey in UInt8.min...UInt8.max {
            let hash = try BlurHash(encoding: flat(2, 2, [grey, grey, grey, 255]), componentsX: 1, componentsY: 1)
            #expect(try hash.image(PixelSize(1, 1))[0, 0] == [grey, grey, grey, 255])
        }
    }

    /// Texts that another implementation's tests expect of the image of a text.
    @Test(arguments: [
        ("UBL_:rOpGG-oBUNG,qRj2so|=eE1w^n4S5NH", 30, 1.0, 4, "UBL_:rx@GG^jP9R*w_WB2skV$jM{=wnOWYR+"),
        ("UBMOZfK1GG%LBBNG,;Rj2skq=eE1s9n4S5Na", 30, 1, 4, "UCMOZftPGG^jO?R*w_WB2sbv$jNG-SjEWYS2"),
        ("UBMOZfK1GG%LBBNG,;Rj2skq=eE1s9n4S5Na", 30, 0.5, 4, "U7MOZf-nKi~Ax[WUw_ae70bbxGNG^NniWqWV"),
        ("UBMOZfK1GG%LBBNG,;Rj2skq=eE1s9n4S5Na", 20, 0.75, 5, "dAMOZf?EKj~Ab^WUw_WB70bvxGNG=vniWXWVWpayjtay"),
    ])
    func theTextIsThePublishedOne(text: String, width: Int, punch: Double, down: Int, expected: String) throws {
        let image = try BlurHash(text).image(PixelSize(width, 30), punch: punch)
        let hash = try BlurHash(encoding: image, componentsX: 4, componentsY: down)
        #expect(hash.text == expected)
        #expect(hash == (try BlurHash(expected)))
    }

    /// `pic4.png` of the format's references is one colour. At a side beyond the blocks of the encoder, so that it shows
    /// whether these make a difference: they must not.
    @Test(arguments: [
        (1, 1, "008ia?"), (1, 2, "908ia?tk"), (2, 1, "108ia?o|"), (2, 2, "A08ia?o|tkfQ"), (3, 2, "B08ia?o|fQtkfQfQ"),
        (4, 3, "L08ia?o|fQo|tkfQfQfQfQfQfQfQ"), (5, 1, "408ia?o|fQo|fQ"), (1, 8, "$08ia?tkfQtkfQtkfQtk"),
        (8, 2, "G08ia?o|fQo|fQo|fQo|tkfQfQfQfQfQfQfQ"), (4, 5, "d08ia?o|fQo|tkfQfQfQfQfQfQfQtkfQfQfQfQfQfQfQ"),
    ])
    func aFlatReferenceImageHasItsTexts(across: Int, down: Int, text: String) throws {
        let image = try flat(314, 176, [0x59, 0x78, 0x4A, 255])
        #expect(try BlurHash(encoding: image, componentsX: across, componentsY: down).text == text)
    }

    @Test func whiteAndBlackImagesHavePublishedHash() throws {
        let white = try BlurHash(encoding: flat(1, 1, [255, 255, 255, 255]), componentsX: 4, componentsY: 4)
        #expect(white.text == "U~TSUA" + String(repeating: "~q", count: 15))
        for side in [1, 16, 100] {
            let black = try BlurHash(encoding: flat(side, side, [0, 0, 0, 255]), componentsX: 4, componentsY: 4)
            #expect(black.text == "U00000" + String(repeating: "fQ", count: 15))
        }
    }

    @Test(
        arguments: [
            PixelSize(1, 1), PixelSize(1, 2), PixelSize(2, 1), PixelSize(1, 64), PixelSize(64, 1), PixelSize(3, 5),
            PixelSize(30, 20), PixelSize(64, 64), PixelSize(63, 17),
        ], [(4, 3), (1, 1), (9, 9), (1, 9), (9, 1), (2, 7)])
    func theTextOfASmallImageIsThatOfTheFormulas(size: PixelSize, components: (Int, Int)) throws {
        let image = try noise(size.width, size.height, hasAlpha: false)
        let hash = try BlurHash(encoding: image, componentsX: components.0, componentsY: components.1)
        #expect(hash.text == PlainBlurHash.text(image, components.0, components.1))
        #expect((hash.componentsX, hash.componentsY) == components)
        #expect(hash == (try BlurHash(hash.text)))
    }

    @Test(arguments: [
        PixelSize(65, 64), PixelSize(300, 2), PixelSize(1, 1000), PixelSize(127, 129), PixelSize(200, 150),
    ])
    func theTextOfALargeImageIsThatOfTheWholeOne(size: PixelSize) throws {
        let smooth = try BlurHash("LEHV6nWB2yk8pyo0adR*.7kCMdnj").image(size)
        #expect(try BlurHash(encoding: smooth).text == PlainBlurHash.text(smooth, 4, 3))
        // Within a block a wave is taken for its average. In noise that is another sum, by less than a step.
        let noise = try noise(size.width, size.height, hasAlpha: false)
        let text = try BlurHash(encoding: noise).text
        let plain = PlainBlurHash.text(noise, 4, 3)
        #expect(text.prefix(6) == plain.prefix(6))
        for (one, other) in zip(PlainBlurHash.steps(text), PlainBlurHash.steps(plain)) {
            #expect(abs(one - other) <= 1, "\(text) and \(plain)")
        }
    }

    @Test func aWideImageOfAMillionPixelsIsNoTrouble() throws {
        let image = try flat(1 << 20, 1, [255, 0, 0, 255])
        let hash = try BlurHash(encoding: image, componentsX: 9, componentsY: 1)
        #expect(hash.averageColor == Color(red: 0, green: 0, blue: 1))
        #expect(hash.text == "800036" + String(repeating: "fQ", count: 8))
    }
}
