package import KleosJSON
import KleosModel

/// A file of the spool that was not taken in, and why.
package struct SpoolRejection: Sendable, Hashable {
    /// When it was moved aside, Unix milliseconds.
    package var atMilliseconds: Int64
    /// The user whose file it is.
    package var uid: UInt32
    /// Its name as it was found.
    package var file: String
    /// The word that `submit` would have answered with.
    package var reason: String
    /// The sentence for people.
    package var message: String

    /// Makes a rejection from its parts.
    package init(atMilliseconds: Int64, uid: UInt32, file: String, reason: String, message: String) {
        self.atMilliseconds = atMilliseconds
        self.uid = uid
        self.file = file
        self.reason = reason
        self.message = message
    }

    /// Reads a rejection; nil where it has no user.
    package init?(json: JSONValue) {
        guard let uid = json["uid"]?.int64Value.flatMap(UInt32.init(exactly:)) else { return nil }
        self.uid = uid
        atMilliseconds = json.time("at") ?? 0
        file = json["file"]?.stringValue ?? ""
        reason = json["reason"]?.stringValue ?? ""
        message = json["message"]?.stringValue ?? ""
    }

    /// The rejection as JSON.
    package var json: JSONValue {
        var object = JSONObject()
        object.set(time: atMilliseconds, as: "at")
        object["uid"] = .integer(uid)
        object["file"] = .string(file)
        object["reason"] = .string(reason)
        object["message"] = .string(message)
        return .object(object)
    }
}

/// The spool's part of the answer to `status`.
package struct SpoolStatus: Sendable, Equatable {
    /// The folder.
    package var path: String
    /// Why nothing is taken in from it; nil where all is well.
    package var trouble: String?
    /// Files that wait to be taken in.
    package var waiting: Int
    /// Why they wait, where the asker may know.
    package var waitingReason: String?
    /// Files taken in since the daemon's start, duplicates among them.
    package var takenIn: Int
    /// Files that are kept aside, of the asker; on the control socket of all users.
    package var rejected: Int
    /// The newest of them.
    package var rejections: [SpoolRejection]

    /// Makes a status from its parts.
    package init(
        path: String, trouble: String? = nil, waiting: Int = 0, waitingReason: String? = nil, takenIn: Int = 0,
        rejected: Int = 0, rejections: [SpoolRejection] = []
    ) {
        self.path = path
        self.trouble = trouble
        self.waiting = waiting
        self.waitingReason = waitingReason
        self.takenIn = takenIn
        self.rejected = rejected
        self.rejections = rejections
    }

    /// Reads a status; what is missing is empty.
    package init(json: JSONValue) {
        path = json["path"]?.stringValue ?? ""
        trouble = json["trouble"]?.stringValue
        waiting = Int(clamping: json["waiting"]?.int64Value ?? 0)
        waitingReason = json["waitingReason"]?.stringValue
        takenIn = Int(clamping: json["takenIn"]?.int64Value ?? 0)
        rejected = Int(clamping: json["rejected"]?.int64Value ?? 0)
        rejections = json["rejections"]?.arrayValue?.compactMap(SpoolRejection.init) ?? []
    }

    /// The status as JSON.
    package var json: JSONValue {
        var object = JSONObject()
        object["path"] = .string(path)
        object["trouble"] = trouble.map(JSONValue.string)
        object["waiting"] = .integer(waiting)
        object["waitingReason"] = waitingReason.map(JSONValue.string)
        object["takenIn"] = .integer(takenIn)
        object["rejected"] = .integer(rejected)
        object["rejections"] = .array(rejections.map(\.json))
        return .object(object)
    }
}
