import Foundation

/// The check that a folder is not under the control of another user, since its contents are trusted and overwritten.
package struct FolderOwnership: Sendable {
    /// Folders of the superuser are treated like the user's own: the superuser has access to everything anyway.
    private static let superuser: UInt32 = 0
    private static let (othersWrite, groupWrites, sticky): (UInt16, UInt16, UInt16) = (0o002, 0o020, 0o1000)
    /// The maximum number of links to follow, as in the system itself.
    private static let maximumLinks = 40

    /// The user ID that stands for all users outside the current user namespace, including the system's superuser, who owns
    /// `/` and `/home`; nil if all users are in the namespace.
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

    /// Returns whether a file or a folder belongs to this user or the superuser.
    package func isOwn(_ status: FileStatus) -> Bool {
        status.owner.map { $0 == user || $0 == Self.superuser } ?? true
    }

    /// Checks a folder, all folders above it, and the links on the way. A folder that does not exist belongs to no user
    /// yet.
    ///
    /// - Throws: `DiskCacheError.foreignFolder` if the folder belongs to another user or is writable for others, or if a
    ///   folder above it belongs to another user or lets others replace its contents.
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
                guard links <= Self.maximumLinks else { throw .foreignFolder("\(path) is a ring of links") }
                if target.hasPrefix("/") { current = "" }
                rest += Self.parts(of: target)
                continue
            }
            // If this is not a folder, the call that needs one fails by itself.
            guard status.kind == .directory else { return }
            guard isClosed(status, isLast: rest.isEmpty) else { throw .foreignFolder("others may write in \(next)") }
            current = next
        }
    }

    private func isClosed(_ status: FileStatus, isLast: Bool) -> Bool {
        if isLast {
            // A group with the number of its user has that user as its only member: on such systems new folders are
            // writable for the group.
            let isPrivate = status.group == user && user != Self.superuser
            return status.permissions & (isPrivate ? Self.othersWrite : Self.othersWrite | Self.groupWrites) == 0
        }
        // In a sticky folder such as /tmp, other users cannot remove or rename the entry.
        return status.permissions & Self.othersWrite == 0 || status.permissions & Self.sticky != 0
    }

    /// Returns the components, the last one first.
    private static func parts(of path: String) -> [String] {
        path.split(separator: "/").reversed().map(String.init).filter { $0 != "." }
    }
}
