/// The page at `/`: one file, no outside resources, kept up to date by `/state`.
enum PracticePage {
    /// Keeps the browser from loading anything from elsewhere, whatever a player is called.
    static let securityPolicy =
        "default-src 'none'; style-src 'unsafe-inline'; script-src 'unsafe-inline'; connect-src 'self'; base-uri 'none'"

    static let bytes = Array(html.utf8)

    private static let html = #"""
        <!DOCTYPE html>
        <html lang="en">
        <head>
        <meta charset="utf-8">
        <meta name="viewport" content="width=device-width, initial-scale=1">
        <meta name="color-scheme" content="light dark">
        <title>kleos practice endpoint</title>
        <style>
        :root { --ink: #1d2330; --soft: #5d6677; --line: #dde1e8; --paper: #f6f7f9; --card: #fff;
          --good: #1a7f4b; --bad: #b3261e; --warn: #8a5a00; --accent: #3355c8; }
        @media (prefers-color-scheme: dark) { :root { --ink: #e6e9f0; --soft: #9aa3b5; --line: #2c3342;
          --paper: #12151c; --card: #1a1f29; --good: #59c98d; --bad: #ff8a80; --warn: #f0b95a; --accent: #8fa8ff; } }
        * { box-sizing: border-box; }
        body { margin: 0 auto; max-width: 72rem; padding: 1rem; background: var(--paper); color: var(--ink);
          font: 15px/1.45 system-ui, sans-serif; }
        header { display: flex; flex-wrap: wrap; gap: .4rem 1rem; align-items: baseline; }
        h1 { font-size: 1.25rem; margin: 0; }
        h2 { font-size: 1rem; margin: 0 0 .5rem; }
        .soft { color: var(--soft); }
        .good { color: var(--good); } .bad { color: var(--bad); } .warn { color: var(--warn); }
        section { background: var(--card); border: 1px solid var(--line); border-radius: .5rem; padding: .8rem 1rem;
          margin-top: 1rem; overflow-x: auto; }
        #boards { display: grid; grid-template-columns: repeat(auto-fill, minmax(min(100%, 19rem), 1fr)); gap: 1rem;
          margin-top: 1rem; align-items: start; }
        #boards section { margin: 0; }
        table { border-collapse: collapse; width: 100%; }
        th { text-align: left; font-weight: 600; color: var(--soft); font-size: .85em; }
        th, td { padding: .2rem .8rem .2rem 0; border-top: 1px solid var(--line); vertical-align: top; }
        tr:first-child th { border-top: 0; }
        th:last-child, td:last-child { padding-right: 0; }
        .number { text-align: right; font-variant-numeric: tabular-nums; white-space: nowrap; }
        .name { overflow-wrap: anywhere; }
        .clip { max-width: 16rem; overflow: hidden; text-overflow: ellipsis; white-space: nowrap; }
        td time, .status { white-space: nowrap; font-variant-numeric: tabular-nums; }
        code { font: .9em ui-monospace, monospace; overflow-wrap: anywhere; }
        #totals { display: flex; flex-wrap: wrap; gap: .2rem 1.2rem; }
        @media (max-width: 40rem) {
          .wide thead { display: none; }
          .wide tr { display: flex; flex-wrap: wrap; gap: 0 .8rem; border-top: 1px solid var(--line); padding: .3rem 0; }
          .wide td { border: 0; padding: 0; max-width: 100%; }
          .wide td.empty { display: none; }
        }
        progress { width: 5rem; accent-color: var(--good); vertical-align: middle; }
        </style>
        </head>
        <body>
        <header><h1>kleos practice endpoint</h1><span id="live" class="soft" role="status">loading …</span></header>
        <section><h2>Faults</h2><div id="faults"></div><div id="totals" class="soft"></div></section>
        <div id="boards"></div>
        <section><h2>Achievements</h2><div id="achievements" class="wide"></div></section>
        <section><h2>Latest requests</h2><div id="requests" class="wide"></div></section>
        <noscript><p>This page needs JavaScript; <a href="/boards">/boards</a>, <a href="/achievements">/achievements</a>
        and <a href="/requests">/requests</a> do not.</p></noscript>
        <script>
        "use strict";
        const byId = id => document.getElementById(id);
        // Everything that came from outside goes in as text, never as markup.
        function make(tag, className, ...children) {
          const element = document.createElement(tag);
          if (className) element.className = className;
          for (const child of children) element.append(child);
          return element;
        }
        function table(titles, rows) {
          const head = make("tr", "", ...titles.map(([title, kind]) => make("th", kind, title)));
          const lines = rows.map(row => make("tr", "", ...row.map((cell, i) =>
            make("td", cell == null ? `${titles[i][1]} empty` : titles[i][1], cell ?? "–"))));
          return make("table", "", make("thead", "", head), make("tbody", "", ...lines));
        }
        const fill = (id, ...children) => byId(id).replaceChildren(...children);
        const none = text => make("span", "soft", text);
        function clock(text) {
          const date = new Date(text);
          const isToday = date.toDateString() === new Date().toDateString();
          const element = make("time", "", isToday ? date.toLocaleTimeString() : date.toLocaleString());
          element.dateTime = text; element.title = text;
          return element;
        }
        function showFaults(faults) {
          const names = Object.keys(faults);
          if (!names.length) return fill("faults", make("span", "good", "● No faults: every valid submission is accepted"));
          const parts = names.map(name => make("div", name === "down" ? "bad" : "warn",
            `● ${name === "down" ? "Down" : name} `, make("code", "", JSON.stringify(faults[name]))));
          fill("faults", ...parts);
        }
        function showTotals(counts) {
          const statuses = Object.entries(counts.statuses).map(([status, count]) => `${count} × ${status}`).join(", ");
          const parts = [`${counts.requests} requests`, `${counts.effects} took effect`,
            `${counts.replays} replayed`, `${counts.unanswered} unanswered`];
          if (statuses) parts.push(statuses);
          fill("totals", ...parts.map(part => make("span", "", part)));
          if (counts.mostEffectsOfOneKey > 1) byId("totals").append(make("span", "bad", "a key took effect twice"));
        }
        function showBoards(boards) {
          if (!boards.length) return fill("boards", make("section", "", none("No scores yet")));
          fill("boards", ...boards.map(board => {
            const rows = board.entries.map(entry => [String(entry.rank), entry.player, entry.value]);
            const section = make("section", "", make("h2", "name", `${board.game} / ${board.leaderboard}`),
              make("div", "soft", `${board.order === "ascending" ? "lowest first" : "highest first"}, keeps ${board.keep}`),
              table([["#", "number"], ["Player", "name"], ["Value", "number"]], rows));
            const rest = board.entryCount - board.entries.length;
            if (rest > 0) section.append(make("div", "soft", `and ${rest} more`));
            return section;
          }));
        }
        function showAchievements(list) {
          if (!list.length) return fill("achievements", none("None yet"));
          fill("achievements", table([["Achievement", "name"], ["Player", "name"], ["Progress", ""], ["When", ""]],
            list.map(item => {
              const bar = make("progress"); bar.max = 100; bar.value = item.progress;
              bar.title = item.steps ? `${item.steps} steps` : `${item.progress} %`;
              return [make("span", "", item.achievement, make("span", "soft", ` ${item.game}`)), item.player,
                item.unlocked ? make("span", "good", "unlocked")
                  : make("span", "", bar, item.steps && !item.progress ? ` ${item.steps} steps` : ` ${item.progress} %`),
                item.unlockedAt ? clock(item.unlockedAt) : null];
            })));
        }
        function showRequests(list) {
          if (!list.length) return fill("requests", none("None yet"));
          fill("requests", table([["At", ""], ["Answer", "status"], ["Item", "clip"], ["Player", "clip"],
            ["Value", "number"], ["Note", ""]], list.map(item => {
              const kind = item.status === null || item.status >= 500 ? "bad" : item.status >= 400 ? "warn" : "good";
              const notes = [item.replayed ? "same answer again" : null, item.code, item.fault ? `fault: ${item.fault}` : null,
                item.status === null && item.tookEffect ? "took effect" : null].filter(Boolean).join(", ");
              return [clock(item.at), make("span", kind, item.status === null ? "no answer" : String(item.status)),
                item.item ? `${item.game} / ${item.item}` : item.path, item.player, item.value, notes || null];
            })));
        }
        let shown = "";
        async function update() {
          try {
            const text = await (await fetch("/state", { cache: "no-store" })).text();
            if (text !== shown) {
              const state = JSON.parse(text);
              showFaults(state.faults); showTotals(state.counts); showBoards(state.boards);
              showAchievements(state.achievements); showRequests(state.requests);
              shown = text;
            }
            byId("live").className = "good"; byId("live").textContent = "live";
          } catch {
            byId("live").className = "bad"; byId("live").textContent = "not reachable; trying again";
          }
          setTimeout(update, 1000);
        }
        update();
        </script>
        </body>
        </html>
        """#
}
