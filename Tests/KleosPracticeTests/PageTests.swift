import KleosJSON
import KleosPractice
import KleosSupport
import KleosTestSupport
import Testing

/// The page at `/` as people read it, in a real browser.
@Suite("The page", .serialized, .enabled(if: BrowserHarness.isAvailable, "chromium is not installed"))
struct PageTests {
    private let practice: Practice
    private let browser: BrowserHarness

    init() throws {
        practice = try Practice()
        browser = try BrowserHarness()
    }

    private func open() throws {
        try browser.open(practice.server.url + "/")
        try browser.wait(until: "document.getElementById('live').textContent === 'Live'")
        try browser.wait(until: "document.getElementById('totals').childElementCount > 0")
    }

    /// As the page writes a name, so that nothing beside it is turned around.
    private func isolated(_ name: String) -> String { "\u{2068}\(name)\u{2069}" }

    private func has(_ tree: [AccessibleNode], _ role: String, _ name: String) -> Bool {
        tree.contains { $0.role == role && $0.name == name }
    }

    @Test("A screen reader is told of a score that arrives, and finds it in its leaderboard")
    func arrival() throws {
        try open()
        let before = try browser.accessibilityTree()
        #expect(
            before.contains {
                $0.role == "heading" && $0.name == "kleos practice endpoint" && $0.properties["level"] == "1"
            })
        for name in ["Service", "Leaderboards", "Achievements", "Latest requests"] {
            #expect(has(before, "heading", name))
            #expect(has(before, "region", name))
        }
        #expect(has(before, "main", ""))
        #expect(has(before, "StaticText", "No scores yet."))
        #expect(!before.contains { $0.role == "table" })

