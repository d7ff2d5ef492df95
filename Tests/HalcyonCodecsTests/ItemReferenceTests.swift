import Foundation
import HalcyonImage
import Testing

@testable import HalcyonCodecs
@testable import HalcyonHEIC

/// Items of a HEIC that are made of one another: libheif follows them wherever they lead.
@Suite struct ItemReferenceTests {
    let registry = CoderRegistry.standard()

    /// Each made of the next, the last a picture.
    private func chain(of item: CraftedHEIC.Item, count: Int) -> CraftedHEIC {
        CraftedHEIC(
            items: Array(repeating: item, count: count) + [.picture],
            references: (1...count).map { ("dimg", $0, [$0 + 1]) })
    }

    @Test func ordinaryItemReferencesAreDecoded() throws {
        let plain = try registry.decode(CraftedHEIC(items: [.picture]).file()).bitmap
        #expect(plain.size == PixelSize(64, 64))
        let files = [
            chain(of: .identity, count: 1), chain(of: .identity, count: 8),
            chain(of: .grid(columns: 1, rows: 1), count: 2), chain(of: .overlay, count: 2),
            CraftedHEIC(items: [.picture, .picture], references: [("auxl", 2, [1])], alphas: [2]),
            // A thumbnail, metadata, and alpha that names the image which is multiplied with it.
            CraftedHEIC(
                items: [.picture, .picture, .exif, .picture],
                references: [("thmb", 2, [1]), ("cdsc", 3, [1]), ("auxl", 4, [1]), ("prem", 1, [4])], alphas: [4]),
        ]
        for file in files {
            #expect(try registry.decode(file.file()).size == plain.size)
        }
        #expect(try registry.probe(files[4].file()).hasAlpha)
    }

    /// As telephones write them: 48 tiles, a thumbnail, two auxiliary images, EXIF.
    @Test func filesOfTelephonesAreRead() throws {
        var items: [CraftedHEIC.Item] = [.grid(columns: 8, rows: 6)] + Array(repeating: .picture, count: 48)
        items += [.picture, .picture, .picture, .exif]
        let file = try CraftedHEIC(
            items: items,
            references: [
                ("dimg", 1, Array(2...49)), ("thmb", 50, [1]), ("auxl", 51, [1]), ("auxl", 52, [1]), ("cdsc", 53, [1]),
            ], alphas: [51, 52]
        ).file()
        #expect(try registry.plan(file).info.size == PixelSize(64, 64))
        #expect(try registry.probe(file).hasAlpha)
    }

    private static let ringed: [CraftedHEIC] = [
        CraftedHEIC(items: [.identity], references: [("dimg", 1, [1])]),
        CraftedHEIC(items: [.identity, .identity], references: [("dimg", 1, [2]), ("dimg", 2, [1])]),
        CraftedHEIC(
            items: [.grid(columns: 1, rows: 1), .overlay], references: [("dimg", 1, [2]), ("dimg", 2, [1])]),
        CraftedHEIC(items: [.picture, .identity, .identity], references: [("dimg", 2, [3]), ("dimg", 3, [2])]),
        // Alpha is decoded with its image.
        CraftedHEIC(
            items: [.picture, .identity], references: [("auxl", 2, [1]), ("dimg", 2, [1])], alphas: [2]),
        CraftedHEIC(
            items: [.picture, .picture], references: [("auxl", 2, [1]), ("auxl", 1, [2])], alphas: [1, 2]),
        // The first of several lists is the one that libheif takes.
        CraftedHEIC(
            items: [.identity, .picture], references: [("dimg", 1, [1]), ("dimg", 1, [2])]),
        CraftedHEIC(
            items: [.identity, .picture], references: [("dimg", 1, [2]), ("dimg", 1, [1])]),
    ]

    @Test(arguments: ringed.indices) func ringsAreRefused(_ index: Int) throws {
        let file = try Self.ringed[index].file()
        for refused in [{ _ = try registry.probe(file) }, { _ = try registry.decode(file) }] as [() throws -> Void] {
            let error = #expect(throws: CodecError.self) { try refused() }
            #expect(error == .damaged(.heic, reason: "its items refer to each other in a cycle"))
        }
        #expect(HEICCoder().colorProfile(of: file) == nil)
    }

    @Test(arguments: [CraftedHEIC.Item.identity, .grid(columns: 1, rows: 1), .overlay])
    func longChainsAreRefused(of item: CraftedHEIC.Item) throws {
        for (count, isDecoded) in [(15, true), (16, false), (3000, false)] {
            let file = try chain(of: item, count: count).file()
            guard !isDecoded else {
                #expect(try registry.decode(file).size == PixelSize(64, 64))
                continue
            }
            let error = #expect(throws: CodecError.self) { try registry.decode(file) }
            #expect(error?.code == "limitExceeded")
        }
    }

