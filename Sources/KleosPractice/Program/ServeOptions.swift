import KleosJSON
import KleosSupport

/// What the command line says about serving.
struct ServeOptions {
    var server = PracticeServer.Options()
    var portFile: String?
    var exitsWithParent = false

    /// Where the server listens unless told otherwise.
    static let standardAddress = TCPAddress(host: "127.0.0.1", port: 8484)

    /// The options for the help.
    static let rows = [
        ProgramUsage.Row("--listen ADDRESS:PORT", "where to listen (\(standardAddress)); port 0 picks a free one"),
        ProgramUsage.Row("--allow-remote", "allow an address that other machines can reach"),
        ProgramUsage.Row("--port-file FILE", "write the port into FILE when ready"),
        ProgramUsage.Row("--store DIR", "keep what was accepted in DIR; without it, in memory only"),
        ProgramUsage.Row("--token TOKEN", #"require "Authorization: Bearer TOKEN""#),
        ProgramUsage.Row("--faults FILE", "read faults from a JSON file, in the form of GET /faults"),
        ProgramUsage.Row("--exit-with-parent", "end when the parent process ends"),
        ProgramUsage.Row("--help", "print this text"),
        ProgramUsage.Row("--version", "print the version"),
    ]

    /// Reads the arguments. Throws `UsageError`, `FaultsError`, `JSONError`, or `SystemError` for a file of faults.
    init(_ arguments: [String]) throws {
        var rest = arguments[...]
        var flags = FaultFlags()
        var allowsRemote = false
        server.address = Self.standardAddress
        while let argument = rest.first {
            if try flags.take(&rest) { continue }
            rest.removeFirst()
            let parts = argument.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false).map(String.init)
            func value() throws(UsageError) -> String {
                guard let value = parts.count == 2 ? parts[1] : rest.popFirst() else {
                    throw UsageError(message: "\(parts[0]) needs a value")
                }
                return value
            }
            switch parts[0] {
            case "--listen":
                let text = try value()
                guard let address = TCPAddress(text) else {
                    throw UsageError(message: "--listen needs ADDRESS:PORT with a numeric address, not \(text)")
                }
                server.address = address
            case "--allow-remote": allowsRemote = true
            case "--store": server.storeFolder = try value()
            case "--token": server.token = try value()
            case "--port-file": portFile = try value()
            case "--exit-with-parent": exitsWithParent = true
            case "--faults":
                let path = try value()
                try server.faults.merge(JSONParser.parse(SmallFile.read(at: path)))
            default: throw UsageError(message: "there is no option \(argument)")
            }
        }
        guard allowsRemote || server.address.isLoopback else {
            throw UsageError(
                message: "\(server.address) can be reached from elsewhere; add --allow-remote to want that")
        }
        if flags.clears { server.faults = Faults() }
        try server.faults.merge(.object(flags.members))
    }
}
