import Halcyon
import HalcyonCodecs

/// A picture to convert.
struct ConvertSource: Sendable {
    let path: BytePath
    /// The path below the output folder: below the folder, or the fixed part of the pattern, that the picture was found in.
    let relative: BytePath
    let facts: FileFacts
    /// Whether the command line names the file itself, and not a folder or pattern.
    let isNamed: Bool
}

/// The pictures that the arguments of `halcyon convert` name: files, folders and patterns.
///
/// In folders and by patterns, files are found whose extension is that of a format that can be decoded. Hidden files and folders
/// are not looked at, nor are links to folders.
struct ConvertSources {
    private(set) var found: [ConvertSource] = []
    private(set) var failures: [FailureReport] = []

    private let isRecursive: Bool
    private let formats: [ImageFormat]
    /// The output folder, whose pictures are no sources when it lies inside of a source.
    private let output: FileFacts.Identity?

    /// - Parameter output: The output folder, if there is one already.
    init(_ arguments: [BytePath], isRecursive: Bool, output: BytePath?, coders: CoderRegistry) {
        self.isRecursive = isRecursive
        self.output = output.flatMap { FileFacts($0)?.identity }
        formats = coders.decodableFormats
        for argument in arguments { add(argument) }
    }

    private mutating func add(_ argument: BytePath) {
        guard let facts = FileFacts(argument) else { return addPattern(argument) }
        switch facts.kind {
        case .folder: addFolder(argument, relative: BytePath([]))
        case .file:
            found.append(
                ConvertSource(path: argument, relative: BytePath(argument.name), facts: facts, isNamed: true))
        case .link, .other: fail(argument, "it is not a regular file")
        }
    }

    private mutating func addPattern(_ pattern: BytePath) {
        guard var glob = Glob(pattern) else { return fail(pattern, "there is no such file") }
        glob.expand()
        failures += glob.failures
        let count = found.count
        for path in glob.files where isPicture(path) {
            let relative = path.bytes.dropFirst(glob.base.bytes.count).drop { $0 == BytePath.slash }
            addFound(path, relative: BytePath(relative))
        }
        if found.count == count, glob.failures.isEmpty { fail(pattern, "no picture has such a name") }
    }

    private mutating func addFolder(_ folder: BytePath, relative: BytePath) {
        if let output, FileFacts(folder)?.identity == output, !relative.bytes.isEmpty { return }
        let names: [[UInt8]]
        do {
            names = try FolderReader.names(in: folder)
        } catch {
            failures.append(FailureReport(error))
            return
        }
        for name in names where name.first != UInt8(ascii: ".") {
            let (path, relative) = (folder.appending(name), relative.appending(name))
            // A link to a folder is another way to what is found anyway, or a loop.
            switch FileFacts(path, followingLinks: false)?.kind {
            case .folder where isRecursive: addFolder(path, relative: relative)
            case .file, .link: if isPicture(path) { addFound(path, relative: relative) }
            default: break
            }
        }
    }

    private mutating func addFound(_ path: BytePath, relative: BytePath) {
        guard let facts = FileFacts(path), facts.kind == .file else { return }
        found.append(ConvertSource(path: path, relative: relative, facts: facts, isNamed: false))
    }

    private func isPicture(_ path: BytePath) -> Bool {
        let text = path.pathExtension
        return formats.contains { $0.isNamed(text) }
    }

    private mutating func fail(_ path: BytePath, _ reason: String) {
        failures.append(FailureReport(code: "badSource", message: "\(path): \(reason)"))
    }
}
