/// The page at `/`: one document without outside resources, kept up to date by `/events`.
enum PracticePage {
    /// Keeps the browser from loading anything from elsewhere, whatever a player is called.
    static let securityPolicy =
        "default-src 'none'; style-src 'unsafe-inline'; script-src 'unsafe-inline'; connect-src 'self'; "
        + "base-uri 'none'; form-action 'none'; frame-ancestors 'none'"

    static let bytes = Array(html.utf8)

    private static let html = """
        <!DOCTYPE html>
        <html lang="en">
        <head>
        <meta charset="utf-8">
        <meta name="viewport" content="width=device-width, initial-scale=1">
        <meta name="color-scheme" content="light dark">
        <title>kleos practice endpoint</title>
        <link rel="icon" href="data:,">
        <style>
        \(style)
        </style>
        </head>
        <body>
        \(content)
        <script>
        \(script)
        </script>
        </body>
        </html>

        """

    private static let content = #"""
        <a class="skip" href="#boards">Skip to the leaderboards</a>
        <header>
          <h1>kleos practice endpoint</h1>
          <p id="live" role="status">Connecting …</p>
        </header>
        <main>
          <section aria-labelledby="service-title">
            <h2 id="service-title">Service</h2>
            <div id="faults"></div>
            <div class="buttons">
              <button type="button" id="power" hidden>Take the service down</button>
              <button type="button" id="clear" hidden>End all faults</button>
            </div>
            <dl id="totals"></dl>
            <p class="latest"><span class="soft">Latest:</span> <span id="news" role="status" aria-live="polite"
              aria-atomic="true">nothing yet</span></p>
          </section>
          <section aria-labelledby="boards-title">
            <h2 id="boards-title">Leaderboards</h2>
            <div id="boards" tabindex="-1"></div>
          </section>
          <div class="pair">
            <section aria-labelledby="achievements-title">
              <h2 id="achievements-title">Achievements</h2>
              <div id="achievements"></div>
            </section>
            <section aria-labelledby="requests-title">
              <h2 id="requests-title">Latest requests</h2>
              <div id="requests"></div>
            </section>
          </div>
          <noscript><p>This page needs JavaScript. <a href="/boards">/boards</a>,
          <a href="/achievements">/achievements</a>, <a href="/requests">/requests</a> and <a href="/faults">/faults</a>
          say the same as JSON.</p></noscript>
        </main>
        """#

    private static let style = #"""
        :root { --ink: #1b2130; --soft: #535c6d; --line: #d5dae3; --paper: #f3f5f8; --card: #ffffff;
          --good: #14683c; --bad: #a3221b; --warn: #7a4f00; --accent: #2747b5; --wash: #e9eefc; }
        @media (prefers-color-scheme: dark) { :root { --ink: #e8ebf2; --soft: #a6aec0; --line: #343c4d;
          --paper: #10131a; --card: #191e28; --good: #63d297; --bad: #ff948b; --warn: #f2bd62; --accent: #9db3ff;
          --wash: #232b3d; } }
        * { box-sizing: border-box; }
        html { -webkit-text-size-adjust: 100%; }
        body { margin: 0 auto; max-width: 76rem; padding: 1rem clamp(.75rem, 3vw, 2rem) 3rem; background: var(--paper);
          color: var(--ink); font: 1rem/1.5 system-ui, sans-serif; }
        .skip { position: absolute; left: -99rem; }
        .skip:focus { left: 1rem; top: .5rem; background: var(--card); padding: .5rem .8rem; z-index: 1; }
        a { color: var(--accent); }
        :focus-visible { outline: 3px solid var(--accent); outline-offset: 2px; }
        header { display: flex; flex-wrap: wrap; gap: .2rem 1rem; align-items: baseline; justify-content: space-between; }
        h1 { font-size: 1.4rem; line-height: 1.25; margin: 0; }
        h2 { font-size: 1.1rem; margin: 0 0 .6rem; }
        h3, caption { font-size: 1rem; font-weight: 600; text-align: left; overflow-wrap: anywhere; }
        caption .soft { display: block; font-weight: 400; font-size: .875rem; }
        p { margin: 0; }
        .soft, dt { color: var(--soft); }
        .good { color: var(--good); } .bad { color: var(--bad); } .warn { color: var(--warn); }
        section { background: var(--card); border: 1px solid var(--line); border-radius: .75rem; padding: 1rem;
          margin-top: 1rem; }
        .pair { display: grid; gap: 0 1rem; align-items: start; }
        @media (min-width: 62rem) { .pair { grid-template-columns: minmax(0, 1fr) minmax(0, 1fr); } }
        #faults p { font-weight: 600; overflow-wrap: anywhere; }
        .buttons { display: flex; flex-wrap: wrap; gap: .6rem; margin: .7rem 0; }
        button { font: inherit; min-height: 2.75rem; padding: .4rem 1rem; border: 1px solid var(--accent);
          border-radius: .5rem; background: var(--card); color: var(--accent); cursor: pointer; }
        button:hover { background: var(--wash); }
        #totals { display: grid; grid-template-columns: repeat(auto-fit, minmax(7.5rem, 1fr)); gap: .5rem 1rem; margin: 0;
          padding: .7rem 0; border-top: 1px solid var(--line); border-bottom: 1px solid var(--line); }
        dt { font-size: .875rem; }
        dd { margin: 0; font-size: 1.15rem; font-weight: 600; font-variant-numeric: tabular-nums; }
        .latest { margin-top: .7rem; overflow-wrap: anywhere; }
        #boards { display: grid; grid-template-columns: repeat(auto-fill, minmax(min(100%, 17rem), 1fr)); gap: 1.2rem 2rem;
          align-items: start; }
        table { border-collapse: collapse; table-layout: fixed; width: 100%; }
        thead th { font-size: .875rem; font-weight: 600; color: var(--soft); border-bottom: 1px solid var(--line); }
        th, td { text-align: left; padding: .3rem .8rem .3rem 0; vertical-align: top; font-weight: 400;
          overflow-wrap: anywhere; }
        tbody tr + tr > * { border-top: 1px solid var(--line); }
        th:last-child, td:last-child { padding-right: 0; }
        .number { text-align: right; font-variant-numeric: tabular-nums; }
        .rank { width: 3.4rem; }
        .value { width: 40%; }
        .item { width: 40%; }
        .state { width: 5.5rem; }
        .game { display: block; font-size: .875rem; color: var(--soft); }
        progress { width: 4.5rem; max-width: 100%; accent-color: var(--good); vertical-align: middle; }
        ol { list-style: none; margin: 0; padding: 0; }
        li { display: grid; grid-template-columns: minmax(5.6rem, auto) minmax(0, 1fr); gap: 0 .8rem; padding: .4rem 0; }
        li + li { border-top: 1px solid var(--line); }
        li time { color: var(--soft); font-variant-numeric: tabular-nums; }
        li .what { overflow-wrap: anywhere; }
        code { font: .9em ui-monospace, monospace; font-weight: 400; overflow-wrap: anywhere; }
        @media (prefers-reduced-motion: no-preference) {
          .new { animation: arrive 2s ease-out; }
          @keyframes arrive { from { background: var(--wash); } }
        }
        """#

    private static let script = #"""
        "use strict";
        const byId = id => document.getElementById(id);
        // Everything that came from outside goes in as text, never as markup.
        function make(tag, attributes, ...children) {
          const element = document.createElement(tag);
          for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, value);
          for (const child of children) if (child !== null && child !== "") element.append(child);
          return element;
        }
        // A name that is written from right to left must not turn around what stands beside it.
        const isolated = text => `\u2068${text}\u2069`;
        const none = text => make("p", { class: "soft" }, text);
        const count = (number, one, many) => `${number} ${number === 1 ? one : many}`;
        function table(caption, columns, rows) {
          const head = columns.map(([title, kind]) => make("th", { scope: "col", class: kind }, title));
          const body = rows.map(row => make("tr", {}, ...row.map((cell, i) =>
            make(columns[i][2] ? "th" : "td", columns[i][2] ? { scope: "row", class: columns[i][1] }
              : { class: columns[i][1] }, cell))));
          return make("table", {}, caption, make("thead", {}, make("tr", {}, ...head)), make("tbody", {}, ...body));
        }
        function clock(text) {
          const date = new Date(text);
          const isToday = date.toDateString() === new Date().toDateString();
          return make("time", { datetime: text }, isToday ? date.toLocaleTimeString() : date.toLocaleString());
        }
        // A part of the page is made anew only where it changed, so that readers keep their place.
        const shown = {};
        function show(id, value, build) {
          const text = JSON.stringify(value);
          if (shown[id] === text) return;
          shown[id] = text;
          byId(id).replaceChildren(...build(value));
        }
        function faults(value) {
          const names = Object.keys(value);
          byId("power").hidden = false;
          byId("power").textContent = "down" in value ? "Bring the service up" : "Take the service down";
          byId("clear").hidden = !names.length;
          if (!names.length) return [make("p", { class: "good" }, "Up: every valid submission is accepted")];
          return names.map(name => name === "down"
            ? make("p", { class: "bad" }, value.down === "refuse" ? "Down: every connection is closed"
              : "Down: every answer is 503")
            : make("p", { class: "warn" }, `Fault ${name}: `, make("code", {}, JSON.stringify(value[name]))));
        }
        function totals(value) {
          const rows = [["Requests", value.requests], ["Took effect", value.effects],
            ["Same answer again", value.replays], ["Without an answer", value.unanswered]];
          for (const [status, number] of Object.entries(value.statuses)) rows.push([`Answered ${status}`, number]);
          if (value.mostEffectsOfOneKey > 1) rows.push(["A key took effect", `${value.mostEffectsOfOneKey} times`]);
          return rows.map(([term, number]) => make("div", {}, make("dt", {}, term), make("dd", {}, String(number))));
        }
        function boards(list) {
          if (!list.length) return [none("No scores yet.")];
          return list.map(board => {
            const order = board.order === "ascending" ? "lowest first" : "highest first";
            const rest = board.entryCount - board.entries.length;
            const caption = make("caption", {}, `${board.game} / ${board.leaderboard}`,
              make("span", { class: "soft" }, `${order}, keeps ${board.keep}${rest > 0 ? `, and ${rest} more` : ""}`));
            return table(caption, [["Rank", "number rank"], ["Player", "", true], ["Value", "number value"]],
              board.entries.map(entry => [String(entry.rank), isolated(entry.player), entry.value]));
          });
        }
        function progress(item) {
          if (item.unlocked) return make("span", {}, make("span", { class: "good" }, "Unlocked"),
            item.unlockedAt ? make("span", { class: "game" }, clock(item.unlockedAt)) : "");
          const text = item.steps ? count(item.steps, "step", "steps") : `${item.progress}\u00a0%`;
          if (!item.progress) return text;
          const bar = make("progress", { max: "100", value: String(item.progress), "aria-label": "Progress" });
          return make("span", {}, bar, ` ${text}`);
        }
        function achievements(list) {
          if (!list.length) return [none("None yet.")];
          return [table("", [["Achievement", "item", true], ["Player", ""], ["State", "state"]], list.map(item =>
            [make("span", {}, item.achievement, make("span", { class: "game" }, item.game)), isolated(item.player),
              progress(item)]))];
        }
        const subject = item => item.item
          ? `${item.game} / ${item.item}, ${isolated(item.player)}${item.value === null ? "" : `: ${item.value}`}` : item.path;
        function notes(item) {
          return [item.code, item.replayed ? "same answer again" : null, item.fault ? `fault ${item.fault}` : null,
            item.status === null && item.tookEffect ? "took effect" : null].filter(Boolean).join(", ");
        }
        const answer = item => item.status === null ? "No answer" : String(item.status);
        let newest = null;
        function requests(list) {
          if (!list.length) return [none("None yet.")];
          return [make("ol", {}, ...list.map(item => {
            const kind = item.status === null || item.status >= 500 ? "bad" : item.status >= 400 ? "warn" : "good";
            const note = notes(item);
            return make("li", newest !== null && item.number > newest ? { class: "new" } : {}, clock(item.at),
              make("span", { class: "what" }, make("strong", { class: kind }, answer(item)), ` ${subject(item)}`,
                note ? make("span", { class: "game" }, note) : ""));
          }))];
        }
        // What is told aloud: one sentence for one request, a count where many came at once.
        function tell(list) {
          if (!list.length) return;
          const fresh = newest === null ? [] : list.filter(item => item.number > newest);
          const last = list[0];
          if (fresh.length || newest === null) {
            const note = notes(last);
            byId("news").textContent = (fresh.length > 1 ? `${fresh.length} requests; ` : "")
              + `${subject(last)}, ${last.status === null ? "no answer" : `answered ${last.status}`}${note ? ` (${note})` : ""}`;
          }
          newest = last.number;
        }
        function state(value) {
          show("faults", value.faults, faults);
          show("totals", value.counts, totals);
          show("boards", value.boards, boards);
          show("achievements", value.achievements, achievements);
          show("requests", value.requests, requests);
          tell(value.requests);
        }
        function live(className, text) {
          if (byId("live").textContent === text) return;
          byId("live").className = className;
          byId("live").textContent = text;
        }
        function listen() {
          const events = new EventSource("/events");
          events.onopen = () => live("good", "Live");
          events.onmessage = event => state(JSON.parse(event.data));
          events.onerror = () => {
            live("bad", "Not reachable; trying again");
            // After an answer that is no stream, as where too many pages are open, the browser does not.
            if (events.readyState === EventSource.CLOSED) setTimeout(listen, 2000);
          };
        }
        listen();
        byId("power").onclick = () => fetch("/faults", { method: "POST", headers: { "Content-Type": "application/json" },
          body: JSON.stringify({ down: byId("power").textContent.startsWith("Take") ? "refuse" : null }) });
        byId("clear").onclick = () => fetch("/faults", { method: "DELETE" });
        """#
}
