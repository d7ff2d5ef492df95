import Glibc

/// The folders of the control groups that this process is in, of version 2 and of version 1.
struct ControlGroups: Sendable {
    /// A mounted hierarchy.
    struct Mount: Sendable, Equatable {
        /// The folder where the hierarchy is mounted.
        var point: String
        /// The group that is mounted there; "/" is the root of the hierarchy.
        var root: String
        /// The names of the controllers for version 1; "" for version 2.
        var controllers: [String]
    }

    private let prefix: String
    private let mounts: [Mount]
    private let membership: String

    /// - Parameter root: a prefix of every path.
    init(root: String) {
        prefix = root
        mounts = SystemText.read(root + "/proc/self/mountinfo").map { Self.mounts(in: $0) } ?? []
        membership = SystemText.read(root + "/proc/self/cgroup") ?? ""
    }

    /// Returns the folders of the process's own group for a controller ("" is version 2) and of its ancestors, as far as they
    /// are visible.
    func folders(controller: String) -> [String] {
        let path = Self.path(of: controller, in: membership) ?? "/"
        let candidates = mounts.filter { $0.controllers.contains(controller) }
        let mount =
            candidates.first { Self.path(path, below: $0.root) != nil } ?? candidates.first
            ?? Mount(
                point: controller.isEmpty ? "/sys/fs/cgroup" : "/sys/fs/cgroup/\(controller)", root: "/",
                controllers: [])
        // If the group is outside of the mounted part, the visible part is all that can be read.
        return Self.ancestors(of: Self.path(path, below: mount.root) ?? "").map { prefix + mount.point + $0 }
    }

    /// Returns a path and its ancestors: "/a/b", "/a" and "" for "/a/b".
    static func ancestors(of path: String) -> [String] {
        let names = path.split(separator: "/")
        guard !names.contains(".."), names.count <= 256 else { return [""] }
        return (0...names.count).reversed().map { names[..<$0].map { "/" + $0 }.joined() }
    }

    /// Returns the rest of a path below a folder; nil if the path is elsewhere.
    static func path(_ path: String, below root: String) -> String? {
        let (path, root) = (path == "/" ? "" : path, root == "/" ? "" : root)
        guard path.hasPrefix(root) else { return nil }
        let rest = path.dropFirst(root.count)
        return rest.isEmpty || rest.first == "/" ? String(rest) : nil
    }

    // MARK: Parsing

    /// Parses the group for a controller from the text of /proc/self/cgroup.
    static func path(of controller: String, in text: String) -> String? {
        for line in text.split(separator: "\n") {
            let fields = line.split(separator: ":", maxSplits: 2, omittingEmptySubsequences: false)
            guard fields.count == 3, fields[2].hasPrefix("/"),
                fields[1].split(separator: ",", omittingEmptySubsequences: false).contains(Substring(controller))
            else { continue }
            return String(fields[2])
        }
        return nil
    }

    /// Parses the mounted hierarchies from the text of /proc/self/mountinfo.
    static func mounts(in text: String) -> [Mount] {
        text.split(separator: "\n").compactMap { line in
            let fields = line.split(separator: " ")
            guard let dash = fields.firstIndex(of: "-"), dash >= 6, fields.count > dash + 3 else { return nil }
            let (root, point) = (unescaped(fields[3]), unescaped(fields[4]))
            switch fields[dash + 1] {
            case "cgroup2":
                return Mount(point: point, root: root, controllers: [""])
            case "cgroup":
                return Mount(
                    point: point, root: root, controllers: fields[dash + 3].split(separator: ",").map { String($0) })
            default:
                return nil
            }
        }
    }

    /// Decodes the kernel's escapes, such as "\040" for a space.
    private static func unescaped(_ field: Substring) -> String {
        guard field.contains("\\") else { return String(field) }
        var bytes: [UInt8] = []
        var rest = Array(field.utf8)[...]
        while let byte = rest.popFirst() {
            if byte == UInt8(ascii: "\\"), rest.count >= 3,
                let code = UInt8(String(decoding: rest.prefix(3), as: UTF8.self), radix: 8)
            {
                bytes.append(code)
                rest = rest.dropFirst(3)
            } else {
                bytes.append(byte)
            }
        }
        return String(decoding: bytes, as: UTF8.self)
    }
}

/// A reader of small files of /proc and /sys.
package enum SystemText {
    /// Returns the text of a file up to a limit in bytes; nil if it cannot be read.
    ///
    /// Implemented with system calls, since Foundation's reader leaks its buffer if a file reports no length, as those of /proc
    /// do.
    package static func read(_ path: String, limit: Int = 1 << 20) -> String? {
        let file = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK)
        guard file >= 0 else { return nil }
        defer { close(file) }
        var bytes = [UInt8](repeating: 0, count: 4096)
        var filled = 0
        while filled < limit {
            if filled == bytes.count { bytes.append(contentsOf: [UInt8](repeating: 0, count: bytes.count)) }
            let count = bytes.withUnsafeMutableBytes { buffer in
                Glibc.read(file, buffer.baseAddress.map { $0 + filled }, buffer.count - filled)
            }
            if count < 0, errno == EINTR { continue }
            guard count >= 0 else { return nil }
            if count == 0 { break }
            filled += count
        }
        return String(decoding: bytes[..<filled], as: UTF8.self)
    }

    /// Returns the number in a file that holds a single one; nil otherwise.
    static func number(_ path: String) -> Int? {
        read(path, limit: 64).flatMap { number(in: $0) }
    }

    static func number(in text: String) -> Int? {
        let words = text.split(whereSeparator: \.isWhitespace)
        return words.count == 1 ? Int(words[0]) : nil
    }
}
