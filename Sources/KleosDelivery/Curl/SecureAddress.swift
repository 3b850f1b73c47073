/// What a URL says about the safety of talking to it. Pure.
enum SecureAddress {
    /// Why `request` must not be sent; nil where it may.
    static func problem(with request: TransportRequest) -> String? {
        let url = request.url.lowercased()
        if url.hasPrefix("https://") || request.allowsInsecure && url.hasPrefix("http://") { return nil }
        guard url.hasPrefix("http://") else { return "the URL is neither https nor http: \(request.url)" }
        if isLoopback(url) { return nil }
        return "plain http to another machine is not allowed; use https, or set AllowInsecure=yes"
    }

    /// Scheme, host and port, as the URL spells them.
    static func origin(of url: String) -> String {
        let parts = url.split(separator: "/", maxSplits: 2, omittingEmptySubsequences: false)
        return parts.count < 3 ? url : "\(parts[0])//\(parts[2].prefix { $0 != "/" })"
    }

    /// Whether the URL's host is this machine by name or number.
    static func isLoopback(_ url: String) -> Bool {
        guard let start = url.range(of: "://")?.upperBound else { return false }
        let authority = url[start...].prefix { $0 != "/" && $0 != "?" && $0 != "#" }
        let host = authority.split(separator: "@", omittingEmptySubsequences: false).last ?? ""
        if host.hasPrefix("[") { return host.prefix { $0 != "]" } == "[::1" }
        let name = host.prefix { $0 != ":" }.lowercased()
        let numbers = name.split(separator: ".", omittingEmptySubsequences: false)
        let isNumeric = numbers.count == 4 && numbers.allSatisfy { UInt8($0) != nil }
        return name == "localhost" || isNumeric && numbers[0] == "127"
    }
}
