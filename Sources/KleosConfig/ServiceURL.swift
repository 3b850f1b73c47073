/// The address of a service: http or https, a host, perhaps a port and a path.
struct ServiceURL: Equatable {
    /// Without a slash at the end.
    let text: String
    let isPlain: Bool
    /// In lower case, brackets of an IPv6 address removed.
    let host: String

    /// Reads an address. What may contain a password, or another secret that does not belong there, is sensitive.
    init(_ text: String) throws(ValueError) {
        guard text.utf8.allSatisfy({ $0 > 0x20 && $0 < 0x7F && $0 != UInt8(ascii: "\\") && $0 != UInt8(ascii: "\"") })
        else {
            throw ValueError(
                message: "an address has only visible ASCII characters; write others in percent form",
                isSensitive: Self.maySayMore(text))
        }
        let isPlain = text.hasPrefix("http://")
        guard isPlain || text.hasPrefix("https://") else {
            throw ValueError(
                message: "expected an address that starts with https:// or http://",
                isSensitive: Self.maySayMore(text))
        }
        let rest = text.dropFirst(isPlain ? 7 : 8)
        let authority = rest.prefix { $0 != "/" && $0 != "?" && $0 != "#" }
        guard !authority.contains("@") else {
            throw ValueError(
                message: "an address must not contain a user or password; use TokenFile=", isSensitive: true)
        }
        guard !rest.contains(where: { $0 == "?" || $0 == "#" }) else {
            throw ValueError(message: "an address must not contain \"?\" or \"#\"", isSensitive: true)
        }
        self.isPlain = isPlain
        host = try Self.host(of: authority)
        var base = Substring(text)
        while base.hasSuffix("/") { base = base.dropLast() }
        self.text = String(base)
    }

    /// Whether the host is this machine by name or by address.
    var isLoopback: Bool {
        if host == "localhost" || host.hasSuffix(".localhost") || host == "::1" { return true }
        let parts = host.split(separator: ".", omittingEmptySubsequences: false)
        return parts.count == 4 && parts[0] == "127" && parts.allSatisfy { UInt8($0) != nil }
    }

    /// Whether a text that is no address may hold a password all the same.
    private static func maySayMore(_ text: String) -> Bool { text.contains { $0 == "@" || $0 == "?" || $0 == "#" } }

    private static func host(of authority: Substring) throws(ValueError) -> String {
        var host = authority
        var port: Substring?
        if authority.hasPrefix("["), let bracket = authority.firstIndex(of: "]") {
            host = authority[authority.index(after: authority.startIndex)..<bracket]
            let rest = authority[authority.index(after: bracket)...]
            port = rest.isEmpty ? nil : rest.hasPrefix(":") ? rest.dropFirst() : ""
        } else if let colon = authority.lastIndex(of: ":") {
            host = authority[..<colon]
            port = authority[authority.index(after: colon)...]
        }
        guard !host.isEmpty, authority.hasPrefix("[") || host.utf8.allSatisfy(\.isOfHostName) else {
            throw ValueError(message: "the address names no valid host")
        }
        if let port, UInt16(port).map({ $0 > 0 }) != true {
            throw ValueError(message: "the address's port is not a number from 1 to 65535")
        }
        return host.lowercased()
    }
}

/// What the address of a service tells about its safety.
package enum ServiceAddress {
    /// Whether `text` is an http or https address of this machine, by name or by number.
    package static func isLoopback(_ text: String) -> Bool {
        (try? ServiceURL(text))?.isLoopback ?? false
    }
}

extension UInt8 {
    fileprivate var isOfHostName: Bool {
        isLetterOrDigit || self == UInt8(ascii: "-") || self == UInt8(ascii: ".") || self == UInt8(ascii: "_")
    }
}