        _ = try practice.submit(score: "k1", player: "mira", value: "12345")
        try browser.wait(until: "document.getElementById('news').textContent.includes('mira')")
        _ = try practice.submit(achievement: "k2", player: "mira", ["progress": 100])
        try browser.wait(until: "document.getElementById('achievements').textContent.includes('Unlocked')")
        let tree = try browser.accessibilityTree()
        let news = tree.filter { $0.role == "status" && $0.properties["live"] == "polite" }
        #expect(news.count == 2)
        #expect(
            tree.contains { $0.role == "StaticText" && $0.name.contains("\(isolated("mira")): 100 %, answered 200") })
        #expect(tree.contains { $0.role == "table" && $0.name.hasPrefix("minesweeper / beginner") })
        for column in ["Rank", "Player", "Value"] { #expect(has(tree, "columnheader", column)) }
        #expect(has(tree, "rowheader", isolated("mira")))
        #expect(tree.contains { $0.name == "12345" && ["cell", "gridcell"].contains($0.role) })
        #expect(tree.contains { $0.role == "rowheader" && $0.name.contains("flags") })
        #expect(tree.filter { $0.role == "listitem" }.count == 2)
    }

    @Test("Its buttons take the service down and bring it back")
    func buttons() throws {
        try open()
        #expect(try Patience.until { has(try browser.accessibilityTree(), "button", "Take the service down") })
        try browser.evaluate("document.getElementById('power').click()")
        try browser.wait(until: "document.body.innerText.includes('Down: every connection is closed')")
        #expect(practice.server.faults.down == .refuse)
        #expect(try Patience.until { has(try browser.accessibilityTree(), "button", "End all faults") })
        try browser.evaluate("document.getElementById('power').click()")
        try browser.wait(until: "document.body.innerText.includes('Up: every valid submission is accepted')")
        #expect(practice.server.faults == Faults())
        practice.server.setFaults(.script([.status(503)]))
        try browser.wait(until: "document.body.innerText.includes('Fault script')")
        try browser.evaluate("document.getElementById('clear').click()")
        try browser.wait(until: "document.getElementById('clear').hidden")
        #expect(practice.server.faults == Faults())
    }

    @Test("It fits on a phone, and can be touched there")
    func phone() throws {
        try browser.setScreen(width: 360, height: 740, isMobile: true)
        let name = String(repeating: "Donaudampfschifffahrt", count: 6)
        _ = try practice.submit(score: "k1", player: name, value: "-9223372036854775807")
        _ = try practice.submit(achievement: "k2", player: name, ["steps": 3, "of": 10])
        practice.server.setFaults(.script(Array(repeating: .status(503), count: 40)))
        try open()
        try browser.wait(until: "document.body.innerText.includes('Donau')")
        #expect(try browser.evaluate("document.documentElement.scrollWidth <= 360") == true)
        #expect(
            try browser.evaluate(
                "[...document.querySelectorAll('button')].every(b => b.getBoundingClientRect().height >= 44)") == true)
        // Nothing is cut off: no text is wider than what it stands in.
        #expect(
            try browser.evaluate(
                "[...document.querySelectorAll('td, th, li, p, dd')].filter(e => e.scrollWidth > e.clientWidth + 1)"
                    + ".map(e => e.textContent).join('; ')") == "")
        // Nor is a column so narrow that its own heading breaks.
        #expect(
            try browser.evaluate(
                """
                [...document.querySelectorAll('thead th')].filter(e => {
                  const range = document.createRange();
                  range.selectNodeContents(e);
                  return range.getClientRects().length > 1;
                }).map(e => e.textContent).join('; ')
                """) == "")
    }

    @Test("A name that is written from right to left leaves the value where it stands")
    func rightToLeft() throws {
        try browser.setScreen(width: 1280, height: 900, isMobile: false)
        let name = "\u{5E9}\u{5E8}\u{5D4}"
        _ = try practice.submit(score: "k1", player: name, value: "8080")
        try open()
        try browser.wait(until: "document.getElementById('news').textContent.includes('8080')")
        let isAfter = try browser.evaluate(
            """
            ['#news', '#requests li .what'].every(place => {
              const walker = document.createTreeWalker(document.querySelector(place), NodeFilter.SHOW_TEXT);
              while (walker.nextNode()) {
                const text = walker.currentNode.data;
                if (!text.includes('8080')) continue;
                const box = part => {
                  const range = document.createRange();
                  range.setStart(walker.currentNode, text.indexOf(part));
                  range.setEnd(walker.currentNode, text.indexOf(part) + part.length);
                  return range.getBoundingClientRect();
                };
                return box('8080').left >= box('\(name)').right;
              }
              return false;
            })
            """)
        #expect(isAfter == true)
    }

    @Test("Every text stands out enough from its ground, in light and dark", arguments: ["light", "dark"])
    func contrast(scheme: String) throws {
        try browser.setColorScheme(scheme)
        _ = try practice.submit(score: "k1")
        _ = try practice.submit(score: "k2", value: "x")
        practice.server.setFaults(.script([.drop, .status(503), .html]))
        _ = try? practice.submit(score: "k3")
        _ = try practice.submit(achievement: "k4", ["progress": 100])
        _ = try practice.submit(achievement: "k5", player: "bea", ["progress": 100])
        try open()
        try browser.wait(until: "document.getElementById('requests').querySelectorAll('li').length === 5")
        let isDark = try browser.evaluate(
            "getComputedStyle(document.body).backgroundColor.match(/\\d+/g).every(part => part < 80)")
        #expect(isDark == .bool(scheme == "dark"))
        let weak = try browser.evaluate(
            """
            (() => {
              const channels = text => text.match(/[\\d.]+/g).map(Number);
              const light = ([r, g, b]) => [r, g, b].map(c => c / 255)
                .map(c => c <= .03928 ? c / 12.92 : ((c + .055) / 1.055) ** 2.4)
                .reduce((sum, c, i) => sum + c * [.2126, .7152, .0722][i], 0);
              const ground = e => { const color = channels(getComputedStyle(e).backgroundColor);
                return color.length === 3 || color[3] > .99 ? color : ground(e.parentElement); };
              const weak = [];
              const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
              document.getAnimations().forEach(animation => animation.finish());
              while (walker.nextNode()) {
                const element = walker.currentNode.parentElement;
                if (!walker.currentNode.data.trim() || !element.checkVisibility() || element.closest("script")) continue;
                const [one, other] = [light(channels(getComputedStyle(element).color)), light(ground(element))];
                const ratio = (Math.max(one, other) + .05) / (Math.min(one, other) + .05);
                if (ratio < 4.5) weak.push(`${walker.currentNode.data.trim()} ${ratio.toFixed(2)}`);
              }
              return weak.join("; ");
            })()
            """)
        #expect(weak == "")
    }

    @Test("What a player is called is never markup, and nothing comes from elsewhere")
    func hostile() throws {
        try open()
        let name = "<img src=http://example.com/x onerror=\"document.title='taken'\">"
        _ = try practice.submit(score: "k1", player: name)
        try browser.wait(until: "document.getElementById('news').textContent.includes('<img')")
        #expect(try browser.evaluate("document.querySelectorAll('img').length") == 0)
        #expect(try browser.evaluate("document.title") == "kleos practice endpoint")
        #expect(has(try browser.accessibilityTree(), "rowheader", isolated(name)))
        let origin = practice.server.url
        #expect(
            try browser.evaluate(
                "performance.getEntriesByType('resource').every(entry => entry.name.startsWith('\(origin)'))") == true)
    }

    @Test("It tries again where too many pages were open")
    func turnedAway() throws {
        var others: [FileDescriptor] = []
        for _ in 0..<64 {
            let connection = try practice.open()
            try TCPSocket.sendAll(Array("GET /events HTTP/1.1\r\nHost: x\r\n\r\n".utf8), on: connection)
            try #require(try !connection.read(limitBytes: 16).isEmpty)
            others.append(connection)
        }
        try browser.open(practice.server.url + "/")
        try browser.wait(until: "document.getElementById('live').textContent.startsWith('Not reachable')")
        others = []
        try browser.wait(until: "document.getElementById('live').textContent === 'Live'")
    }

    @Test("It says when the service is gone")
    func gone() throws {
        try open()
        practice.server.stop()
        try browser.wait(until: "document.getElementById('live').textContent.startsWith('Not reachable')")
    }
}
