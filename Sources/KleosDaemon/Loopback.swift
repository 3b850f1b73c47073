import Glibc
import KleosConfig
import KleosServer
import KleosSupport

extension Daemon {
    /// Listens at LoopbackPort= where that is set. Without the port the daemon goes on: its other sockets are there.
    func openLoopback() {
        guard let port = configuration.daemon.loopbackPort.flatMap(UInt16.init(exactly:)) else { return }
        do {
            let socket = try LoopbackSocket.listen(port: port)
            for folder in socketFolders {
                try Self.makeFolder(folder)
                let path = "\(folder)/loopback"
                try SmallFile.replace(path, with: socket.ticket)
                ticketPaths.append(path)
            }
            server.listen(at: socket)
            log(.notice, "listening on 127.0.0.1 too, for who has the token", ["port": "\(socket.port)"])
        } catch let error as StartError {
            log(.error, "LoopbackPort= is not served: \(error.message)")
        } catch {
            log(.error, "LoopbackPort= is not served: \(error)")
        }
    }

    /// Takes the token away, so that no game sends it to whoever has the port next.
    func closeLoopback() {
        for path in ticketPaths { unlink(path) }
        ticketPaths = []
    }
}
