import CHalcyonWorker
import Foundation
import HalcyonImage

@testable import HalcyonCodecs

/// An answer of a worker that somebody has taken over, without a box around it.
enum Lie: String, CaseIterable {
    case planOfAnotherFormat, hugePlan, emptyPlan, colorsAsStored, garbage, nothing, longMessage, descriptor,
        anotherNumber,
        secondMessage, pqOfDeepPixels, linearDeepPixels
    case anotherSize, moreFrames, longProfile, depth, gainMap, preview, closesChannel, silence, anotherAnswer,
        anotherPart
    case cutMessage, hugeMemory, negativeCounts, repeatedPart, partOfASmallImage, endlessParts
    // Lies in an answer that has both the plan and the image.
    case atOnceOfAnotherSize, atOnceOfAnotherFormat, atOnceOfMoreMemory, atOnceLarge
    // Lies about frames of an honest animation, and about previews.
    case tooManyFrames, noFrames, longFrame
    case previewOfAnotherSize, previewThatIsWhole, previewOfAnotherFormat, previewOfALongProfile
    // A lie that changes nothing.
    case shrinks, tellsTheTruth, manyParts, threeFrames, previewThatIsTrue

    var isOfFrames: Bool { [.tooManyFrames, .noFrames, .longFrame, .threeFrames].contains(self) }
    var isOfALargeImage: Bool { [.anotherPart, .repeatedPart, .endlessParts, .manyParts].contains(self) }

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
        if let arena {
            for part in 0...1 { memset(arena.window(part), 0xFF, WorkerArena.windowBytes) }
        }
        switch request.work {
        case .frames: return frames(request, lie)
        case .preview: return preview(request, lie)
        case .decode where request.mostBytes == 0: break
        case .decode where "\(lie)".hasPrefix("atOnce"): return atOnce(request, lie)
        default: return plan(request, lie)
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
        case .depth: send(image(request, hasDepth: true))
        case .gainMap: send(image(request, gainMap: PixelSize(4, 4)))
        case .negativeCounts: send(image(request, frames: -5))
        case .preview: send(image(request, isPreview: true))
        case .cutMessage: send(Array(image(request).dropLast(3)))
        case .anotherAnswer: send(WorkerAnswer.frames([true]).bytes(to: request.number))
        case .closesChannel:
            close(channel)
            while true { sleep(1) }
        case .silence: while true { sleep(1) }
        case _ where lie.isOfFrames: send(image(request, frames: 3))
        case _ where lie.isOfALargeImage: pass(lie, request)
        case .partOfASmallImage:
            send(WorkerAnswer.part(0).bytes(to: request.number))
            send(image(request))
        default: send(image(request))
        }
    }

    /// Sends a large image in parts.
    private static func pass(_ lie: Lie, _ request: WorkerRequest) {
        for part in 0..<(lie == .endlessParts ? 1000 : 4) {
            let told = lie == .anotherPart ? part * 2 : lie == .repeatedPart ? part / 2 : part
            send(WorkerAnswer.part(told).bytes(to: request.number))
            var (bytes, files, count) = (
                [UInt8](repeating: 0, count: 64), [Int32](repeating: -1, count: 4), Int32(0)
            )
            guard halcyon_channel_receive(channel, &bytes, bytes.count, &files, &count) > 0 else { exit(0) }
        }
        send(image(request, size: large))
    }

    private static func atOnce(_ request: WorkerRequest, _ lie: Lie) {
        var info = ImageInfo(format: .attack, size: AttackCoder.size)
        if lie == .atOnceOfAnotherFormat { info.format = .jpeg }
        if lie == .atOnceLarge { info.size = PixelSize(1024, 1024) }
        var encoder = KeyEncoder()
        encoder.encode(request.number)
        encoder.encode(6)
        encoder.encode(wire: info)
        encoder.encode(info.size)
        encoder.encode(lie == .atOnceOfMoreMemory ? request.mostBytes + 1 : 4096)
        // No gain map, colours that are converted, and no deep pixels.
        encoder.encode(false)
        encoder.encode(true)
        encoder.encode("")
        let size = lie == .atOnceOfAnotherSize ? PixelSize(17, 8) : info.size
        encoder.encode(facts: info, size, frames: 0, profile: nil)
        send(encoder.bytes)
    }

    private static func frames(_ request: WorkerRequest, _ lie: Lie) {
        var encoder = KeyEncoder()
        encoder.encode(request.number)
        encoder.encode(2)
        let count = lie == .noFrames ? 0 : lie == .tooManyFrames ? request.frames.count + 1 : request.frames.count
        encoder.encode(lie == .longFrame ? Int.max : count)
        for _ in 0..<count { encoder.encode(true) }
        send(encoder.bytes)
    }

    private static func preview(_ request: WorkerRequest, _ lie: Lie) {
        var info = ImageInfo(format: lie == .previewOfAnotherFormat ? .png : .attack, size: AttackCoder.size)
        info.isPreview = lie != .previewThatIsWhole
        var encoder = KeyEncoder()
        encoder.encode(request.number)
        encoder.encode(7)
        PreviewFacts().encode(into: &encoder)
        encoder.encode(true)
        let size = lie == .previewOfAnotherSize ? PixelSize(800, 800) : AttackCoder.size
        encoder.encode(facts: info, size, frames: 0, profile: lie == .previewOfALongProfile ? 1 << 20 : nil)
        send(encoder.bytes)
    }

    private static func plan(_ request: WorkerRequest, _ lie: Lie) {
        var info = ImageInfo(format: .attack, size: AttackCoder.size)
        if lie.isOfALargeImage { info.size = large }
        if lie.isOfFrames { (info.frameCount, info.loopCount) = (3, 0) }
        if lie == .planOfAnotherFormat { info.format = .jpeg }
        if lie == .hugePlan { info.size = PixelSize(Int(Int32.max), Int(Int32.max)) }
        if lie == .emptyPlan { info.size = PixelSize(0, 0) }
        var encoder = KeyEncoder()
        encoder.encode(request.number)
        encoder.encode(0)
        encoder.encode(wire: info)
        encoder.encode(info.size)
        encoder.encode(lie == .hugeMemory ? Int.max : 4096)
        encoder.encode(false)
        encoder.encode(lie != .colorsAsStored)
        let spaces: [Lie: NamedColorSpace] = [.pqOfDeepPixels: .bt2020PQ, .linearDeepPixels: .linearSRGB]
        encoder.encode(spaces[lie]?.rawValue ?? "")
        send(encoder.bytes)
    }

    private static func image(
        _ request: WorkerRequest, number: Int? = nil, size: PixelSize = AttackCoder.size, frames: Int = 0,
        profile: Int? = nil, isPreview: Bool = false, hasDepth: Bool = false, gainMap: PixelSize? = nil
    ) -> [UInt8] {
        var info = ImageInfo(format: .attack, size: size == large ? large : AttackCoder.size)
        info.isPreview = isPreview
        if frames == 3 { (info.frameCount, info.loopCount) = (3, 0) }
        var encoder = KeyEncoder()
        encoder.encode(number ?? request.number)
        encoder.encode(1)
        encoder.encode(facts: info, size, frames: frames, profile: profile, hasDepth: hasDepth, gainMap: gainMap)
        return encoder.bytes
    }
}

extension KeyEncoder {
    /// Encodes facts of an image, whether they can be true or not.
    fileprivate mutating func encode(
        facts info: ImageInfo, _ size: PixelSize, frames: Int, profile: Int?, hasDepth: Bool = false,
        gainMap: PixelSize? = nil
    ) {
        encode(wire: info)
        encode(size)
        encode(true)
        encode(frames)
        encode(0)
        encode(profile)
        encode(hasDepth)
        encode(hasDepth)
        encode(gainMap != nil)
        guard let gainMap else { return }
        encode(gainMap)
        encode(true)
        encode(nil as Int?)
        // Three channels from 0 to 1 stop, and the headrooms.
        for _ in 0..<3 { for number in [0, 1, 1, 0, 0] { encode(Double(number)) } }
        for number in [0, 1] { encode(Double(number)) }
        encode(true)
    }
}
