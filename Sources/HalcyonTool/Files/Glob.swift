/// The files that a pattern such as `photos/**/*.jpg` names.
///
/// The tree is walked once, with all the places of the pattern that a folder has reached, so that several `**` cost no more than
/// one. `**` does not enter links to folders, so that a loop of links ends; the other parts do, each part one folder deep.
struct Glob {
    /// The folder above the first part with a wildcard; empty for the present one.
    let base: BytePath
    private let parts: [GlobPattern]
    private(set) var files: [BytePath] = []
    private(set) var failures: [FailureReport] = []

    /// Returns nil for a path without a wildcard.
    init?(_ pattern: BytePath) {
        let parts = pattern.bytes.split(separator: BytePath.slash)
        guard let first = parts.firstIndex(where: { GlobPattern.hasWildcard($0) }) else { return nil }
        let start: [UInt8] = pattern.bytes.first == BytePath.slash ? [BytePath.slash] : []
        base = parts[..<first].reduce(BytePath(start)) { $0.appending($1) }
        self.parts = parts[first...].map { GlobPattern($0) }
    }

    /// Looks for the files.
    mutating func expand() {
        visit(base, places: [0])
        files.sort()
    }

    private mutating func visit(_ folder: BytePath, places: Set<Int>) {
        let places = closure(places)
        let names: [[UInt8]]
        do {
            names = try FolderReader.names(in: folder.bytes.isEmpty ? BytePath(".".utf8) : folder)
        } catch {
            failures.append(FailureReport(error))
            return
        }
        for name in names {
            var (next, nextDeep) = (Set<Int>(), Set<Int>())
            for place in places {
                if parts[place].isAnyDepth {
                    if name.first != UInt8(ascii: ".") { nextDeep.insert(place) }
                } else if parts[place].matches(name) {
                    next.insert(place + 1)
                }
            }
            // A pattern that ends in ** names everything below.
            let isWhole = next.contains(parts.count) || nextDeep.contains(parts.count - 1)
            enter(folder.appending(name), isWhole: isWhole, next: next.filter { $0 < parts.count }, deep: nextDeep)
        }
    }

    private mutating func enter(_ path: BytePath, isWhole: Bool, next: Set<Int>, deep: Set<Int>) {
        guard isWhole || !next.isEmpty || !deep.isEmpty, let facts = FileFacts(path) else { return }
        if facts.kind == .file, isWhole { files.append(path) }
        guard facts.kind == .folder else { return }
        let isLink = FileFacts(path, followingLinks: false)?.kind == .link
        let places = isLink ? next : next.union(deep)
        if !places.isEmpty { visit(path, places: places) }
    }

    /// The places, and those that a `**` of no folder leads to.
    private func closure(_ places: Set<Int>) -> Set<Int> {
        var all = places
        for place in parts.indices where all.contains(place) && parts[place].isAnyDepth && place + 1 < parts.count {
            all.insert(place + 1)
        }
        return all
    }
}
