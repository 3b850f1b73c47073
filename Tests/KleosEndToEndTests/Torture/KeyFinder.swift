import Dispatch
import KleosClient
import KleosJSON
import KleosModel
import KleosSupport
import KleosTestSupport
import KleosWire

/// Asks for the keys of spooled events, which clients are not told.
struct KeyFinder {
    let name: String
    let path: String
    let ledger: TortureLedger

    /// Asks until the daemon has taken the event in, and notes it down as acknowledged.
    func find(_ id: String, _ event: Submission, _ tag: String) {
        let end = Patience.end
        while DispatchTime.now() < end {
            let starts = ledger.monitor.read(\.starts)
            if let key = key(of: id) {
                return ledger.acknowledge(event, tag: tag, key: key, isDuplicate: true, wasSentBefore: true)
            }
            _ = ledger.monitor.wait(milliseconds: 100) { $0.starts != starts }
        }
        ledger.problem("\(name): \(tag) was spooled and never taken in")
    }

    private func key(of id: String) -> String? {
        var parameters = JSONObject()
        parameters["id"] = .string(id)
        parameters["game"] = .string(TortureGame.id)
        // The daemon may be gone, or not have it yet.
        let answer = try? KleosConnection.open([path]).request(.show, parameters)
        return answer?["event"]?["key"]?.stringValue
    }
}
