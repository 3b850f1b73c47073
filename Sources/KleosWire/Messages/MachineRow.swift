import KleosJSON

/// What `status` says of the machine that the daemon runs on.
package struct MachineRow: Sendable, Equatable {
    /// What its clock says; nil where a daemon does not tell.
    package var timeMilliseconds: Int64?
    /// Whether a time source disciplines the clock.
    package var isClockSynchronized: Bool
    /// The latest moment that the queue remembers; a clock that says less is behind.
    package var latestRecordedMilliseconds: Int64?
    /// Whether there is an address other than the machine's own.
    package var hasNetwork: Bool
    /// Whether the queue came from another machine and waits for `adopt` or `reset`.
    package var isClone: Bool
    /// Whether the machine has an identity by which a copied queue would be noticed.
    package var isKnown = true

    /// Makes a row.
    package init(
        timeMilliseconds: Int64? = nil, isClockSynchronized: Bool = true, latestRecordedMilliseconds: Int64? = nil,
        hasNetwork: Bool = true, isClone: Bool = false
    ) {
        self.timeMilliseconds = timeMilliseconds
        self.isClockSynchronized = isClockSynchronized
        self.latestRecordedMilliseconds = latestRecordedMilliseconds
        self.hasNetwork = hasNetwork
        self.isClone = isClone
    }

    /// Reads a row; what is missing is well.
    init(json: JSONValue?) {
        timeMilliseconds = json?.time("time")
        isClockSynchronized = json?["clockSynchronized"]?.boolValue ?? true
        latestRecordedMilliseconds = json?.time("latestRecordedAt")
        hasNetwork = json?["network"]?.boolValue ?? true
        isClone = json?["clone"]?.boolValue ?? false
        isKnown = json?["identified"]?.boolValue ?? true
    }

    /// The row as JSON.
    var json: JSONValue {
        var object = JSONObject()
        object.set(time: timeMilliseconds, as: "time")
        object["clockSynchronized"] = .bool(isClockSynchronized)
        object.set(time: latestRecordedMilliseconds, as: "latestRecordedAt")
        object["network"] = .bool(hasNetwork)
        object["clone"] = .bool(isClone)
        object["identified"] = .bool(isKnown)
        return .object(object)
    }
}
