/// The text of docs/Processors.md.
enum ProcessorsDocument {
    /// The relative path from docs/ to the pictures of the pages.
    private static let pictures = "../Sources/HalcyonProcessing/HalcyonProcessing.docc/Resources/"

    static var text: String {
        ([head] + ProcessorTopic.allCases.map(section)).joined(separator: "\n\n")
    }

    private static var head: String {
        """
        # Processors

        What an image can be made into: in a program by a request's `processors`, in their order, and on the command \
        line by `halcyon load --process`, once for each. `halcyon processors` lists the spellings. Written by \
        `make docs`.

        ```swift
        let request = ImageRequest(
            url, processors: [.resize(to: PixelSize(320, 240), mode: .fill), .roundCorners(radius: 20)])
        ```

        ```sh
        halcyon load photo.jpg -o thumbnail.png --process resize=320x240:fill --process round=20
        ```

        \(grammar)

        | the picture | with a clear edge |
        | --- | --- |
        | ![The picture](\(pictures)\(ProcessorPictures.name(of: .opaque)).png) | \
        ![With a clear edge](\(pictures)\(ProcessorPictures.name(of: .cutOut)).png) |
        """
    }

    static let grammar = """
        A spelling is `NAME[=PART[:PART]...]`. A part is a number, a colour (`#rgb`, `#rgba`, `#rrggbb` or \
        `#rrggbbaa`), a size (`WxH`), a word, or `KEY=VALUE`. It is told by what it looks like, so that their order \
        is free; of two numbers, the first stands first. What lies in brackets may be left out. Values outside of \
        their limits are an error before anything is fetched.
        """

    private static func section(_ topic: ProcessorTopic) -> String {
        (["## \(topic.rawValue)"] + topic.entries.map(entry)).joined(separator: "\n\n")
    }

    private static func entry(_ entry: ProcessorEntry) -> String {
        """
        ### \(entry.title)

        \(entry.text)

        ![\(entry.example)](\(pictures)\(ProcessorPictures.name(of: entry)).png)

        \(entry.forms.map { "- `\($0)`" }.joined(separator: "\n"))

        The picture is `\(entry.example)`, in Swift `\(entry.call)`.
        """ + table(entry)
    }

    /// Returns a table of the parts, or an empty text for a processor without any.
    static func table(_ entry: ProcessorEntry) -> String {
        guard !entry.parts.isEmpty else { return "" }
        let rows = entry.parts.map { part in
            let argument = part.argument.isEmpty ? "" : "`\(part.argument)`"
            return "| `\(part.spelling)` | \(argument) | \(part.text) |"
        }
        return "\n\n" + (["| part | in Swift | |", "| --- | --- | --- |"] + rows).joined(separator: "\n")
    }
}
