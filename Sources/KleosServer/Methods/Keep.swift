import KleosJSON
import KleosStore
import KleosSupport
import KleosWire

// backup and salvage: copies of the queue, and queues that were set aside.

extension Server {
    func backup(_ token: ReplyToken, _ connection: Connection) {
        let uid = String(connection.peer.uid)
        store.backUp { [self] done, total in
            self.async { $0.tellProgress(.backup, done, total, to: token) }
        } then: { [self] result in
            self.async { server in
                switch result {
                case .success(let report):
                    server.log(
                        .notice, "a backup was made",
                        ["path": report.path, "bytes": String(report.bytes), "uid": uid])
                    let answer = BackupAnswer(path: report.path, bytes: report.bytes, removed: report.removed)
                    server.reply(token, .success(answer.json))
                case .failure(let error):
                    server.log(.error, "no backup was made: \(error)", ["uid": uid])
                    server.reply(token, .failure(Self.keepFailure(error)))
                }
            }
        }
    }

    func salvage(_ parameters: SalvageParameters, _ token: ReplyToken, _ connection: Connection) {
        let uid = String(connection.peer.uid)
        guard let name = parameters.name else {
            do throws(StoreError) {
                let names = try Salvage.names(in: store.directory)
                return reply(token, .success(["names": .array(names.map(JSONValue.string))]))
            } catch {
                return reply(token, .failure(Self.keepFailure(error)))
            }
        }
        let policy = SalvagePolicy(games: settings.games, endpoints: settings.endpoints)
        store.salvage(name, policy: policy) { [self] done, total in
            self.async { $0.tellProgress(.salvage, done, total, to: token) }
        } then: { [self] result in
            self.async { server in
                switch result {
                case .success(let report):
                    server.log(
                        .notice, "a set-aside queue was brought over",
                        [
                            "name": name, "brought": String(report.brought), "known": String(report.known),
                            "lost": String(report.lost), "aimless": String(report.aimless), "uid": uid,
                        ])
                    server.reply(token, .success(SalvageAnswer(report).json))
                case .failure(let error):
                    server.log(.error, "a set-aside queue was not brought over: \(error)", ["uid": uid])
                    server.reply(token, .failure(Self.keepFailure(error)))
                }
            }
        }
    }

    private static func keepFailure(_ error: StoreError) -> RPCError {
        switch error.kind {
        case .full: RPCError(.queueFull, error.description)
        case .missing: RPCError(.notFound, error.description, field: "name")
        case .closed, .busy: RPCError(.unavailable, error.message)
        default: RPCError(.internalError, error.description)
        }
    }

    /// Tells whoever asked how far long work has come.
    func tellProgress(_ method: Method, _ done: Int, _ total: Int, to token: ReplyToken) {
        guard let connection = connections[token.connection] else { return }
        let message = ProgressMessage(task: method.rawValue, done: Int64(done), total: Int64(total))
        send(RPCAnswer.notification(method: ProgressMessage.method, parameters: message.json), to: connection)
    }
}

extension SalvageAnswer {
    /// What a run over a set-aside queue came to.
    fileprivate init(_ report: Salvage.Report) {
        self.init(
            brought: report.brought, known: report.known, lost: report.lost, aimless: report.aimless,
            unreadablePages: report.unreadablePages, unreadableRows: report.unreadableRows)
    }
}
