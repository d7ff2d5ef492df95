import Foundation
import Halcyon
import HalcyonGTK
import Synchronization

/// Measures what isolated decoding costs beside the same work in this process, by turns. It links GTK, as a desktop program does that
/// is its own worker.
///
///     halcyon-isolation WORKER [ROUNDS] [ROW]
///
/// A row is measured if its name begins with `ROW`.
@main
enum HalcyonIsolation {
    static func main() throws {
        DecodeWorker.runIfAsked()
        let words = CommandLine.arguments
        guard words.count > 1 else {
            print("usage: halcyon-isolation WORKER [ROUNDS] [ROW]")
            exit(64)
        }
        let bench = try IsolationBench(
            worker: words[1], rounds: words.count > 2 ? Int(words[2]) ?? 10 : 10, only: words.count > 3 ? words[3] : "")
        try bench.run()
    }
}

/// The two sides of the comparison, and the pictures of both.
struct IsolationBench {
    private let worker: String
    private let workers: DecodeWorkers
    private let rounds: Int
    /// The beginning of the names of the rows that are measured.
    private let chosen: String
    private let photo: Data
    /// As many that no cache of a processor holds them from one decode to the next, as the pictures of a page are.
    private let photos: [Data]
    private let large: Data
    private let animation: Data

    init(worker: String, rounds: Int, only chosen: String) throws {
        self.chosen = chosen
        self.worker = worker
        workers = DecodeWorkers(count: 2, program: .file(worker))
        self.rounds = rounds
        photo = try Picture.jpeg(PixelSize(1024, 768))
        photos = try (1...100).map { try Picture.jpeg(PixelSize(1024, 768), seed: $0) }
        large = try Picture.jpeg(PixelSize(4000, 3000))
        animation = try Picture.gif(PixelSize(320, 240), frames: 25)
    }

    func run() throws {
        try workers.prepare()
        print("a JPEG of 1024x768: \(photo.count) bytes; of 4000x3000: \(large.count) bytes")
        try row("one thumbnail, 1024x768 to 256, wall", "ms more", difference: true, count: 50) { isolation in
            _ = try decode(photo, isolation, target: 256)
        }
        try row("one header, wall", "ms more", difference: true, count: 200) { isolation in
            _ = try CoderRegistry.shared.probe(photo, isolation: isolation)
        }
        try row("500 headers, processor time", "ratio", ofProcessorTime: true) { isolation in
            for _ in 0..<500 { _ = try CoderRegistry.shared.probe(photo, isolation: isolation) }
        }
        try row("500 thumbnails, processor time", "ratio", ofProcessorTime: true) { isolation in
            for index in 0..<500 { _ = try decode(photos[index % photos.count], isolation, target: 256) }
        }
        try row("500 thumbnails by both cores, processor time", "ratio", ofProcessorTime: true) { isolation in
            try eachCore { core in
                for index in 0..<250 {
                    _ = try decode(photos[(index * 2 + core) % photos.count], isolation, target: 256)
                }
            }
        }
        try row("12 megapixels, wall", "ratio", count: 3) { _ = try decode(large, $0, target: nil) }
        try row("12 megapixels, processor time", "ratio", ofProcessorTime: true) { isolation in
            for _ in 0..<3 { _ = try decode(large, isolation, target: nil) }
        }
        let (own, other) = (
            try decode(animation, .inProcess, target: nil).animation,
            try decode(animation, isolated, target: nil).animation
        )
        try row("animation of 25 frames, wall", "ratio") { isolation in
            guard let frames = isolation == .inProcess ? own : other else { return }
            for index in 0..<frames.frameCount { _ = try frames.frame(at: index) }
        }
        try start("start of halcyon-decode-worker", .file(worker))
        try start("start of this program, with GTK", .itself)
        guard "idle workers".hasPrefix(chosen) else { return }
        try eachCore { _ in for _ in 0..<5 { _ = try decode(photo, isolated, target: 256) } }
        print("idle workers: \(try privateKilobytes()) KiB private, one of two")
    }

    /// Runs the body on two threads.
    private func eachCore(_ body: @escaping @Sendable (Int) throws -> Void) throws {
        let failure = Mutex<(any Error)?>(nil)
        DispatchQueue.concurrentPerform(iterations: 2) { core in
            do { try body(core) } catch { failure.withLock { $0 = error } }
        }
        if let error = failure.withLock({ $0 }) { throw error }
    }

    private var isolated: DecodeIsolation { .isolated(workers: workers) }

    private func decode(_ data: Data, _ isolation: DecodeIsolation, target: Int?) throws -> Image {
        var options = DecodeOptions(isolation: isolation)
        options.target = target.map { TargetSize(PixelSize($0, $0)) }
        return try CoderRegistry.shared.decode(data, options: options)
    }

