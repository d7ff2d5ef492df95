import CHalcyonWorker
import Foundation
import HalcyonImage
import HalcyonSystem

/// The worker's side of a result: it fills the windows, and tells the program of each that is full.
final class ResultWriter {
    private let arena: WorkerArena
    private let channel: Int32
    private let number: Int
    /// Whether the program takes the parts; otherwise all bytes have to fit into the windows.
    private let isStreamed: Bool
    private var byteCount = 0
    /// The number of parts that the program has taken.
    private var taken = 0

    init(_ arena: WorkerArena, _ channel: Int32, for request: WorkerRequest) {
        (self.arena, self.channel, number, isStreamed) = (arena, channel, request.number, request.isStreamed)
    }

    /// Whether so many bytes fit into what is left.
    func hasRoom(for count: Int) -> Bool {
        isStreamed || byteCount.adding(1, times: count) <= 2 * WorkerArena.windowBytes
    }

    /// Returns memory for the next bytes, which may be made there and are then written from there; nil if they are not in one window.
    /// Waits for a window if both are full.
    func room(for count: Int) -> UnsafeMutableRawPointer? {
        let (part, offset) = byteCount.quotientAndRemainder(dividingBy: WorkerArena.windowBytes)
        guard offset + count <= WorkerArena.windowBytes, hasRoom(for: count) else { return nil }
        while offset == 0, taken < part - 1 { waitForWindow() }
        return arena.window(part) + offset
    }

    /// Writes bytes. Waits for a window if both are full.
    func write(_ bytes: UnsafeRawBufferPointer) {
        guard let base = bytes.baseAddress else { return }
        var position = 0
        while position < bytes.count {
            let (part, offset) = byteCount.quotientAndRemainder(dividingBy: WorkerArena.windowBytes)
            while offset == 0, taken < part - 1 { waitForWindow() }
            let count = min(WorkerArena.windowBytes - offset, bytes.count - position)
            let target = arena.window(part) + offset
            if base + position != UnsafeRawPointer(target) {
                target.copyMemory(from: base + position, byteCount: count)
            }
            byteCount += count
            position += count
            if isStreamed, offset + count == WorkerArena.windowBytes { send(WorkerAnswer.part(part)) }
        }
    }

    func write(_ bitmap: Bitmap) { bitmap.withPixels(write) }

    /// Sends an answer. Ends the worker if its program is gone.
    func send(_ answer: WorkerAnswer) {
        let bytes = answer.bytes(to: number)
        if halcyon_channel_send(channel, bytes, bytes.count, nil, 0) != 0 { _exit(0) }
    }

    private func waitForWindow() {
        guard let message = WorkerMessage.receive(channel), message.files.isEmpty,
            PartTaken(message.bytes) == PartTaken(number: number, part: taken)
        else { _exit(0) }
        taken += 1
    }
}

/// The program's message that it has taken a part.
struct PartTaken: Equatable {
    let number: Int
    let part: Int

    init(number: Int, part: Int) {
        (self.number, self.part) = (number, part)
    }

    /// Nil if the message is another one.
    init?(_ bytes: [UInt8]) {
        var reader = WireReader(bytes)
        guard let number = try? reader.int(), let part = try? reader.int(), reader.isAtEnd else { return nil }
        self.init(number: number, part: part)
    }

    var bytes: [UInt8] {
        var encoder = KeyEncoder()
        encoder.encode(number)
        encoder.encode(part)
        return encoder.bytes
    }
}

/// A message of the program, as a worker receives it.
struct WorkerMessage {
    /// The longest one, in bytes.
    private static let longest = 16 << 10

    let bytes: [UInt8]
    let files: [Int32]

    /// Waits for the next message; nil at the end of the channel.
    static func receive(_ channel: Int32) -> WorkerMessage? {
        var files = [Int32](repeating: -1, count: Int(HALCYON_CHANNEL_FILES))
        var count: Int32 = 0
        let bytes = withUnsafeTemporaryAllocation(byteCount: longest, alignment: 8) { buffer in
            let found = halcyon_channel_receive(channel, buffer.baseAddress, buffer.count, &files, &count)
            return [UInt8](buffer.prefix(max(0, found)))
        }
        return bytes.isEmpty ? nil : WorkerMessage(bytes: bytes, files: Array(files.prefix(Int(count))))
    }
}
