package import KleosJSON
import KleosModel

/// One request to the contract's paths, as it came and as it ended.
package struct RequestRecord: Sendable {
    /// Counts from 1.
    package var number: Int
    /// When it came, in Unix milliseconds.
    package var atMilliseconds: Int64
    /// The request itself, headers and body included.
    package var request: HTTPRequest
    /// The idempotency key; nil where none could be read.
    package var key: String?
    package var game: String?
    /// The leaderboard or achievement.
    package var item: String?
    package var player: String?
    /// Value or progress, as text.
    package var value: String?
    /// The answer's status; nil where no answer was sent.
    package var status: Int?
    /// The error's code; nil where there was none.
    package var code: String?
    /// The fault that was applied; nil for none.
    package var fault: String?
    /// Whether the answer was the stored one of an earlier request with the same key.
    package var isReplay = false
    /// Whether the submission took effect now.
    package var tookEffect = false

    /// The record for people and programs; no header is in it, for those may hold secrets.
    package var json: JSONValue {
        var object = JSONObject()
        object["number"] = .integer(number)
        object["at"] = .string(Timestamp.text(milliseconds: atMilliseconds))
        object["method"] = .string(request.method)
        object["path"] = .string(request.path)
        object["key"] = key.map { .string($0) } ?? .null
        object["game"] = game.map { .string($0) } ?? .null
        object["item"] = item.map { .string($0) } ?? .null
        object["player"] = player.map { .string($0) } ?? .null
        object["value"] = value.map { .string($0) } ?? .null
        object["status"] = status.map { .integer($0) } ?? .null
        object["code"] = code.map { .string($0) } ?? .null
        object["fault"] = fault.map { .string($0) } ?? .null
        object["replayed"] = .bool(isReplay)
        object["tookEffect"] = .bool(tookEffect)
        return .object(object)
    }
}

/// The latest requests, and counts of all.
struct RequestLog {
    /// More records than this are not kept.
    let capacity: Int
    private var ring: [RequestRecord] = []
    private var oldest = 0
    private(set) var total = 0
    private(set) var requestsByKey: [String: Int] = [:]
    private(set) var answersByStatus: [Int: Int] = [:]
    private(set) var unansweredCount = 0
    private(set) var replayCount = 0

    init(capacity: Int) {
        self.capacity = capacity
    }

    /// The records that are kept, oldest first.
    var records: [RequestRecord] { Array(ring[oldest...] + ring[..<oldest]) }

    mutating func add(_ record: RequestRecord) {
        total += 1
        if let key = record.key { requestsByKey[key, default: 0] += 1 }
        if let status = record.status { answersByStatus[status, default: 0] += 1 } else { unansweredCount += 1 }
        if record.isReplay { replayCount += 1 }
        if ring.count < capacity {
            ring.append(record)
        } else {
            ring[oldest] = record
            oldest = (oldest + 1) % capacity
        }
    }

    /// The newest records, newest first.
    func latest(_ limit: Int) -> [RequestRecord] { records.suffix(max(0, limit)).reversed() }
}
