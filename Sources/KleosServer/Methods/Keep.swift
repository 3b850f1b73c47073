import KleosJSON
import KleosStore
import KleosSupport
import KleosWire

// backup: what an operator keeps beside the queue.

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
                    server.reply(token, .failure(Self.backupFailure(error)))
                }
            }
        }
    }

    private static func backupFailure(_ error: StoreError) -> RPCError {
        switch error.kind {
        case .full: RPCError(.queueFull, error.description)
        case .closed, .busy: RPCError(.unavailable, error.message)
        default: RPCError(.internalError, error.description)
        }
    }

    /// Tells whoever asked how far long work has come.
    private func tellProgress(_ method: Method, _ done: Int, _ total: Int, to token: ReplyToken) {
        guard let connection = connections[token.connection] else { return }
        let message = ProgressMessage(task: method.rawValue, done: Int64(done), total: Int64(total))
        send(RPCAnswer.notification(method: ProgressMessage.method, parameters: message.json), to: connection)
    }
}
