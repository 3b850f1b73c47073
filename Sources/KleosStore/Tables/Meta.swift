/// What the database remembers of itself.
enum MetaName: String {
    /// What only this database knows.
    case secret
    /// The machine that it belongs to.
    case machine
    /// The machine on which it was found to come from another one.
    case heldOn = "held-on"
    /// The newest event that was there then; kept until somebody says whose the queue is.
    case copiedEvents = "copied-events"
    /// The newest notice that was there then, likewise.
    case copiedNotices = "copied-notices"
    /// When it was put in place from a backup; kept until the next start has held what may have been delivered since.
    case restored
}

extension Connection {
    private static let setMetaSQL = SQL(
        "INSERT INTO meta(name, value) VALUES(?1, ?2) ON CONFLICT DO UPDATE SET value = excluded.value")

    /// Reads what is remembered under `name`. Throws `StoreError`.
    func meta(_ name: MetaName) throws(StoreError) -> String? {
        try find(MetaRow.self, SQLValue(name.rawValue))?.value
    }

    /// Remembers `value` under `name`. Throws `StoreError`.
    func setMeta(_ name: MetaName, _ value: String) throws(StoreError) {
        try run(Self.setMetaSQL, SQLValue(name.rawValue), SQLValue(value))
    }

    /// Forgets what is remembered under `name`. Throws `StoreError`.
    func removeMeta(_ name: MetaName) throws(StoreError) {
        try delete(MetaRow.self, SQLValue(name.rawValue))
    }
}
