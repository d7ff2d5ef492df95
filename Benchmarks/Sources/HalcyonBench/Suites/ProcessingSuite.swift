import Foundation
import Halcyon

/// Compares Halcyon's processors with Pillow, libvips and OpenCV, on one core, from pixels in memory to pixels in
/// memory.
struct ProcessingSuite: Suite {
    let names = ["processing"]
    /// The path of a Python with these libraries.
    let python: String?

    func comparisons(_ scratch: ScratchFolder) async throws -> [Comparison] {
        let pictures = [
            try ProcessingPicture(
                "12 Mpx", PixelSize(4000, 3000), target: PixelSize(640, 480), repeats: 1),
            try ProcessingPicture(
                "1024x768", PixelSize(1024, 768), target: PixelSize(256, 192), repeats: 8),
        ]
        let peers = try peers()
        if let peers {
            for picture in pictures { try picture.load(peers, scratch) }
        }
        return try pictures.flatMap { picture in
            try ProcessingCase.all.map { try comparison($0, picture, peers, scratch) }
        }
    }

    private func peers() throws -> PeerProgram? {
        guard let python else {
            Self.note("without Python and its libraries Halcyon is measured alone")
            return nil
        }
        let peers = try PeerProgram(python: python)
        Self.note("beside \(peers.list.versions), on core \(OneCore.number)")
        return peers
    }

    /// Writes to standard error, as standard output may have to hold JSON alone.
    private static func note(_ text: String) {
        FileHandle.standardError.write(Data("processing: \(text)\n".utf8))
    }

    private func comparison(
        _ subject: ProcessingCase, _ picture: ProcessingPicture, _ peers: PeerProgram?, _ scratch: ScratchFolder
    ) throws -> Comparison {
        let processor = subject.processor(picture.target)
        let rivals = try peers.map { peers in
            guard let idioms = peers.list.operations[subject.operation] else {
                throw BenchmarkFailure("the peers know no \(subject.operation)")
            }
            return idioms.map { rival($0, subject, picture, peers, scratch) }
        }
        return Comparison(
            name: "processing", variant: "\(subject.variant), \(picture.title)", unit: .milliseconds,
            operations: picture.repeats,
            subject: {
                try OneCore.run {
                    try Sample.of {
                        for _ in 0..<picture.repeats {
                            _ = try processor.process(picture.image, context: .uncancellable)
                        }
                    }
                }
            },
            rivals: rivals ?? [])
    }

    private func rival(
        _ idiom: PeerIdiom, _ subject: ProcessingCase, _ picture: ProcessingPicture, _ peers: PeerProgram,
        _ scratch: ScratchFolder
    ) -> Rival {
        Rival(
            name: idiom.name, note: idiom.note, isAlike: idiom.isAlike,
            run: { try peers.time(picture.title, subject.operation, idiom, repeats: picture.repeats) },
            likeness: {
                // The small picture's comparison holds for the large one too, which would take long to compare.
                guard picture.repeats > 1 else { return nil }
                let image = try subject.processor(picture.target).process(picture.image, context: .uncancellable)
                let file = scratch.url.appending(path: "result")
                let size = try peers.save(picture.title, subject.operation, idiom, to: file)
                let likeness = try Likeness.decibels(of: image.bitmap, to: Data(contentsOf: file), size)
                guard !idiom.isAlike || likeness >= Likeness.least else {
                    throw BenchmarkFailure("\(subject.variant): \(idiom.name) makes another picture, \(likeness) dB")
                }
                return likeness
            })
    }
}
