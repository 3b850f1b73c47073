import KleosSupport

/// beanstalkd with a log that is synced at each write.
struct BeanstalkPeer: Peer {
    let server: String
    let name = "beanstalkd, sync at each write"

    func start(folder: String) throws -> any RunningPeer {
        let port = try LoopbackPort.free()
        let program = try Program(
            [server, "-l", "127.0.0.1", "-p", "\(port)", "-b", folder, "-f", "0"], output: "\(folder)/log")
        try LoopbackPort.wait(for: port, of: program)
        return TCPPeer(program: program, port: port, language: Language())
    }

    private struct Language: LoadLanguage {
        private static let body = [UInt8](repeating: UInt8(ascii: "e"), count: 200)
        private static let request = Array("put 1024 0 60 200\r\n".utf8) + body + Array("\r\n".utf8)

        mutating func appendRequest(to bytes: inout [UInt8]) { bytes += Self.request }

        func isRefusal(_ line: UnsafeRawBufferPointer) -> Bool { !line.starts(with: "INSERTED ".utf8) }
    }
}
