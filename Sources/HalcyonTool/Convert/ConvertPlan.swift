import Foundation
import Glibc
import Halcyon

/// The outputs of a conversion, all of them known before anything is written.
struct ConvertPlan: Sendable {
    struct Step: Sendable {
        let source: ConvertSource
        let output: BytePath
        /// The reason why there is nothing to do; nil if the picture is converted.
        var skipped: String?
    }

    /// The choices that name the outputs.
    struct Options: Sendable {
        /// The folder of the outputs; nil writes them beside the sources.
        var folder: BytePath?
        var format: ImageFormat?
        /// Whether sources may be replaced.
        var replacesSources = false
        /// Whether outputs that are newer than their sources are made again.
        var isForced = false
    }

    private(set) var steps: [Step] = []
    /// The reasons for which nothing may be written.
    private(set) var conflicts: [String] = []

    init(_ sources: [ConvertSource], _ options: Options) {
        var places = PlaceNames()
        let sourceKeys = Set(sources.map { places.key($0.path) })
        var owners: [BytePath: ConvertSource] = [:]
        for source in sources {
            let output = Self.output(of: source, options)
            let key = places.key(output)
            let isItself = key == places.key(source.path)
            if isItself, !options.replacesSources {
                if source.isNamed {
                    conflicts.append("\(source.path) would replace itself; --in-place allows that")
                } else {
                    let reason = "it would replace itself"
                    steps.append(Step(source: source, output: output, skipped: reason))
                }
                continue
            }
            if let owner = owners[key] {
                // One file may be named twice, by itself and by its folder.
                if owner.facts.identity != source.facts.identity {
                    conflicts.append("\(owner.path) and \(source.path) would both be written to \(output)")
                }
                continue
            }
            owners[key] = source
            let isCurrent =
                !options.isForced && !isItself && FileFacts(output)?.isNewer(than: source.facts) == true
            if isCurrent {
                steps.append(Step(source: source, output: output, skipped: "\(output) is newer"))
            } else if !isItself, sourceKeys.contains(key), !options.replacesSources {
                conflicts.append("\(source.path) would replace \(output), a source; --in-place allows that")
            } else {
                steps.append(Step(source: source, output: output))
            }
        }
    }

    /// Returns the path of the output. An extension that names the format already stays as it is spelled.
    private static func output(of source: ConvertSource, _ options: Options) -> BytePath {
        let path = options.folder.map { $0.appending(source.relative.bytes) } ?? source.path
        guard let format = options.format, !format.isNamed(path.pathExtension) else { return path }
        return path.replacingExtension(with: format.fileExtension)
    }
}

/// The one name that each place in the file system has, however a path spells it.
private struct PlaceNames {
    private var folders: [BytePath: BytePath] = [:]

    /// Returns the path with its folder resolved, as far as that exists. The last part is not followed: a link is replaced, and
    /// not what it leads to.
    mutating func key(_ path: BytePath) -> BytePath { folder(path.parent).appending(path.name) }

    private mutating func folder(_ path: BytePath) -> BytePath {
        if let known = folders[path] { return known }
        let resolved: BytePath
        if let pointer = path.withCString({ realpath($0, nil) }) {
            defer { free(pointer) }
            resolved = BytePath(UnsafeRawBufferPointer(start: pointer, count: strlen(pointer)))
        } else {
            let parent = path.parent
            resolved = parent == path ? path : folder(parent).appending(path.name)
        }
        folders[path] = resolved
        return resolved
    }
}
