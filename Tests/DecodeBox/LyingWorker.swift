import CHalcyonWorker
import Foundation
import HalcyonImage

@testable import HalcyonCodecs

/// An answer of a worker that somebody has taken over, without a box around it.
enum Lie: String, CaseIterable {
    case planOfAnotherFormat, hugePlan, emptyPlan, garbage, nothing, longMessage, descriptor, anotherNumber,
        secondMessage
    case anotherSize, moreFrames, longProfile, preview, closesChannel, silence, anotherAnswer, anotherPart
    case cutMessage, hugeMemory, negativeCounts
    // A lie that changes nothing.
    case shrinks, tellsTheTruth, manyParts

    var file: Data { Data("ATTACK \(rawValue)".utf8) }
}

/// A worker that plans honestly, and then lies as its file says.
enum LyingWorker {
    private static let channel = WorkerLaunch.Descriptor.channel
    private static let arena = WorkerArena(WorkerLaunch.Descriptor.arena)
    /// A size whose pixels come in four parts.
    private static let large = PixelSize(1024, 1024)

    static func run() -> Never {
        let names = [AttackCoder()].map { String(reflecting: type(of: $0)) }
        send(WorkerGreeting(coders: names, addressSpace: 0, failure: nil).bytes)
        var files = [Int32](repeating: -1, count: Int(HALCYON_CHANNEL_FILES))
        while true {
            var count: Int32 = 0
            let bytes = [UInt8](unsafeUninitializedCapacity: 65_536) { buffer, length in
                length = max(0, halcyon_channel_receive(channel, buffer.baseAddress, buffer.count, &files, &count))
            }
            var reader = WireReader(bytes)
            guard let request = try? WorkerRequest(&reader) else { exit(0) }
            let text = arena.map { Array(UnsafeRawBufferPointer(start: $0.file, count: request.fileBytes)) } ?? []
            let name = String(decoding: text.dropFirst(7), as: UTF8.self)
            answer(request, Lie(rawValue: name) ?? .tellsTheTruth)
            for file in files.prefix(Int(count)) { close(file) }
        }
    }

    private static func send(_ bytes: [UInt8], _ files: [Int32] = []) {
        _ = halcyon_channel_send(channel, bytes, bytes.count, files, Int32(files.count))
    }

    private static func answer(_ request: WorkerRequest, _ lie: Lie) {
        guard request.work == .decode else { return plan(request, lie) }
        if let arena {
            for part in 0...1 { memset(arena.window(part), 0xFF, WorkerArena.windowBytes) }
        }
        if lie == .shrinks { ftruncate(WorkerLaunch.Descriptor.arena, 0) }
        switch lie {
        case .garbage: send([UInt8](repeating: 0xAB, count: 300))
        case .nothing: send([0])
        case .longMessage: send([UInt8](repeating: 0, count: 100_000))
        case .descriptor: send(image(request), [0])
        case .anotherNumber: send(image(request, number: request.number + 1))
        case .secondMessage:
            send(image(request))
            send(image(request))
        case .anotherSize: send(image(request, size: PixelSize(1000, 1000)))
        case .moreFrames: send(image(request, frames: 5))
        case .longProfile: send(image(request, profile: 1 << 40))
        case .negativeCounts: send(image(request, frames: -5))
        case .preview: send(image(request, isPreview: true))
        case .cutMessage: send(Array(image(request).dropLast(3)))
        case .anotherAnswer: send(WorkerAnswer.frame(isOpaque: true).bytes(to: request.number))
        case .closesChannel:
            close(channel)
            while true { sleep(1) }
        case .silence: while true { sleep(1) }
        case .anotherPart, .manyParts:
            send(image(request, size: large))
            pass(lie)
        default: send(image(request))
        }
    }

    /// Sends the parts of a large image behind the first two.
    private static func pass(_ lie: Lie) {
        for part in 2...3 {
            var (acknowledged, files, count) = (
                [UInt8](repeating: 0, count: 64), [Int32](repeating: -1, count: 4), Int32(0)
            )
            _ = halcyon_channel_receive(channel, &acknowledged, acknowledged.count, &files, &count)
            var encoder = KeyEncoder()
            encoder.encode(lie == .anotherPart ? part + 1 : part)
            send(encoder.bytes)
        }
    }

    private static func plan(_ request: WorkerRequest, _ lie: Lie) {
        var info = ImageInfo(format: .attack, size: AttackCoder.size)
        if [.anotherPart, .manyParts].contains(lie) { info.size = large }
        if lie == .planOfAnotherFormat { info.format = .jpeg }
        if lie == .hugePlan { info.size = PixelSize(Int(Int32.max), Int(Int32.max)) }
        if lie == .emptyPlan { info.size = PixelSize(0, 0) }
        var encoder = KeyEncoder()
        encoder.encode(request.number)
        encoder.encode(0)
        encoder.encode(wire: info)
        encoder.encode(info.size)
        encoder.encode(lie == .hugeMemory ? Int.max : 4096)
        send(encoder.bytes)
    }

    private static func image(
        _ request: WorkerRequest, number: Int? = nil, size: PixelSize = AttackCoder.size, frames: Int = 0,
        profile: Int? = nil, isPreview: Bool = false
    ) -> [UInt8] {
        var info = ImageInfo(format: .attack, size: size == large ? large : AttackCoder.size)
        info.isPreview = isPreview
        var encoder = KeyEncoder()
        encoder.encode(number ?? request.number)
        encoder.encode(1)
        encoder.encode(wire: info)
        encoder.encode(size)
        encoder.encode(true)
        encoder.encode(frames)
        encoder.encode(0)
        encoder.encode(profile)
        return encoder.bytes
    }
}
