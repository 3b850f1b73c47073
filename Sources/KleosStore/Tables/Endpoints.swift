import KleosModel

/// The endpoints that the database knows, and their lanes.
final class Endpoints {
    private let database: Connection
    private var ids: [String: Int64] = [:]
    private var names: [Int64: String] = [:]
    private var lanes: [LanePlace: Int64] = [:]

    private struct LanePlace: Hashable {
        var endpoint: Int64
        var game: ExactKey
        var uid: UInt32
    }

    init(_ database: Connection) { self.database = database }

    private static let idSQL = SQL("SELECT id FROM endpoints WHERE name = ?1")
    private static let insertSQL = SQL("INSERT INTO endpoints(name) VALUES(?1)")
    private static let laneSQL = SQL(
        "SELECT id FROM lanes WHERE endpoint = ?1 AND game = ?2 AND uid = ?3 AND player IS NULL")
    private static let insertLaneSQL = SQL(
        "INSERT INTO lanes(endpoint, game, uid, condition, failures, rounds) VALUES(?1, ?2, ?3, 0, 0, 0)")
    private static let lanesSQL = SQL("SELECT id FROM lanes WHERE endpoint = ?1 ORDER BY id")
    private static let allSQL = SQL("SELECT \(EndpointRow.table.list) FROM endpoints p ORDER BY p.name, p.id")

    /// The endpoint's row number, or nil where it never had a delivery or a record. Throws `StoreError`.
    func id(_ name: String) throws(StoreError) -> Int64? {
        if let id = ids[name] { return id }
        guard let id = try database.integer(Self.idSQL, SQLValue(name)) else { return nil }
        remember(id, name)
        return id
    }

    /// The endpoint's row number; the row is made where it is missing. Throws `StoreError`.
    func makeID(_ name: String) throws(StoreError) -> Int64 {
        if let id = try id(name) { return id }
        try database.run(Self.insertSQL, SQLValue(name))
        let id = database.lastRowID
        remember(id, name)
        return id
    }

    /// The endpoint's name. Throws `StoreError`.
    func name(_ id: Int64) throws(StoreError) -> String {
        if let name = names[id] { return name }
        guard let row = try database.find(EndpointRow.self, SQLValue(id)) else {
            throw StoreError(
                .damaged, operation: "name an endpoint",
                message: "a delivery points to endpoint \(id), which is missing")
        }
        remember(id, row.name)
        return row.name
    }

    private func remember(_ id: Int64, _ name: String) {
        ids[name] = id
        names[id] = name
    }

    /// All endpoints in the order of their names. Throws `StoreError`.
    func all() throws(StoreError) -> [EndpointRow] {
        try database.rows(Self.allSQL) { EndpointRow.table.read($0) }
    }

    /// Reads an endpoint; nil where there is none. Throws `StoreError`.
    func row(_ name: String) throws(StoreError) -> EndpointRow? {
        guard let id = try id(name) else { return nil }
        return try database.find(EndpointRow.self, SQLValue(id))
    }

    /// The lane of a user's game at an endpoint; made where it is missing. Throws `StoreError`.
    func makeLane(endpoint: Int64, game: String, uid: UInt32) throws(StoreError) -> Int64 {
        let place = LanePlace(endpoint: endpoint, game: ExactKey(game), uid: uid)
        if let lane = lanes[place] { return lane }
        let values = [SQLValue(endpoint), SQLValue(game), SQLValue(uid)]
        let found = try database.first(Self.laneSQL, values: values) { $0.integer(0) }
        if found == nil { try database.run(Self.insertLaneSQL, values: values) }
        let lane = found ?? database.lastRowID
        if lanes.count >= 1_024 { lanes.removeAll(keepingCapacity: true) }
        lanes[place] = lane
        return lane
    }

    /// The lanes of an endpoint. Throws `StoreError`.
    func lanes(of endpoint: Int64) throws(StoreError) -> [Int64] {
        try database.rows(Self.lanesSQL, [SQLValue(endpoint)]) { $0.integer(0) }
    }

    /// Forgets what was read; called after ROLLBACK.
    func forget() {
        ids.removeAll()
        names.removeAll()
        lanes.removeAll()
    }
}
