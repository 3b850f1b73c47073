import Glibc

/// The process's environment variables.
package enum Environment {
    /// The value of `name`; nil where it is not set or empty.
    package static subscript(name: String) -> String? {
        guard let value = getenv(name) else { return nil }
        let text = String(cString: value)
        return text.isEmpty ? nil : text
    }

    /// All variables with `extra`, which goes before what is set; an empty value in it removes a variable.
    package static func adding(_ extra: [String: String]) -> [String: String] {
        var variables: [String: String] = [:]
        var entry = environ
        while let text = entry.pointee {
            let parts = String(cString: text).split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
            if parts.count == 2, !parts[0].isEmpty { variables[String(parts[0])] = String(parts[1]) }
            entry += 1
        }
        for (name, value) in extra { variables[name] = value.isEmpty ? nil : value }
        return variables
    }
}
