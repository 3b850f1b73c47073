import KleosSupport

/// The tree of control groups, whose folders list the processes in them, those that /proc hides included.
struct ControlGroups {
    /// Where it is mounted.
    let root: String

    /// Folders looked into for one process, at some 20 µs each, while other clients wait; machines have some hundreds.
    private static let maximumFolders = 1_024

    /// The path below the root of the group that `pid` is in, looked for first where the processes of `uid` and
    /// services are; nil where it is not found.
    func group(of pid: Int32, uid: UInt32) -> String? {
        var left = Self.maximumFolders
        let first = ["/user.slice/user-\(uid).slice", "/system.slice"]
        for path in first {
            if let found = find(String(pid), in: path, except: [], &left) { return found }
        }
        return find(String(pid), in: "", except: first, &left)
    }

    private func find(_ pid: String, in path: String, except seen: [String], _ left: inout Int) -> String? {
        guard left > 0, !seen.contains(path) else { return nil }
        left -= 1
        // Groups come and go, and some list threads only: what cannot be read has no process to find.
        let processes = try? SmallFile.readText(at: "\(root)\(path)/cgroup.procs", limitBytes: 1 << 20)
        if processes?.split(separator: "\n").contains(pid[...]) ?? false { return path }
        let names = (try? Folder.names(in: "\(root)\(path)")) ?? []
        for name in names where Self.mayBeGroup(name) {
            if let found = find(pid, in: "\(path)/\(name)", except: seen, &left) { return found }
        }
        return nil
    }

    /// The files of a group begin with the name of what controls it, a dot included; so do units, which end in their
    /// kind.
    private static func mayBeGroup(_ name: String) -> Bool {
        let files = ["cgroup.", "cpu.", "cpuset.", "memory.", "io.", "pids.", "hugetlb.", "rdma.", "misc.", "irq."]
        return !files.contains { name.hasPrefix($0) } || name.hasSuffix(".service") || name.hasSuffix(".scope")
            || name.hasSuffix(".slice")
    }
}
