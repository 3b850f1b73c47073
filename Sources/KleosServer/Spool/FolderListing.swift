import Glibc
import KleosSupport

/// A listing of a folder that goes on where it stopped, for folders of any size. Lives on one queue.
final class FolderListing {
    private let stream: OpaquePointer

    /// Begins at the folder's first name. Throws `SystemError`.
    init(_ path: String) throws(SystemError) {
        guard let stream = opendir(path) else { throw SystemError("list \(path)") }
        self.stream = stream
    }

    deinit {
        closedir(stream)
    }

    /// The next names, at most `limit`, each with its zero byte; "." and ".." are left out. Empty at the end.
    func next(_ limit: Int) -> [[CChar]] {
        var names: [[CChar]] = []
        while names.count < limit, let entry = readdir(stream) {
            // Sound: d_name ends with a zero byte within its 256, and is copied before the next readdir.
            let name = withUnsafeBytes(of: &entry.pointee.d_name) { bytes in
                bytes.prefix { $0 != 0 }.map { CChar(bitPattern: $0) } + [0]
            }
            if name != Self.itself, name != Self.above { names.append(name) }
        }
        return names
    }

    private static let itself: [CChar] = [46, 0]
    private static let above: [CChar] = [46, 46, 0]
}
