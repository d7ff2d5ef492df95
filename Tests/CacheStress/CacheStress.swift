import Foundation
import HalcyonCache

/// Works in a disk cache's folder for the tests that start it: see `KillRun` and `MixedRun`.
@main
struct CacheStress {
    static func main() async {
        let words = Array(CommandLine.arguments.dropFirst())
        let numbers = words.dropFirst(2).compactMap { Int($0) }
        // Standard output may be gone; that is an error of `write`, and no signal.
        signal(SIGPIPE, SIG_IGN)
        switch (words.first, numbers.count) {
        case ("kill", 7):
            let kinds = FileOperation.allCases
            await KillRun(
                folder: URL(filePath: words[1], directoryHint: .isDirectory), seed: numbers[0], sizeLimit: numbers[1],
                operations: numbers[2], deadly: kinds.indices.contains(numbers[3]) ? kinds[numbers[3]] : nil,
                call: numbers[4], isBefore: numbers[5] != 0, microseconds: numbers[6]
            ).run()
        case ("mixed", 6):
            await MixedRun(
                folder: URL(filePath: words[1], directoryHint: .isDirectory), seed: numbers[0], sizeLimit: numbers[1],
                milliseconds: numbers[2], bytesPerSecond: numbers[3], start: numbers[4], speed: numbers[5]
            ).run()
        default:
            let usage = """
                usage: CacheStress kill <folder> <seed> <size limit> <operations> <kind> <call> <before> <us>
                       CacheStress mixed <folder> <seed> <size limit> <milliseconds> <bytes per second> <start> <speed>

                """
            FileHandle.standardError.write(Data(usage.utf8))
            exit(2)
        }
    }
}
