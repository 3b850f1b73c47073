import KleosJSON
import KleosWire

/// The names of the parameters of each method but `submit`, whose reader keeps track itself.
enum KnownParameters {
    private static let criteria: Set<String> = ["states", "game", "player", "endpoint", "kind", "text"]

    static func names(of method: Method) -> Set<String> {
        switch method {
        case .hello, .status, .reload, .config, .backup, .adopt, .reset, .submit: []
        case .list: criteria.union(["limit", "cursor"])
        case .show: ["key", "id", "game"]
        case .standing: ["game", "player", "leaderboard", "achievement", "endpoint"]
        case .notices: ["game", "player", "after", "pending", "limit", "locale"]
        case .claimNotices: ["route", "game", "limit", "locale"]
        case .acknowledgeNotices: ["route", "numbers"]
        case .openNotice: ["number", "activationToken"]
        case .subscribe: ["topics", "game", "player"]
        case .presence: ["game", "player", "state"]
        case .retry, .hold, .release, .discard: criteria.union(["keys", "all"])
        case .salvage: ["name"]
        case .register: ["catalog"]
        case .forget: ["player", "game"]
        case .exportEvents: ["cursor", "hold"]
        case .importEvents: ["lines", "held"]
        case .pause, .resume, .flush: ["endpoint", "reason"]
        }
    }

    /// The parameters of `request` that the method does not know, in the order in which they came.
    static func ignored(by method: Method, in request: RPCRequest) -> [String] {
        guard !request.parameters.isEmpty else { return [] }
        let known = names(of: method)
        return request.parameters.names.filter { !known.contains($0) }
    }
}
