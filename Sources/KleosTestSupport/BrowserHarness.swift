import Glibc
package import KleosJSON
package import KleosSupport

/// A real browser that a test drives: Chromium, Debian's package, without a window, through its remote debugging pipe.
package final class BrowserHarness {
    private let folder: TemporaryFolder
    private let requests: FileDescriptor
    private let answers: FileDescriptor
    private let process: ChildProcess
    private var pending: [UInt8] = []
    private var lastID: Int64 = 0
    private var session = ""

    /// Whether Chromium is installed.
    package static var isAvailable: Bool { access("/usr/bin/chromium", X_OK) == 0 }

    /// Starts the browser with an empty page. Throws `SystemError`.
    package init() throws(SystemError) {
        folder = try TemporaryFolder(prefix: "browser")
        let (input, output) = (folder.path("requests"), folder.path("answers"))
        guard mkfifo(input, 0o600) == 0, mkfifo(output, 0o600) == 0 else { throw SystemError("make \(input)") }
        // Open in both directions, so that opening waits for nobody.
        requests = try FileDescriptor.open(input, O_RDWR | O_CLOEXEC)
        answers = try FileDescriptor.open(output, O_RDWR | O_CLOEXEC)
        let options = [
            "--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--no-first-run",
            "--disable-background-networking", "--disable-component-update", "--disable-sync", "--disable-extensions",
            "--host-resolver-rules='MAP * ~NOTFOUND, EXCLUDE 127.0.0.1'", "--remote-debugging-pipe",
            "--force-renderer-accessibility", "--user-data-dir='\(folder.path("profile"))'",
        ]
        process = try ChildProcess(
            "/bin/sh",
            ["-c", "exec /usr/bin/chromium \(options.joined(separator: " ")) about:blank 3<'\(input)' 4>'\(output)'"],
            environment: ["HOME": folder.path], errorFile: folder.path("errors"))
        let target = try call("Target.createTarget", ["url": "about:blank"])["targetId"] ?? .null
        let attached = try call("Target.attachToTarget", ["targetId": target, "flatten": true])
        session = attached["sessionId"]?.stringValue ?? ""
        _ = try call("Page.enable")
    }

    deinit {
        // A browser that is asked ends its helpers with it; where it does not answer, it is killed all the same.
        if (try? call("Browser.close")) == nil { process.send(SIGKILL) }
        // Before its folder goes.
        process.wait()
    }

    /// Loads a page and waits until it is loaded. Throws `SystemError`.
    package func open(_ url: String) throws(SystemError) {
        _ = try call("Page.navigate", ["url": .string(url)])
        _ = try evaluate("new Promise(done => document.readyState === 'complete' ? done() : onload = () => done())")
    }

    /// Shows the page on a screen of this size, as a phone would where `isMobile`. Throws `SystemError`.
    package func setScreen(width: Int, height: Int, isMobile: Bool) throws(SystemError) {
        _ = try call(
            "Emulation.setDeviceMetricsOverride",
            [
                "width": .integer(width), "height": .integer(height), "deviceScaleFactor": 1, "mobile": .bool(isMobile),
            ])
    }

    /// Lets the page think that the reader prefers `light` or `dark`. Throws `SystemError`.
    package func setColorScheme(_ scheme: String) throws(SystemError) {
        _ = try call(
            "Emulation.setEmulatedMedia",
            ["features": [["name": "prefers-color-scheme", "value": .string(scheme)]]])
    }

    /// Evaluates JavaScript in the page and waits for a promise. Throws `SystemError`, with the page's own error.
    @discardableResult
    package func evaluate(_ expression: String) throws(SystemError) -> JSONValue {
        let answer = try call(
            "Runtime.evaluate",
            ["expression": .string(expression), "awaitPromise": true, "returnByValue": true, "userGesture": true])
        if let problem = answer["exceptionDetails"] {
            throw SystemError("evaluate \(expression): \(problem.serialized)", code: EINVAL)
        }
        return answer["result"]?["value"] ?? .null
    }

    /// Waits until a JavaScript condition holds, which is looked at whenever the page changes. Throws `SystemError`.
    package func wait(until condition: String) throws(SystemError) {
        try evaluate(
            """
            new Promise(done => {
              const look = () => (\(condition)) && (observer.disconnect(), done());
              const observer = new MutationObserver(look);
              observer.observe(document, { subtree: true, childList: true, characterData: true, attributes: true });
              look();
            })
            """)
    }

    /// What a screen reader gets: roles and names in the page's order, without what it passes over. Throws
    /// `SystemError`.
    package func accessibilityTree() throws(SystemError) -> [AccessibleNode] {
        let nodes = try call("Accessibility.getFullAXTree")["nodes"]?.arrayValue ?? []
        return nodes.filter { $0["ignored"]?.boolValue != true }.map(AccessibleNode.init)
    }

    private func call(_ method: String, _ parameters: JSONValue = [:]) throws(SystemError) -> JSONValue {
        lastID += 1
        var message = JSONObject()
        message["id"] = .integer(lastID)
        message["method"] = .string(method)
        message["params"] = parameters
        if !session.isEmpty { message["sessionId"] = .string(session) }
        try requests.writeAll(JSONValue.object(message).serializedBytes + [0])
        while true {
            let answer = try next(method)
            guard answer["id"]?.int64Value == lastID else { continue }
            if let error = answer["error"] { throw SystemError("\(method): \(error.serialized)", code: EPROTO) }
            return answer["result"] ?? .null
        }
    }

    private func next(_ method: String) throws(SystemError) -> JSONValue {
        while true {
            if let end = pending.firstIndex(of: 0) {
                let text = Array(pending[..<end])
                pending.removeFirst(end + 1)
                do throws(JSONError) {
                    return try JSONParser.parse(text, limits: JSONLimits(depth: 256, maximumBytes: 1 << 28))
                } catch {
                    throw SystemError("understand the browser: \(error)", code: EPROTO)
                }
            }
            var entry = pollfd(fd: answers.number, events: Int16(POLLIN), revents: 0)
            guard Retry.onInterrupt({ poll(&entry, 1, Patience.limitMilliseconds) }) > 0 else {
                throw SystemError("wait for the browser's answer to \(method)", code: ETIMEDOUT)
            }
            pending += try answers.read(limitBytes: 1 << 20)
        }
    }
}

/// One thing that a screen reader tells.
package struct AccessibleNode: Sendable, Equatable {
    /// `heading`, `table`, `rowheader`, `StaticText` …
    package let role: String
    /// What it is called; may be empty.
    package let name: String
    /// Its other properties, as text: `level`, `live` …
    package let properties: [String: String]

    fileprivate init(_ node: JSONValue) {
        role = node["role"]?["value"]?.stringValue ?? ""
        name = node["name"]?["value"]?.stringValue ?? ""
        var properties: [String: String] = [:]
        for property in node["properties"]?.arrayValue ?? [] {
            let value = property["value"]?["value"]
            properties[property["name"]?.stringValue ?? ""] = value?.stringValue ?? value?.serialized
        }
        self.properties = properties
    }
}
