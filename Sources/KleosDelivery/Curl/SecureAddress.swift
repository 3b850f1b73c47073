import KleosConfig

/// What a URL says about the safety of talking to it. Pure.
enum SecureAddress {
    /// Why nothing must be sent to `text`; nil where it may. `allowsInsecure` says whether plain http may leave the
    /// machine.
    static func problem(with text: String, allowsInsecure: Bool) -> String? {
        let url = text.lowercased()
        if url.hasPrefix("https://") || allowsInsecure && url.hasPrefix("http://") { return nil }
        guard url.hasPrefix("http://") else { return "the URL is neither https nor http: \(text)" }
        if ServiceAddress.isLoopback(url) { return nil }
        return "plain http to another machine is not allowed; use https, or set AllowInsecure=yes"
    }

    /// Scheme, host and port, as the URL spells them.
    static func origin(of url: String) -> String {
        let parts = url.split(separator: "/", maxSplits: 2, omittingEmptySubsequences: false)
        return parts.count < 3 ? url : "\(parts[0])//\(parts[2].prefix { $0 != "/" })"
    }
}
