import Dispatch
import KleosClient
import KleosJSON
import Synchronization

/// Counts what was handed over and what was acknowledged, and prints acknowledgements.
///
/// Completions come on the client's queue while the game goes on playing on its own thread.
final class SubmissionLedger: Sendable {
    /// What became of the submissions so far.
    struct Tally: Sendable {
        var submitted = 0
        var acknowledged = 0
        var superseded = 0
        var refusals: [String] = []
    }

    private let tally = Mutex(Tally())
    private let room: DispatchSemaphore
    private let printer: (@Sendable (String) -> Void)?

    /// At most `window` submissions are unanswered at once; `printer` gets a line of JSON for each acknowledgement.
    init(window: Int, printer: (@Sendable (String) -> Void)?) {
        room = DispatchSemaphore(value: window)
        self.printer = printer
    }

    /// What became of the submissions so far.
    var current: Tally { tally.withLock { $0 } }

    /// Waits for room and counts a submission; the result goes to the returned closure. `row` says what it was.
    func begin(_ row: JSONObject) -> @Sendable (Result<SubmitReceipt, KleosError>) -> Void {
        room.wait()
        tally.withLock { $0.submitted += 1 }
        return { [self] result in
            finish(row, result)
            room.signal()
        }
    }

    private func finish(_ row: JSONObject, _ result: Result<SubmitReceipt, KleosError>) {
        switch result {
        case .success(let receipt):
            tally.withLock { tally in
                tally.acknowledged += 1
                tally.superseded += receipt.isSuperseded ? 1 : 0
            }
            var row = row
            row["id"] = .string(receipt.id)
            row["key"] = receipt.key.map(JSONValue.string)
            if receipt.state == .spooled { row["spooled"] = true }
            row["superseded"] = .bool(receipt.isSuperseded)
            printer?(JSONValue.object(row).serialized)
        case .failure(let error): tally.withLock { $0.refusals.append(error.description) }
        }
    }
}
