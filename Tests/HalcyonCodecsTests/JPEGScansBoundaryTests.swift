import Foundation
import HalcyonImage
import Testing

@testable import HalcyonCodecs

/// The numbers of scans that are just decoded, and just refused, by the markers alone.
@Suite struct JPEGScansBoundaryTests {
    private let tooMany = CodecError.damaged(.jpeg, reason: "it has more than 500 scans")
    private let tooMuch = CodecError.damaged(.jpeg, reason: "it has too many scans for its size")

    private func check(_ scans: Int, _ width: Int, _ height: Int) throws {
        let scan = Data([0xFF, 0xDA, 0, 2])
        let file = (0..<scans).reduce(Data([0xFF, 0xD8])) { data, _ in data + scan } + [0xFF, 0xD9]
        try file.read { try JPEGScans.check($0, size: PixelSize(width, height)) }
    }

    @Test func thirtyTwoScansAreDecodedAtAnySize() throws {
        try check(32, 65_535, 65_535)
        #expect(throws: tooMuch) { try check(33, 65_535, 65_535) }
    }

    @Test func moreScansMayCostSoMuch() throws {
        try check(64, 8192, 4096)
        #expect(throws: tooMuch) { try check(64, 8192, 4097) }
        // The product of an even number of scans with the largest number wraps around to a negative one.
        #expect(throws: tooMuch) { try check(34, 1 << 40, 1 << 40) }
    }

    @Test func fiveHundredScansAreTheMost() throws {
        try check(500, 8, 8)
        #expect(throws: tooMany) { try check(501, 8, 8) }
    }
}
