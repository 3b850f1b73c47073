/// The database's tables, as numbered steps that are only ever added to.
enum Schema {
    /// "klos" in ASCII; marks the file as an outbox.
    static let applicationID: Int32 = 0x6B6C_6F73

    /// The version that the first step leads to. Those below it were written by kleosd 0.x, which exports what it holds.
    static let firstVersion = 100

    /// The version that the last step leads to.
    static var version: Int { firstVersion + steps.count - 1 }

    /// The first step makes version 100; step n leads from version 99 + n to 100 + n.
    static let steps: [[String]] = [
        [
            OriginRow.table.creation, LaneRow.table.creation, StreamRow.table.creation, EventRow.table.creation,
            ClientIDRow.table.creation, QueueRow.table.creation, DoneRow.table.creation, AttemptRow.table.creation,
            FlightRow.table.creation, NoticeRecord.table.creation, EndpointRow.table.creation,
            CounterRow.table.creation,
            MetaRow.table.creation,
        ].flatMap(\.self)
    ]
}
