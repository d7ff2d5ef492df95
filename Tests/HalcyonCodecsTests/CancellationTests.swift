import Foundation
import HalcyonImage
import Testing

@testable import HalcyonCodecs
@testable import HalcyonSystem

@Suite struct CancellationTests {
    let registry = CoderRegistry.standard()

    /// A context that is cancelled after it was asked `count` times.
    private func context(after count: Int) -> (WorkContext, Lock<Int>) {
        let asked = Lock(0)
        let context = WorkContext {
            asked.withLock { asked in
                asked += 1
                return asked > count
            }
        }
        return (context, asked)
    }

    @Test(arguments: Fixture.all)
    func cancelledDecodeThrows(_ fixture: Fixture) throws {
        let data = try fixture.data()
        #expect(throws: CancellationError.self) { try registry.decode(data, context: context(after: 0).0) }
        // Past the door: the coder itself asks too.
        #expect(throws: CancellationError.self) { try registry.decode(data, context: context(after: 1).0) }
    }

    @Test(arguments: [ImageFormat.jpeg, .png, .webp])
    func decodeAndEncodeStopWhenCancelled(_ format: ImageFormat) throws {
        let image = try sampleImage(PixelSize(700, 500), hasAlpha: true)
        for options in [EncodeOptions(isProgressive: true), EncodeOptions(isLossless: true)] {
            let file = try registry.encode(image, as: format, options: options)
            #expect(throws: CancellationError.self) { try registry.decode(file, context: context(after: 2).0) }
            #expect(throws: CancellationError.self) {
                try registry.encode(image, as: format, options: options, context: context(after: 3).0)
            }
            // Every 64 rows or so, and not at every row.
            let (patient, asked) = context(after: .max)
            _ = try registry.decode(file, context: patient)
            #expect(asked.withLock { $0 } < 400)
        }
    }
}
