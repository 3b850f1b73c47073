import KleosModel

/// What is remembered of an endpoint.
struct EndpointRow: Record {
    var number: Int64 = 0
    var name = ""
    /// The settings with which it last confirmed something.
    var fingerprint: String?
    var lastSuccess: Int64?
    var pauseReason: String?
    var pausedSince: Int64?

    static let table = Table<EndpointRow>(
        "endpoints", alias: "p",
        indexes: ["CREATE UNIQUE INDEX endpoints_name ON endpoints(name)"])

    mutating func visit(_ columns: inout some ColumnVisitor) {
        columns.key("id", &number, check: "id BETWEEN 1 AND \(DeliveryNumber.maximumEndpoint)")
        columns.column("name", &name)
        columns.column("fingerprint", &fingerprint)
        columns.column("last_success", &lastSuccess)
        columns.column("pause_reason", &pauseReason)
        columns.column("paused_since", &pausedSince)
    }
}

/// A number that is kept up to date with every change, so that asking costs nothing.
struct CounterRow: Record {
    var kind = CounterKey.Kind.deliveries
    var first: Int64 = 0
    var second: Int64 = 0
    var count: Int64 = 0

    static let table = Table<CounterRow>("counters", alias: "c")

    mutating func visit(_ columns: inout some ColumnVisitor) {
        columns.key("kind", &kind)
        columns.key("a", &first)
        columns.key("b", &second)
        columns.column("count", &count, check: "count >= 0")
    }
}

/// What the database remembers of itself.
struct MetaRow: Record {
    var name = ""
    var value = ""

    static let table = Table<MetaRow>("meta", alias: "m")

    mutating func visit(_ columns: inout some ColumnVisitor) {
        columns.key("name", &name)
        columns.column("value", &value)
    }
}

/// A delivery's number: its event's and its endpoint's in one, so that either leads to the other without an index.
enum DeliveryNumber {
    /// Endpoints are numbered from 1 in the order in which they are first named.
    static let maximumEndpoint: Int64 = 4_095

    /// The number of an event's delivery to an endpoint.
    static func make(event: Int64, endpoint: Int64) -> Int64 { event << 12 | endpoint }

    /// All numbers that an event's deliveries may have.
    static func range(event: Int64) -> ClosedRange<Int64> { event << 12...(event << 12 | maximumEndpoint) }
}

extension DeliveryID {
    var event: Int64 { number >> 12 }
    var endpoint: Int64 { number & DeliveryNumber.maximumEndpoint }
}