    /// Runs both sides by turns, and prints the medians and what lies between them.
    private func row(
        _ name: String, _ unit: String, difference: Bool = false, ofProcessorTime: Bool = false, count: Int = 1,
        _ body: (DecodeIsolation) throws -> Void
    ) throws {
        guard name.hasPrefix(chosen) else { return }
        var (own, other): ([Double], [Double]) = ([], [])
        for round in 0...rounds {
            for isolation in [DecodeIsolation.inProcess, isolated] {
                let seconds =
                    ofProcessorTime
                    ? try processorSeconds { try body(isolation) }
                    : try wallSeconds { for _ in 0..<count { try body(isolation) } } / Double(count)
                // The first round warms up.
                guard round > 0 else { continue }
                if isolation == .inProcess { own.append(seconds) } else { other.append(seconds) }
            }
        }
        let (a, b) = (median(own) * 1000, median(other) * 1000)
        let result = difference ? b - a : b / a
        print(String(format: "%@: %.3f ms in process, %.3f ms isolated, %.3f %@", name, a, b, result, unit))
    }

    /// The time from nothing to the first image of a worker, and the memory of it.
    private func start(_ name: String, _ program: DecodeWorkers.Program) throws {
        guard name.hasPrefix(chosen) else { return }
        let workers = DecodeWorkers(count: 1, program: program)
        self.workers.endIdle()
        var times: [Double] = []
        for _ in 0...rounds {
            workers.endIdle()
            times.append(
                try wallSeconds {
                    var options = DecodeOptions(isolation: .isolated(workers: workers))
                    options.target = TargetSize(PixelSize(256, 256))
                    _ = try CoderRegistry.shared.decode(photo, options: options)
                })
        }
        let (milliseconds, kilobytes) = (median(Array(times.dropFirst())) * 1000, try privateKilobytes())
        print("\(name): \(String(format: "%.1f", milliseconds)) ms to the first thumbnail, \(kilobytes) KiB private")
    }

    private func median(_ values: [Double]) -> Double { values.sorted()[values.count / 2] }

    private func wallSeconds(_ body: () throws -> Void) rethrows -> Double {
        let start = ContinuousClock.now
        try body()
        return (ContinuousClock.now - start) / .seconds(1)
    }

    /// The processor time of this process and of its workers, which are ended so that their time is known.
    private func processorSeconds(_ body: () throws -> Void) throws -> Double {
        workers.endIdle()
        // Both workers are there.
        try eachCore { _ in for _ in 0..<5 { _ = try decode(photo, isolated, target: 256) } }
        let start = ownSeconds() + workerSeconds()
        try body()
        return ownSeconds() + workerSeconds() - start
    }

    private func ownSeconds() -> Double { seconds(CLOCK_PROCESS_CPUTIME_ID) }

    private func seconds(_ clock: clockid_t) -> Double {
        var time = timespec()
        guard clock_gettime(clock, &time) == 0 else { return 0 }
        return Double(time.tv_sec) + Double(time.tv_nsec) / 1e9
    }

    private func workerSeconds() -> Double {
        children().reduce(0) { sum, child in
            var clock = clockid_t()
            return clock_getcpuclockid(child, &clock) == 0 ? sum + seconds(clock) : sum
        }
    }

    private func children() -> [pid_t] {
        let threads = (try? FileManager.default.contentsOfDirectory(atPath: "/proc/self/task")) ?? []
        return threads.flatMap { thread in
            let text = try? String(contentsOfFile: "/proc/self/task/\(thread)/children", encoding: .utf8)
            return (text ?? "").split(separator: " ").compactMap { pid_t($0) }
        }
    }

    private func privateKilobytes() throws -> Int {
        guard let worker = children().max() else { return 0 }
        let text = try String(contentsOfFile: "/proc/\(worker)/smaps_rollup", encoding: .utf8)
        return text.split(separator: "\n").filter { $0.hasPrefix("Private_") }.reduce(0) { sum, line in
            sum + (line.split(separator: " ").dropFirst().first.flatMap { Int($0) } ?? 0)
        }
    }
}

/// Pictures with enough detail to keep a codec busy, the same in each run.
enum Picture {
    static func jpeg(_ size: PixelSize, seed: UInt32 = 1) throws -> Data { try image(size, seed).data(as: .jpeg) }

    static func gif(_ size: PixelSize, frames: Int) throws -> Data {
        let images = try (0..<frames).map {
            (image: try image(size, UInt32($0 + 1)), duration: Duration.milliseconds(40))
        }
        let animation = try AnimatedImage(frames: images)
        let first = images[0].image
        var info = first.info
        (info.frameCount, info.loopCount) = (frames, 0)
        return try Image(bitmap: first.bitmap, info: info, animation: animation).data(as: .gif)
    }

    private static func image(_ size: PixelSize, _ seed: UInt32) throws -> Image {
        var state = seed &* 2_654_435_761 | 1
        let bitmap = try Bitmap(size: size, isOpaque: true) { bytes in
            for y in 0..<size.height {
                for x in 0..<size.width {
                    state = state &* 1_664_525 &+ 1_013_904_223
                    let grain = Int(state >> 28)
                    let offset = (y * size.width + x) * 4
                    bytes[offset] = UInt8((x * 200 / size.width + grain) & 255)
                    bytes[offset + 1] = UInt8((y * 200 / size.height + grain) & 255)
                    bytes[offset + 2] = UInt8(((x + y) / 8 % 200 + grain) & 255)
                    bytes[offset + 3] = 255
                }
            }
        }
        return Image(bitmap: bitmap, info: ImageInfo(format: .bitmap, size: size))
    }
}
