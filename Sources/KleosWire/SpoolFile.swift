import KleosJSON
package import KleosModel

/// A file in the spool: the parameters of `submit` as one JSON object, with an id. Pure.
///
/// `spooledAt` is when the event was handed over. It stands for the time of an event that names none, and is no part of
/// the event: the same event without a time, handed over twice, is one.
package struct SpoolFile: Sendable, Equatable {
    /// The event.
    package var submission: Submission
    /// When the event was handed over, Unix milliseconds; nil where the file does not say.
    package var spooledAtMilliseconds: Int64? { submission.takenOverAtMilliseconds }

    /// Makes a file for `submission`, which must have an id.
    package init(_ submission: Submission, spooledAtMilliseconds: Int64?) {
        self.submission = submission
        self.submission.takenOverAtMilliseconds = spooledAtMilliseconds
    }

    /// A file has at most so many bytes, like a request.
    package static let maximumBytes = Limits.requestBytes
    /// Names that end so are whole files, unless they begin with `draftPrefix`; others are being written.
    package static let suffix = ".json"
    /// Names that begin so are being written, and are left alone.
    package static let draftPrefix = "."

    /// The file's bytes.
    package var bytes: [UInt8] {
        JSONValue.object(submission.parameters).serializedBytes + [UInt8(ascii: "\n")]
    }

    /// A name that no other event has: by the event's own id where that is a UUID, else by `fresh`.
    package static func name(clientID: String?, fresh: EventKey) -> String {
        "\(clientID.flatMap(EventKey.init) ?? fresh)\(suffix)"
    }

    /// Reads a file's bytes. Throws `RPCError`, as `submit` would answer.
    package static func parse(_ bytes: [UInt8]) throws(RPCError) -> SpoolFile {
        guard bytes.count <= maximumBytes else {
            throw RPCError(.tooLarge, "a file in the spool has at most \(maximumBytes) bytes")
        }
        let value: JSONValue
        do throws(JSONError) {
            value = try JSONParser.parse(
                bytes, limits: JSONLimits(depth: Limits.jsonDepth, maximumBytes: maximumBytes))
        } catch {
            throw RPCError(.parseError, "the file is no JSON: \(error)")
        }
        guard case .object(let parameters) = value else {
            throw RPCError(.invalidRequest, "the file must hold one JSON object, the parameters of submit")
        }
        var request = RPCRequest(id: 1, method: Method.submit.rawValue, parameters: parameters)
        request.source = bytes
        let submission = try Submission.parse(request).submission
        guard submission.clientID != nil else {
            throw RPCError(
                .idRequired,
                "an event in the spool needs an id, so that it counts once however often it is handed over",
                field: "id")
        }
        return SpoolFile(submission, spooledAtMilliseconds: submission.takenOverAtMilliseconds)
    }
}
