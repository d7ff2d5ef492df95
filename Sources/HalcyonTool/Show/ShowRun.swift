import Foundation
import Halcyon

/// One run of `halcyon show`.
struct ShowRun: Sendable {
    let command: ShowCommand
    let pipeline: ImagePipeline
    let processors: [any ImageProcessor]
    let screen: ShowScreen

    /// Shows the sources, and plays what moves among them.
    ///
    /// - Returns: Whether all were shown.
    func run(_ entries: [SourceList.Entry]) async throws -> Bool {
        let (facts, options) = (screen.facts, command.options)
        let layout = GridLayout(
            count: entries.count, across: options.columns, width: options.width, height: options.height,
            screen: facts.size, isTerminal: facts.isTerminal, showsCaptions: options.captions)
        let encoder = PictureEncoder(
            way: facts.way, isWrapped: facts.isWrapped, surface: options.background?.surface(facts.way),
            background: facts.background, dithers: options.dither,
            hasEveryColor: facts.hasEveryColor, sixelColors: facts.sixelColors)
        // A pipe gets the frames only if they are asked for: an endless animation would never end.
        let plays = !options.still && (facts.isTerminal || options.loops != nil)
        let loader = ShowLoader(
            pipeline: pipeline, options: command.sources.request, processors: processors,
            box: layout.box(facts.way, cell: facts.size.cell, sixelLimit: facts.sixelLimit), enlarges: options.fit,
            plays: plays,
            sendsFiles: facts.way == .iterm2 && options.loops == nil && options.background == nil,
            concurrency: command.sources.concurrency)
        var painter = GridPainter(
            layout: layout, encoder: encoder, screen: facts.size, output: screen.output,
            firstID: .random(in: 1 << 24..<1 << 31))
        var row: [ShowTile] = []
        var allSucceeded = true
        try await loader.run(entries) { entry, result in
            switch result {
            case .success(let tile): row.append(tile)
            case .failure(let failure):
                allSucceeded = false
                painter.skip(lines: report(failure, of: entry))
            }
            guard row.count == layout.across else { return }
            try await painter.draw(row)
            row = []
        }
        if !row.isEmpty { try await painter.draw(row) }
        if plays, !painter.moving.isEmpty {
            try screen.beginPlaying()
            try await ScreenPlayer(encoder: encoder, output: screen.output, loops: options.loops)
                .play(painter.moving, line: painter.line)
        }
        return allSucceeded
    }

    /// Writes the line of a failure.
    ///
    /// - Returns: The lines that it takes on the screen; 0 if it goes elsewhere.
    private func report(_ failure: FailureReport, of entry: SourceList.Entry) -> Int {
        let text = "\(entry.text): \(failure.message) (\(failure.code))"
        Output.error(text)
        guard screen.facts.isTerminal, isatty(STDERR_FILENO) == 1 else { return 0 }
        let width = TerminalText.width(TerminalText.clean("halcyon: " + text))
        return max(1, (width + screen.facts.size.columns - 1) / screen.facts.size.columns)
    }
}
