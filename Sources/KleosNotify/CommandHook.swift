import Glibc
package import KleosSupport

/// Runs a command that gets a notice as JSON on standard input; no shell, no inherited descriptors.
package struct CommandHook: Sendable, Equatable {
    /// The program's path and its arguments.
    package var command: [String]
    /// After so long the command and its children are killed, in milliseconds.
    package var timeoutMilliseconds: Int64
    /// The most that is kept of what it prints.
    package var maximumOutputBytes: Int

    /// Makes a hook for a command with at least a program.
    package init(command: [String], timeoutMilliseconds: Int64 = 10_000, maximumOutputBytes: Int = 4_096) {
        precondition(!command.isEmpty, "a hook has a program")
        self.command = command
        self.timeoutMilliseconds = timeoutMilliseconds
        self.maximumOutputBytes = maximumOutputBytes
    }

    /// How a run ended.
    package enum Ending: Sendable, Equatable {
        case exited(Int32)
        case killed(signal: Int32)
        case timedOut
        /// The daemon stopped.
        case cancelled
    }

    /// A finished run.
    package struct Report: Sendable, Equatable {
        package var ending: Ending
        /// What it printed on standard output and standard error, cut to the limit.
        package var output: String

        /// Whether the command said that all is well.
        package var isSuccess: Bool { ending == .exited(0) }

        /// How it ended, as people say it.
        package var summary: String {
            switch ending {
            case .exited(let status): "exited with status \(status)"
            case .killed(let signal): "was killed by signal \(signal)"
            case .timedOut: "took too long and was killed"
            case .cancelled: "was killed because kleos stops"
            }
        }
    }

    /// Runs the command with `input` and waits for its end, or for `cancellation`.
    /// Throws `SystemError` where it cannot be started.
    package func run(input bytes: [UInt8], cancellation: FileDescriptor? = nil) throws(SystemError) -> Report {
        let (input, theirInput) = try UnixSocket.pair()
        let (output, theirOutput) = try UnixSocket.pair()
        let child = try CommandProcess(
            command: command, environment: Self.environment, input: theirInput, output: theirOutput)
        // With our copies of its ends gone, a command that closes its output would make every wait end at once.
        defer { withExtendedLifetime((theirInput, theirOutput)) {} }
        let deadline = Self.nowMilliseconds + timeoutMilliseconds
        var pending = bytes[...]
        var text: [UInt8] = []
        let watched = [output] + (cancellation.map { [$0] } ?? [])
        while true {
            feed(input, &pending)
            drain(output, into: &text)
            let remaining = deadline - Self.nowMilliseconds
            guard remaining > 0 else {
                child.stop()
                return Report(ending: .timedOut, output: Self.text(text))
            }
            if let cancellation, Self.isReadable(cancellation) {
                child.stop()
                return Report(ending: .cancelled, output: Self.text(text))
            }
            if child.wait(reading: watched, writing: pending.isEmpty ? [] : [input], milliseconds: remaining) {
                drain(output, into: &text)
                switch child.reap() {
                case .exited(let status): return Report(ending: .exited(status), output: Self.text(text))
                case .killed(let signal): return Report(ending: .killed(signal: signal), output: Self.text(text))
                }
            }
        }
    }

    /// What the command sees of the environment; the daemon's own secrets and sockets stay with it.
    private static var environment: [String: String] {
        let names = [
            "DBUS_SESSION_BUS_ADDRESS", "DISPLAY", "HOME", "LANG", "LC_ALL", "LOGNAME", "PATH", "USER",
            "WAYLAND_DISPLAY", "XDG_RUNTIME_DIR",
        ]
        return names.reduce(into: [:]) { $0[$1] = Environment[$1] }
    }

    private func feed(_ input: FileDescriptor, _ pending: inout ArraySlice<UInt8>) {
        let wasEmpty = pending.isEmpty
        while !pending.isEmpty {
            // Sound: the kernel reads the buffer during the call only, and no more than its count.
            let count = pending.withUnsafeBytes { bytes in
                Retry.onInterrupt {
                    send(input.number, bytes.baseAddress, bytes.count, Int32(MSG_DONTWAIT) | Int32(MSG_NOSIGNAL))
                }
            }
            if count < 0 {
                if errno == EAGAIN { return }
                // A command that does not read all of its input is within its rights.
                pending = []
            } else {
                pending = pending.dropFirst(count)
            }
        }
        // The command holds a copy of the other end, and so do we: only this tells it that nothing more comes.
        if !wasEmpty { shutdown(input.number, Int32(SHUT_WR)) }
    }

    private func drain(_ output: FileDescriptor, into text: inout [UInt8]) {
        var buffer = [UInt8](repeating: 0, count: 4_096)
        while true {
            // Sound: the kernel writes during the call only, and no more than the buffer's count.
            let count = buffer.withUnsafeMutableBytes { bytes in
                Retry.onInterrupt { recv(output.number, bytes.baseAddress, bytes.count, Int32(MSG_DONTWAIT)) }
            }
            guard count > 0 else { return }
            text += buffer.prefix(min(count, max(0, maximumOutputBytes - text.count)))
        }
    }

    private static func isReadable(_ descriptor: FileDescriptor) -> Bool {
        var entry = pollfd(fd: descriptor.number, events: Int16(POLLIN), revents: 0)
        return poll(&entry, 1, 0) > 0
    }

    private static func text(_ bytes: [UInt8]) -> String {
        let text = String(decoding: bytes, as: UTF8.self)
        return text.hasSuffix("\n") ? String(text.dropLast()) : text
    }

    private static var nowMilliseconds: Int64 {
        var time = timespec()
        clock_gettime(CLOCK_MONOTONIC, &time)
        return Int64(time.tv_sec) * 1_000 + Int64(time.tv_nsec) / 1_000_000
    }
}
