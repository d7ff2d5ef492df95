import Foundation

/// Whether a folder is in nobody else's hands: what lies in it is believed, and written over.
package struct FolderOwnership: Sendable {
    /// Folders of the superuser count as one's own: he could do anything anyway.
    private static let superuser: UInt32 = 0
    private static let (othersWrite, groupWrites, sticky): (UInt16, UInt16, UInt16) = (0o002, 0o020, 0o1000)
    /// As many as the system follows.
    private static let mostLinks = 40

    /// As whom a user namespace shows all who are not in it, the superuser of the system among them, to whom `/` and
    /// `/home` belong; nil where all are in it.
    package static let outsider: UInt32? = {
        func numbers(_ path: String) -> [UInt32] {
            let text = try? String(contentsOfFile: path, encoding: .utf8)
            return text?.split(whereSeparator: \.isWhitespace).compactMap { UInt32($0) } ?? []
        }
        let map = numbers("/proc/self/uid_map")
        return map.isEmpty || map == [0, 0, .max] ? nil : numbers("/proc/sys/kernel/overflowuid").first
    }()

    private let files: any FileSystem
    private let user: UInt32
    private let outsider: UInt32?

    package init(_ files: any FileSystem, user: UInt32 = geteuid(), outsider: UInt32? = Self.outsider) {
        self.files = files
        self.user = user
        self.outsider = outsider
    }

    /// Whether a file or a folder is this user's, or the superuser's.
    package func isOwn(_ status: FileStatus) -> Bool {
        status.owner.map { $0 == user || $0 == Self.superuser } ?? true
    }

    /// Looks at a folder, at all above it, and at the links on the way. What does not exist is nobody's yet.
    ///
    /// - Throws: `DiskCacheError.foreignFolder` where the folder is another user's or others may write in it, or where one
    ///   above it is another's or lets others replace what lies in it.
    package func check(_ path: String) throws(DiskCacheError) {
        let start = path.hasPrefix("/") ? path : "\(FileManager.default.currentDirectoryPath)/\(path)"
        var (rest, current, links) = (Self.parts(of: start), "", 0)
        while let name = rest.popLast() {
            if name == ".." {
                current = current.lastIndex(of: "/").map { String(current[..<$0]) } ?? ""
                continue
            }
            let next = "\(current)/\(name)"
            guard let status = try? files.status(at: next) else { return }
            guard isOwn(status) || !rest.isEmpty && status.owner == outsider && outsider != nil else {
                throw .foreignFolder("\(next) belongs to another user")
            }
            if status.kind == .other, let target = try? files.linkTarget(at: next) {
                links += 1
                guard links <= Self.mostLinks else { throw .foreignFolder("\(path) is a ring of links") }
                if target.hasPrefix("/") { current = "" }
                rest += Self.parts(of: target)
                continue
            }
            // The call that needs a folder fails by itself where there is none.
            guard status.kind == .directory else { return }
            guard isClosed(status, isLast: rest.isEmpty) else { throw .foreignFolder("others may write in \(next)") }
            current = next
        }
    }

    private func isClosed(_ status: FileStatus, isLast: Bool) -> Bool {
        if isLast {
            // A group that has its user's number is his alone: there the system makes folders that the group may write in.
            let isPrivate = status.group == user && user != Self.superuser
            return status.permissions & (isPrivate ? Self.othersWrite : Self.othersWrite | Self.groupWrites) == 0
        }
        // In a folder such as /tmp nobody else can take a name away.
        return status.permissions & Self.othersWrite == 0 || status.permissions & Self.sticky != 0
    }

    /// The last first.
    private static func parts(of path: String) -> [String] {
        path.split(separator: "/").reversed().map(String.init).filter { $0 != "." }
    }
}
