import HalcyonImage
import Testing

/// Bitmaps never share memory, whatever went before them.
@Suite struct PixelStorageTests {
    private func bitmap(_ size: PixelSize, _ value: UInt8) throws -> Bitmap {
        try Bitmap(size: size, isOpaque: false) { $0.initializeMemory(as: UInt8.self, repeating: value) }
    }

    private func holds(_ bitmap: Bitmap, _ value: UInt8) -> Bool {
        bitmap.withPixels { $0.allSatisfy { $0 == value } }
    }

    /// Below and above the size that is kept for the next bitmap, and not a multiple of a page.
    @Test(arguments: [PixelSize(600, 500), PixelSize(1024, 768), PixelSize(999, 1049), PixelSize(1500, 1000)])
    func manyAtOnceKeepTheirOwnPixels(_ size: PixelSize) async throws {
        try await withThrowingTaskGroup { group in
            for task in 0..<4 {
                group.addTask {
                    var kept: [Bitmap] = []
                    for round in 0..<12 {
                        let value = UInt8(task * 16 + round)
                        let bitmap = try bitmap(size, value)
                        #expect(holds(bitmap, value))
                        if round % 3 == 0 { kept.append(bitmap) }
                    }
                    for (index, bitmap) in kept.enumerated() {
                        #expect(holds(bitmap, UInt8(task * 16 + index * 3)))
                    }
                }
            }
            try await group.waitForAll()
        }
    }
}
