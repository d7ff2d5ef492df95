import Foundation
import HalcyonCodecs

/// A worker for tests: one whose coder attacks, or, under the name `liar`, one that answers what is not true.
@main enum DecodeBox {
    static func main() {
        if CommandLine.arguments.first?.hasSuffix("liar") == true { LyingWorker.run() }
        let words = CommandLine.arguments
        if words.count == 3, words[1] == "attacks" {
            let survivors = Attack.survivors(worker: words[2])
            print(survivors.joined(separator: "\n"))
            exit(survivors.isEmpty ? 0 : 1)
        }
        if words.count > 4, words[1] == "storm" {
            let problem: String?
            do {
                problem = try Storm.run(worker: words[2], kills: Int(words[3]) ?? 0, files: Array(words.dropFirst(4)))
            } catch {
                problem = "\(error)"
            }
            print(problem ?? "")
            exit(problem == nil ? 0 : 1)
        }
        DecodeWorker.runIfAsked { CoderRegistry.standard().coders.reversed() + [AttackCoder(), UnguardedCoder()] }
        exit(2)
    }
}
