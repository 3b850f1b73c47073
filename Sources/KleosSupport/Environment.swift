import Glibc

/// The process's environment variables.
package enum Environment {
    /// The value of `name`; nil where it is not set or empty.
    package static subscript(name: String) -> String? {
        guard let value = getenv(name) else { return nil }
        let text = String(cString: value)
        return text.isEmpty ? nil : text
    }
}
