import BenchSupport
import Foundation
import Halcyon

/// Small files that declare or unpack to enormous images: measures the time and memory of each rejection.
struct Bombs: Decodable {
    let name: String
    let file: String?
    let recipe: [Part]?
    let accepted: [String]

    struct Part: Decodable {
        let bytes: Data
        let count: Int

        init(from decoder: any Decoder) throws {
            var list = try decoder.unkeyedContainer()
            let text = Array(try list.decode(String.self).utf8)
            count = try list.decode(Int.self)
            bytes = Data(
                stride(from: 0, to: text.count, by: 2).compactMap {
                    UInt8(String(decoding: text[$0..<$0 + 2], as: UTF8.self), radix: 16)
                })
        }
    }

    static let all: [Bombs] = {
        let index = Fixtures.folder.appending(path: "bombs/index.json")
        return (try? JSONDecoder().decode([Bombs].self, from: Data(contentsOf: index))) ?? []
    }()

    func data() throws -> Data {
        if let file { return try Data(contentsOf: Fixtures.folder.appending(path: file)) }
        return (recipe ?? []).reduce(into: Data()) { data, part in
            for _ in 0..<part.count { data.append(part.bytes) }
        }
    }

    static func measure() throws {
        var (slow, large, wrong) = (0, 0, 0)
        // A first image of each format loads the code and tables of its library.
        for file in try MixedDecodes.files().prefix(120) { _ = try? CoderRegistry.shared.decode(file) }
        for bomb in all {
            let data = try bomb.data()
            var code = ""
            var best = Double.infinity
            var growth = 0
            for round in 0..<3 {
                Resident.reset()
                let before = Resident.now
                let started = ContinuousClock.now
                code = outcome(data)
                let elapsed = (ContinuousClock.now - started) / .milliseconds(1)
                best = min(best, elapsed)
                growth = round == 0 ? Resident.peak - before : min(growth, Resident.peak - before)
                if elapsed > 500 { break }
            }
            let isOver = best > 10 || growth > 4 << 20
            if best > 10 { slow += 1 }
            if growth > 4 << 20 { large += 1 }
            if !bomb.accepted.contains(code) { wrong += 1 }
            if isOver || !bomb.accepted.contains(code) {
                print(
                    "bombs: \(bomb.name): \(code), \(String(format: "%.1f", best)) ms, \(mebibytes(growth)), "
                        + "\(data.count) bytes")
            }
        }
        print(
            "bombs: of \(all.count), \(wrong) end otherwise than they may, \(slow) take more than 10 ms, "
                + "\(large) more than 4 MiB")
    }

    static func outcome(_ data: Data) -> String {
        do {
            let image = try CoderRegistry.shared.decode(data, options: DecodeOptions(decodesGainMap: true))
            guard let frames = image.animation else { return "image" }
            for index in [1, 2, frames.frameCount - 1] where index < frames.frameCount {
                _ = try frames.frame(at: index)
            }
            return "image"
        } catch let error as CodecError {
            return error.code
        } catch {
            return "\(error)"
        }
    }
}
