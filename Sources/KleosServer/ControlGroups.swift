import KleosSupport

/// The tree of control groups, whose folders list the processes in them, those that /proc hides included.
struct ControlGroups {
    /// Where it is mounted.
    let root: String

    /// Folders looked into for one process; machines have some hundreds.
    private static let maximumFolders = 4_096

    /// The path below the root of the group that `pid` is in, looked for among the groups of `uid` first; nil where it
    /// is not found.
    func group(of pid: Int32, uid: UInt32) -> String? {
        var left = Self.maximumFolders
        let own = "/user.slice/user-\(uid).slice"
        return find(String(pid), in: own, except: nil, &left) ?? find(String(pid), in: "", except: own, &left)
    }

    private func find(_ pid: String, in path: String, except seen: String?, _ left: inout Int) -> String? {
        guard left > 0, path != seen else { return nil }
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
