import Foundation
import TestSupport

@testable import HostileDecode

/// Runs `HostileDecode` over cases, and starts it again behind each that ended it.
enum DecodeChild {
    /// So many ends are enough to know that something is wrong.
    private static let mostEnds = 20

    /// A report for each case, in order; one without steps for a case that ended the child.
    ///
    /// - Parameter filling: with which the C library fills memory that it hands out, but for the bits that it inverts;
    ///   0 leaves memory as it is.
    static func run(_ cases: [DecodeCase], filling: UInt8 = 0) async throws -> [DecodeReport] {
        let folder = TemporaryFolder()
        try FileManager.default.createDirectory(at: folder.url, withIntermediateDirectories: true)
        var reports: [DecodeReport] = []
        var ends = 0
        while reports.count < cases.count, ends < mostEnds {
            let found = try await once(Array(cases.dropFirst(reports.count)), in: folder.url, filling)
            reports += found
            if reports.count < cases.count { ends += 1 }
        }
        return reports
    }

    private static func once(_ cases: [DecodeCase], in folder: URL, _ filling: UInt8) async throws -> [DecodeReport] {
        let (input, output) = (folder.appending(path: "cases"), folder.appending(path: "report"))
        let lines = try cases.map { try JSONEncoder().encode($0) }
        try Data(lines.joined(separator: Data("\n".utf8))).write(to: input)
        let program = try TestProgram(
            Spawn.builtExecutable("HostileDecode"), [input, output].map { $0.path(percentEncoded: false) },
            environment: ["MALLOC_PERTURB_": "\(filling)"])
        let status = await program.ended()
        let text = try Data(contentsOf: output)
        var reports = text.split(separator: UInt8(ascii: "\n")).compactMap {
            try? JSONDecoder().decode(DecodeReport.self, from: $0)
        }
        // A line announces its case, and is superseded by its report.
        let isCut = reports.last.map { $0.steps == nil } ?? true
        var last = reports.last
        reports.removeAll { $0.steps == nil }
        if isCut {
            guard last != nil else { throw Spawn.Failure(call: "HostileDecode", number: status) }
            last?.status = status
            last.map { reports.append($0) }
        }
        return reports
    }
}

extension DecodeReport {
    /// Bytes beside what was reserved and what is read of the file: tables of the libraries, stacks, pages of the heap that are not full.
    private static let slack = 8 << 20
    /// Seconds of processor time in a debug build, on a machine that takes `referenceSeconds` for the reference drawing.
    private static let (leastSeconds, secondsPerByte, secondsPerPixel) = (1.0, 2e-6, 4e-6)
    private static let referenceSeconds = 0.03

    /// The problems in the child's report.
    var problems: [String] {
        guard let steps else { return ["\(decodeCase.name) ended the process: \(status ?? 0)"] }
        return steps.flatMap { step in
            var found: [String] = []
            if step.outcome.hasPrefix("untyped") { found.append(step.outcome) }
            guard !Sanitizer.isOn else { return found.map { "\(decodeCase.name) \(step.name): \($0)" } }
            let memory = Self.slack + bytes * 2 + step.reserved + frames(for: step.name) * frameBytes
            if step.peak > memory {
                found.append(
                    "took \(step.peak >> 10) KiB, \(memory >> 10) are granted (\(step.reserved >> 10) reserved)")
            }
            let nominal =
                Self.leastSeconds + Double(bytes) * Self.secondsPerByte + Double(pixels) * Self.secondsPerPixel
            let seconds = nominal * max(1, reference / Self.referenceSeconds)
            if step.seconds > seconds { found.append("took \(step.seconds) s, \(seconds) are granted") }
            return found.map { "\(decodeCase.name) \(step.name) (\(step.outcome)): \($0)" }
        }
    }

    /// Bitmaps of a frame that a step may have beside the decode: an encoder the frames around the one that it writes and
    /// the file, a decode of what arrives a preview.
    private func frames(for step: String) -> Int {
        switch step {
        case "encode": 5
        case "arriving": 2
        default: 0
        }
    }
}
