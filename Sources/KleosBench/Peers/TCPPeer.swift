import KleosSupport

/// A server at a port of the loopback that answers each request with one line.
struct TCPPeer<Language: LoadLanguage>: RunningPeer {
    /// Ends with this value.
    let program: Program
    let port: UInt16
    let language: Language

    /// No more than these are handed over in one measurement: some peers hold them all in memory.
    private static var most: Int { 1_000_000 }

    var id: Int32 { program.id }

    func run(_ shape: Shape, seconds: Double) throws -> LoadResult {
        var language = language
        return try Load(shape, seconds: seconds, limit: Self.most).run(&language) {
            try LoopbackPort.connect(to: port)
        }
    }
}
