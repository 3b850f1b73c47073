import Glibc

/// A failed call to the operating system: what was tried, on what, and the errno.
package struct SystemError: Error, Equatable, CustomStringConvertible {
    /// What was being done, as a verb with its object: "open /run/kleos/kleos.sock".
    package let operation: String
    /// The errno that the call left.
    package let code: Int32

    /// Makes an error from an operation and an errno, by default the current one.
    package init(_ operation: @autoclosure () -> String, code: Int32? = nil) {
        // Read before the text is put together, which may allocate and so change it.
        self.code = code ?? errno
        self.operation = operation()
    }

    package var description: String {
        "cannot \(operation): \(String(cString: strerror(code)))"
    }
}
