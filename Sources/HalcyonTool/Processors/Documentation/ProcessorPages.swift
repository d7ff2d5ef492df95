import Foundation
import Halcyon
import HalcyonProcessing

/// The pages of HalcyonProcessing's documentation catalog, one for each processor, and their pictures.
enum ProcessorPages {
    /// Writes the whole catalog and replaces the present one.
    ///
    /// - Throws: The errors of drawing, encoding and the file system.
    static func write(to folder: URL) throws {
        let pictures = folder.appending(path: "Resources")
        try FileManager.default.createDirectory(at: pictures, withIntermediateDirectories: true)
        try save(root, to: folder.appending(path: "HalcyonProcessing.md"))
        for entry in ProcessorTable.entries {
            try save(page(entry), to: folder.appending(path: fileName(entry) + ".md"))
            try ProcessorPictures.png(of: entry)
                .write(to: pictures.appending(path: ProcessorPictures.name(of: entry) + ".png"))
        }
        for scene in [ProcessorEntry.Scene.opaque, .cutOut] {
            try ProcessorPictures.png(of: scene)
                .write(to: pictures.appending(path: ProcessorPictures.name(of: scene) + ".png"))
        }
    }

    private static func save(_ text: String, to file: URL) throws {
        try Data((text + "\n").utf8).write(to: file)
    }

    /// Returns the file name: the title in one word, with a prefix. Without the prefix it may be the name of a type,
    /// and the page would be dropped.
    private static func fileName(_ entry: ProcessorEntry) -> String {
        "Processor-" + entry.title.split(separator: " ").map(\.capitalized).joined()
    }

    private static var root: String {
        let topics = ProcessorTopic.allCases.map { topic in
            (["### \(topic.rawValue)", ""] + topic.entries.map { "- <doc:\(fileName($0))>" }).joined(separator: "\n")
        }
        return """
            # ``HalcyonProcessing``

            Processors make new images from images.

            ## Overview

            A processor is a value that consists of its parameters. A request has a list of processors; their results are \
            cached like any image, and the frames of an animation are processed one by one. To add a processor, write a type \
            that conforms to ``ImageProcessor``, or use a closure in a ``GeneralProcessor``.

            The pictures of the pages are made from these two; the second has a clear edge.

            ![A house between hills](\(ProcessorPictures.name(of: .opaque)))

            ![The same with a clear edge](\(ProcessorPictures.name(of: .cutOut)))

            ## Topics

            \(topics.joined(separator: "\n\n"))
            """
    }

    private static func page(_ entry: ProcessorEntry) -> String {
        """
        # \(entry.title)

        \(entry.text)

        ## Overview

        ![The result](\(ProcessorPictures.name(of: entry)))

        ```swift
        let request = ImageRequest(url, processors: [\(entry.call)])
        ```

        The same on the command line:

        ```sh
        halcyon load picture.png -o result.png --process '\(entry.example)'
        ```

        It is spelled \(entry.forms.map { "`\($0)`" }.joined(separator: " or ")); its type is ``\(entry.type)``.
        """ + ProcessorsDocument.table(entry)
    }
}
