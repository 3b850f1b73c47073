import KleosConfig

/// What a URL says about the safety of talking to it. Pure.
enum SecureAddress {
    /// Why `request` must not be sent; nil where it may.
    static func problem(with request: TransportRequest) -> String? {
        let url = request.url.lowercased()
        if url.hasPrefix("https://") || request.allowsInsecure && url.hasPrefix("http://") { return nil }
        guard url.hasPrefix("http://") else { return "the URL is neither https nor http: \(request.url)" }
        if ServiceAddress.isLoopback(url) { return nil }
        return "plain http to another machine is not allowed; use https, or set AllowInsecure=yes"
    }

    /// Scheme, host and port, as the URL spells them.
    static func origin(of url: String) -> String {
        let parts = url.split(separator: "/", maxSplits: 2, omittingEmptySubsequences: false)
        return parts.count < 3 ? url : "\(parts[0])//\(parts[2].prefix { $0 != "/" })"
    }
}