    /// Grids of grids: 65,536 tiles, each of as many.
    @Test func tilesThatMultiplyAreRefused() throws {
        let all = (0..<2).map { level in ("dimg", level + 1, Array(repeating: level + 2, count: 1024)) }
        let file = try CraftedHEIC(
            items: [.grid(columns: 32, rows: 32), .grid(columns: 32, rows: 32), .picture], references: all
        ).file()
        let error = #expect(throws: CodecError.self) { try registry.decode(file) }
        #expect(error?.code == "limitExceeded")
    }

    /// libheif ends the process where an image is derived from an item that is not an image.
    @Test(arguments: [CraftedHEIC.Item.identity, .overlay, .grid(columns: 1, rows: 1)])
    func sourcesThatAreNoImagesAreRefused(_ item: CraftedHEIC.Item) throws {
        for (target, other) in [(9, CraftedHEIC.Item.picture), (2, .exif)] {
            let file = try CraftedHEIC(items: [item, other], references: [("dimg", 1, [target])]).file()
            #expect(throws: CodecError.damaged(.heic, reason: "an image is derived from an item that is not an image"))
            {
                try registry.decode(file)
            }
        }
    }

    /// libheif would show in a hole what memory held before, and read beyond the end of a part above the canvas.
    @Test(arguments: [
        (
            CraftedHEIC.Item.canvas(columns: 1, rows: 1, width: 80, height: 64),
            "the tiles of a grid of 80x64 do not cover it"
        ),
        (.canvas(columns: 2, rows: 1, width: 64, height: 100), "the tiles of a grid of 64x100 do not cover it"),
        (.placed(x: 5, y: -10), "a part of an overlay begins outside of it"),
        (.placed(x: -1, y: 0), "a part of an overlay begins outside of it"),
    ])
    func canvasesWithHolesAreRefused(_ item: CraftedHEIC.Item, _ reason: String) throws {
        let file = try CraftedHEIC(items: [item, .picture, .picture], references: [("dimg", 1, [2, 3])]).file()
        for refused in [{ _ = try registry.probe(file) }, { _ = try registry.decode(file) }] as [() throws -> Void] {
            #expect(throws: CodecError.damaged(.heic, reason: reason)) { try refused() }
        }
    }

    /// A tile that is coded otherwise may be of any size, and leave a hole.
    @Test(arguments: [
        ([2, 3], "the tiles of a grid differ in size"), ([3, 2], "the tiles of a grid differ in size"),
        ([3, 3], "the tiles of a grid of 64x64 do not cover it"),
    ])
    func tilesOfAnotherCodingAreRefused(_ tiles: [Int], _ reason: String) throws {
        let file = try CraftedHEIC(
            items: [.canvas(columns: 2, rows: 1, width: 64, height: 64), .picture, .av1],
            references: [("dimg", 1, tiles)]
        ).file()
        #expect(throws: CodecError.damaged(.heic, reason: reason)) { try registry.probe(file) }
    }

    /// libheif cuts a tile by a property behind any number of others, and the cut leaves a hole.
    @Test(arguments: [1, 30, 31, 32, 33, 60]) func tilesThatAreCutAreRefused(behind count: UInt8) throws {
        let file = try CraftedHEIC(
            items: [.canvas(columns: 1, rows: 1, width: 64, height: 64), .cut(behind: count)],
            references: [("dimg", 1, [2])]
        ).file()
        #expect(throws: CodecError.damaged(.heic, reason: "the tiles of a grid of 64x64 do not cover it")) {
            try registry.decode(file)
        }
    }

    @Test func aTileThatIsTheIdentityOfAPictureHasItsSize() throws {
        let file = try CraftedHEIC(
            items: [.canvas(columns: 1, rows: 1, width: 64, height: 64), .identity, .picture],
            references: [("dimg", 1, [2]), ("dimg", 2, [3])]
        ).file()
        let plain = try registry.decode(CraftedHEIC(items: [.picture]).file())
        #expect(try registry.decode(file).bitmap.bytes == plain.bitmap.bytes)
    }

    /// libheif reads the lists one behind the other, whatever their boxes say of their lengths.
    @Test(arguments: [-1, 1, 40]) func lengthsThatLieAreRefused(_ lie: Int) throws {
        var file = chain(of: .identity, count: 3)
        file.lie = lie
        #expect(throws: CodecError.damaged(.heic, reason: "its references cannot be read")) {
            try registry.decode(file.file())
        }
    }

    @Test func ringsInAVIFAreRefused() throws {
        let file = try Self.ringed[1].file()
        var avif = Data()
        // The same items, as if they were AV1.
        for part in ["heic": "avif", "hvcC": "av1C"] {
            avif = avif.isEmpty ? file : avif
            while let found = avif.range(of: Data(part.key.utf8)) {
                avif.replaceSubrange(found, with: Data(part.value.utf8))
            }
        }
        #expect(throws: CodecError.damaged(.avif, reason: "its items refer to each other in a cycle")) {
            try registry.decode(avif)
        }
    }
}
