import KleosConfig
import KleosJSON
import KleosModel
import KleosSupport
import KleosWire

// pause, resume, flush, reload, config: what other parts of the daemon do on an operator's word.

extension Server {
    func steer(
        _ verb: Method, _ parameters: EndpointParameters, _ token: ReplyToken, _ connection: Connection
    ) throws(RPCError) {
        if let name = parameters.endpoint, settings.endpoints[name] == nil {
            let nearest = Spelling.nearest(to: name, in: Array(settings.endpoints.keys))
            let hint = nearest.map { "; did you mean \($0)?" } ?? ""
            throw RPCError(.unknownEndpoint, "there is no endpoint \(Self.excerpt(name))\(hint)", field: "endpoint")
        }
        let uid = String(connection.peer.uid)
        let target = parameters.endpoint ?? "all"
        let completion: ServerHooks.Completion<Void> = { [self] result in
            self.async { server in
                if case .success = result {
                    server.log(
                        .notice, "an operator steered delivery",
                        ["verb": verb.rawValue, "endpoint": target, "uid": uid])
                }
                server.reply(token, result.map { ["endpoint": parameters.endpoint.map(JSONValue.string) ?? .null] })
            }
        }
        switch (verb, parameters.endpoint) {
        case (.pause, let name?):
            hooks.pause(name, parameters.reason ?? "paused by user \(uid)", completion)
        case (.resume, let name?): hooks.resume(name, completion)
        default: hooks.flush(parameters.endpoint, completion)
        }
    }

    func reload(_ token: ReplyToken, _ connection: Connection) {
        hooks.reload { [self] result in
            self.async { $0.reply(token, result.map { ["changes": .array($0.map(JSONValue.string))] }) }
        }
    }

    func config(_ token: ReplyToken) {
        hooks.configSettings { [self] settings in
            let rows = settings.map { setting in
                [
                    "file": .string(setting.file), "section": .string(setting.section), "key": .string(setting.key),
                    "value": .string(setting.value), "source": .string(setting.source.description),
                ] as JSONValue
            }
            self.async { $0.reply(token, .success(["settings": .array(rows)])) }
        }
    }
}
