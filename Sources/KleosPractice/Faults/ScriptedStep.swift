import KleosJSON

extension Faults {
    /// A step of a script, with how often or how long it holds.
    package struct ScriptedStep: Sendable, Equatable {
        package var step: Step
        /// How many requests take it, at least 1; of no account where `forMilliseconds` is set.
        package var times = 1
        /// Every request takes it until so long after the first that did; nil to count requests.
        package var forMilliseconds: Int64?
        /// Value of Retry-After in its 429 and 503 answers; nil for that of the faults.
        package var retryAfter: String?
        /// How long its answers are held back; nil for the latency of the faults.
        package var latencyMilliseconds: ClosedRange<Int>?

        /// Makes a step that one request takes.
        package init(_ step: Step) {
            self.step = step
        }
    }
}

extension Faults.ScriptedStep {
    /// Reads a step alone, or an object with it as `answer`. Throws `FaultsError`.
    init(json value: JSONValue) throws(FaultsError) {
        guard let object = value.objectValue else {
            self.init(try Self.step(value))
            return
        }
        guard let answer = object["answer"] else {
            throw FaultsError(description: "a step of \"script\" has no \"answer\": \(value.serialized)")
        }
        self.init(try Self.step(answer))
        for member in object.members {
            switch member.name {
            case "answer": break
            case "times": times = Int(try Faults.integer("times", member.value, in: 1...1_000_000))
            case "forMilliseconds":
                forMilliseconds = try Faults.integer("forMilliseconds", member.value, in: 1...86_400_000)
            case "retryAfter": retryAfter = try Faults.headerValue("retryAfter", member.value)
            case "latencyMilliseconds": latencyMilliseconds = try Faults.latency(member.value)
            default: throw FaultsError(description: "a step of \"script\" has no member \"\(member.name)\"")
            }
        }
        if object["times"] != nil, object["forMilliseconds"] != nil {
            throw FaultsError(description: "\"times\" and \"forMilliseconds\" exclude each other")
        }
    }

    private static func step(_ value: JSONValue) throws(FaultsError) -> Faults.Step {
        guard let step = Faults.Step(json: value) else {
            throw FaultsError(
                description: "a step of \"script\" is 200, a status from 400 to 599, \"close\", \"reset\", \"never\", "
                    + "\"drop\", \"html\" or \"redirect\", not \(value.serialized)")
        }
        return step
    }

    /// The step in the form that it is read in.
    var json: JSONValue {
        guard self != Faults.ScriptedStep(step) else { return step.json }
        var object = JSONObject()
        object["answer"] = step.json
        if let forMilliseconds {
            object["forMilliseconds"] = .integer(forMilliseconds)
        } else {
            object["times"] = .integer(times)
        }
        object["retryAfter"] = retryAfter.map { .string($0) }
        object["latencyMilliseconds"] = latencyMilliseconds.map(Faults.json)
        return .object(object)
    }
}
