import Foundation
import Halcyon
import ImageURLs
import Testing

@testable import HalcyonServer

/// Sizes and cuts of thumbor's own transformer, by `scripts/make-thumbor-geometry`.
@Suite struct ThumborGeometryTests {
    private enum Value: Decodable {
        case text(String)
        case number(Int)

        init(from decoder: any Decoder) throws {
            let container = try decoder.singleValueContainer()
            if let number = try? container.decode(Int.self) {
                self = .number(number)
            } else {
                self = .text(try container.decode(String.self))
            }
        }
    }

    @Test func cutsAndSizes() throws {
        let folder = URL(fileURLWithPath: #filePath).resolvingSymlinksInPath()
            .deletingLastPathComponent()
        let file = folder.deletingLastPathComponent().appendingPathComponent(
            "Fixtures/thumbor-geometry.json")
        let rows = try JSONDecoder().decode([[Value]].self, from: Data(contentsOf: file))
        #expect(rows.count == 1000)
        let grammar = ThumborURL(keys: try .thumbor([], policy: .unsafeAllowed))
        for row in rows {
            guard case .text(let path)? = row.first else { continue }
            let numbers = row.compactMap { if case .number(let number) = $0 { number } else { nil } }
            try #require(numbers.count == 10)
            let source = PixelSize(numbers[0], numbers[1])
            let job = try grammar.job(at: "/unsafe/\(path)http://images.test/a.jpg")
            let found = JobGeometry(job, source: source, isVector: false)
            let part = PixelRect(x: numbers[2], y: numbers[3], width: numbers[4], height: numbers[5])
            #expect(
                found.part ?? PixelRect(x: 0, y: 0, width: source.width, height: source.height) == part,
                "\(row)")
            #expect(found.size == PixelSize(numbers[6], numbers[7]), "\(path) of \(source)")
            let canvas = PixelSize(
                found.boxWidth ?? found.size.width, found.boxHeight ?? found.size.height)
            #expect(canvas == PixelSize(numbers[8], numbers[9]), "\(path) of \(source)")
        }
    }
}
