import KleosSupport

/// Another program that keeps what it is given, measured with the same client in the same run.
protocol Peer {
    /// Its name, for people.
    var name: String { get }
    /// Starts it with an empty store in `folder`. Throws `BenchFailure` or `SystemError`.
    func start(folder: String) throws -> any RunningPeer
}

/// A peer that runs; it ends with the last reference.
protocol RunningPeer {
    /// Its process; children of it are not counted.
    var id: Int32 { get }
    /// Hands it small records in `shape` for `seconds`, each on disk before it is answered. Throws `BenchFailure` or
    /// `SystemError`.
    func run(_ shape: Shape, seconds: Double) throws -> LoadResult
}

/// The peers that are installed.
enum Peers {
    /// Those that are there; the others are named in `ledger`.
    static func installed(_ ledger: inout Ledger) -> [any Peer] {
        var peers: [any Peer] = []
        if let server = ProgramPath.installed("redis-server") {
            peers.append(RedisPeer(server: server))
        } else {
            ledger.skip("redis-server: it is not installed")
        }
        if let server = ProgramPath.installed("beanstalkd") {
            peers.append(BeanstalkPeer(server: server))
        } else {
            ledger.skip("beanstalkd: it is not installed")
        }
        if let peer = PostgresPeer() {
            peers.append(peer)
        } else {
            ledger.skip("PostgreSQL: initdb, postgres or pgbench is not installed")
        }
        return peers
    }
}

extension BenchRun {
    /// Measures one peer in every shape, in turns with D; one that fails is named, with what it said.
    func measure(_ peer: any Peer) {
        do {
            try measureShapes(of: peer)
        } catch {
            ledger.skip("\(peer.name): \(error)")
        }
    }

    private func measureShapes(of peer: any Peer) throws {
        let place = "\(folder)/peer"
        defer { BenchFolder.remove(place) }
        try Folder.make(place)
        let running = try peer.start(folder: place)
        for shape in Shape.all {
            let subject = "\(peer.name) \(shape)"
            let (_, mebibytes) = try MemoryWatch.during(running.id) {
                try besideSync(subject, seconds: options.seconds) { try running.run(shape, seconds: $0) }
            }
            ledger.add(subject, .memoryMebibytes, mebibytes)
        }
    }
}
