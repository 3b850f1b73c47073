import Glibc

/// The programs of this package as they were built beside the running tests.
package enum BuiltPrograms {
    /// The folder of the built programs.
    package static var folder: String {
        let candidates = CommandLine.arguments.filter { $0.hasSuffix(".xctest") } + [executablePath]
        let path = candidates.first ?? "."
        return path.lastIndex(of: "/").map { String(path[..<$0]) } ?? "."
    }

    /// The path of the program `name`.
    package static func path(_ name: String) -> String { "\(folder)/\(name)" }

    private static var executablePath: String {
        guard let resolved = realpath("/proc/self/exe", nil) else { return "." }
        defer { free(resolved) }
        return String(cString: resolved)
    }
}
