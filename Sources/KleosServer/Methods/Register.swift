import KleosModel
import KleosSupport
import KleosWire

extension Server {
    /// Takes a game's own catalog, from the daemon's own user and root alone: a catalog says which of two scores is the
    /// better, and so could undo what other users submit for a game of that name.
    func register(_ parameters: RegisterParameters, _ token: ReplyToken, _ connection: Connection) throws(RPCError) {
        guard connection.peer.uid == settings.daemonUID || connection.peer.uid == 0 else {
            throw RPCError(
                .notPermitted,
                "this daemon takes catalogs from its own user only; ask its administrator to put the game's file into "
                    + "games.d, or run a daemon of your own (kleosd --user)")
        }
        hooks.register(parameters.catalog) { [self] result in
            self.async { $0.reply(token, result.map(\.json)) }
        }
    }
}
