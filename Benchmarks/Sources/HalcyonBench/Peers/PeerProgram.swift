import CFloors
import Foundation
import Glibc
import Halcyon

/// Peers/processing.py in a process of its own, which executes one command at a time, so that Pillow, libvips and
/// OpenCV run by turns with Halcyon.
final class PeerProgram: Sendable {
    /// The path from the folder of this package, the working directory that scripts/bench sets.
    private static let script = "Peers/processing.py"
    let list: PeerList
    private let child: bench_child

    init(python: String) throws {
        let strings = CStrings([python, Self.script, "--serve", "--core", "\(OneCore.number)"])
        var child = bench_child()
        guard strings.withPointers({ bench_start($0, &child) }) else {
            throw BenchmarkFailure("\(python) could not be started")
        }
        do {
            let answer = try Self.ask(child, ["idioms"])
            list = try JSONDecoder().decode(PeerList.self, from: Data(answer.utf8))
        } catch {
            withUnsafePointer(to: child) { bench_stop($0) }
            throw error
        }
        self.child = child
    }

    deinit {
        withUnsafePointer(to: child) { bench_stop($0) }
    }

    /// Makes every peer load a picture into memory, from a file of premultiplied BGRA.
    func load(_ picture: String, _ file: URL, size: PixelSize, target: PixelSize) throws {
        let sides = [size.width, size.height, target.width, target.height].map(String.init)
        _ = try Self.ask(child, ["load", picture, file.path(percentEncoded: false)] + sides)
    }

    /// Times all repeats together.
    func time(_ picture: String, _ operation: String, _ idiom: PeerIdiom, repeats: Int) throws -> Sample {
        let numbers = try pair(["time", picture, operation, idiom.name, String(repeats)])
        return Sample(wall: Double(numbers.0), cpu: Double(numbers.1))
    }

    /// Writes the result as premultiplied BGRA, and returns its size.
    func save(_ picture: String, _ operation: String, _ idiom: PeerIdiom, to file: URL) throws -> PixelSize {
        let sides = try pair(["write", picture, operation, idiom.name, file.path(percentEncoded: false)])
        return PixelSize(sides.0, sides.1)
    }

    private func pair(_ question: [String]) throws -> (Int, Int) {
        let answer = try Self.ask(child, question)
        let numbers = answer.split(separator: "\t").compactMap { Int($0) }
        guard numbers.count == 2 else { throw BenchmarkFailure("the peers answered \(answer)") }
        return (numbers[0], numbers[1])
    }

    /// Sends one line, and returns the line of the response without its end.
    private static func ask(_ child: bench_child, _ fields: [String]) throws -> String {
        let question = Array((fields.joined(separator: "\t") + "\n").utf8)
        // A command is shorter than a pipe's buffer, so that one write takes all of it.
        guard write(child.input, question, question.count) == question.count else {
            throw BenchmarkFailure("the peers take no more questions")
        }
        var answer: [UInt8] = []
        var part = [UInt8](repeating: 0, count: 4096)
        while answer.last != UInt8(ascii: "\n") {
            let count = read(child.output, &part, part.count)
            guard count > 0 else { throw BenchmarkFailure("the peers ended at \(fields.joined(separator: " "))") }
            answer += part.prefix(count)
        }
        return String(decoding: answer.dropLast(), as: UTF8.self)
    }
}
