import KleosSupport

/// redis-server with a log that is synced before each answer; events are pushed to one list.
struct RedisPeer: Peer {
    let server: String
    let name = "redis-server, appendfsync always"

    func start(folder: String) throws -> any RunningPeer {
        let port = try LoopbackPort.free()
        let program = try Program(
            [
                server, "--bind", "127.0.0.1", "--port", "\(port)", "--dir", folder, "--save", "",
                "--appendonly", "yes", "--appendfsync", "always", "--daemonize", "no",
            ], output: "\(folder)/log")
        try LoopbackPort.wait(for: port, of: program)
        return TCPPeer(program: program, port: port, language: Language())
    }

    private struct Language: LoadLanguage {
        private static let body = [UInt8](repeating: UInt8(ascii: "e"), count: 200)
        private static let request =
            Array("*3\r\n$5\r\nRPUSH\r\n$6\r\nevents\r\n$200\r\n".utf8) + body + Array("\r\n".utf8)

        mutating func appendRequest(to bytes: inout [UInt8]) { bytes += Self.request }

        func isRefusal(_ line: UnsafeRawBufferPointer) -> Bool { line.first != UInt8(ascii: ":") }
    }
}
