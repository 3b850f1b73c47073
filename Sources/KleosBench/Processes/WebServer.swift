import Glibc
import KleosSupport

/// The endpoint that deliveries go to: nginx where it is installed, else the practice endpoint.
final class WebServer {
    /// What answers, for people.
    let name: String
    /// Where it listens.
    let url: String
    private let program: Program

    /// Starts it in `folder`, on a free port of the loopback. Throws `BenchFailure` or `SystemError`.
    init(folder: String) throws {
        try Folder.make(folder)
        if let nginx = ProgramPath.installed("nginx") {
            name = "nginx"
            let port = try LoopbackPort.free()
            url = "http://127.0.0.1:\(port)"
            program = try Self.startNginx(nginx, port: port, folder: folder)
            try LoopbackPort.wait(for: port, of: program)
        } else {
            name = "kleos-practice"
            let log = "\(folder)/practice.log"
            program = try Program([ProgramPath.own("kleos-practice"), "--listen", "127.0.0.1:0"], output: log)
            url = try Self.practiceURL(log, program)
        }
    }

    deinit { program.stop() }

    private static func startNginx(_ nginx: String, port: UInt16, folder: String) throws(SystemError) -> Program {
        let temporary = ["client_body", "proxy", "fastcgi", "uwsgi", "scgi"].map { "\($0)_temp_path \(folder)/\($0);" }
        let text = """
            daemon off; master_process off; worker_processes 1; pid \(folder)/pid; error_log \(folder)/errors;
            events { worker_connections 1024; }
            http {
                access_log off; keepalive_requests 1000000000; keepalive_timeout 60; \(temporary.joined(separator: " "))
                server {
                    listen 127.0.0.1:\(port); default_type application/json;
                    location / { return 200 '{"accepted":true,"rank":1,"best":"1","improved":true}'; }
                }
            }

            """
        let file = try FileDescriptor.open("\(folder)/nginx.conf", O_WRONLY | O_CREAT | O_TRUNC)
        try file.writeAll(Array(text.utf8))
        return try Program(
            [nginx, "-c", "\(folder)/nginx.conf", "-e", "\(folder)/errors"], output: "\(folder)/nginx.log")
    }

    private static func practiceURL(_ log: String, _ program: Program) throws(BenchFailure) -> String {
        for _ in 0..<1_000 {
            let text = (try? SmallFile.readText(at: log)) ?? ""
            if let start = text.firstRange(of: "listening on ")?.upperBound,
                let end = text[start...].firstIndex(of: "\n")
            {
                return String(text[start..<end])
            }
            if program.ends(withinMilliseconds: 10) { break }
        }
        throw BenchFailure("kleos-practice does not listen; it said: \(program.said)")
    }
}
