/// The database's tables, as numbered steps that are only ever added to.
enum Schema {
    /// "klos" in ASCII; marks the file as an outbox.
    static let applicationID: Int32 = 0x6B6C_6F73

    /// The version that the last step leads to.
    static var version: Int { steps.count }

    /// Step n leads from version n to n + 1.
    static let steps: [[String]] = [
        [events, deliveries] + deliveryIndexes + [renderings, attempts, standing, notices, accounts] + bookkeeping,
        [Outbox.countUsersSQL],
    ]

    private static let events = """
        CREATE TABLE events(
            id INTEGER PRIMARY KEY,
            key BLOB NOT NULL UNIQUE CHECK(length(key) = 16),
            client_id TEXT,
            game TEXT NOT NULL,
            player TEXT NOT NULL,
            kind TEXT NOT NULL CHECK(kind IN ('score', 'achievement')),
            item TEXT NOT NULL,
            measure TEXT NOT NULL CHECK(measure IN ('value', 'progress', 'steps', 'increment')),
            amount INTEGER NOT NULL,
            decimals INTEGER NOT NULL CHECK(decimals BETWEEN 0 AND 9),
            occurred INTEGER,
            metadata BLOB,
            wall INTEGER NOT NULL,
            boot INTEGER NOT NULL,
            monotonic INTEGER NOT NULL,
            boot_id TEXT NOT NULL,
            synchronized INTEGER NOT NULL CHECK(synchronized IN (0, 1)),
            uid INTEGER NOT NULL,
            pid INTEGER NOT NULL,
            executable TEXT,
            unit TEXT
        ) STRICT;
        CREATE UNIQUE INDEX events_client ON events(uid, game, client_id) WHERE client_id IS NOT NULL;
        """

    private static let deliveries = """
        CREATE TABLE deliveries(
            id INTEGER PRIMARY KEY,
            event INTEGER NOT NULL,
            stream INTEGER NOT NULL,
            endpoint INTEGER NOT NULL,
            uid INTEGER NOT NULL,
            state TEXT NOT NULL CHECK(state IN (
                'waiting', 'ready', 'sending', 'delivered', 'superseded', 'dead', 'held', 'discarded')),
            reason TEXT,
            message TEXT,
            merge INTEGER NOT NULL CHECK(merge BETWEEN 0 AND 3),
            strict INTEGER NOT NULL CHECK(strict IN (0, 1)),
            priority INTEGER NOT NULL CHECK(priority BETWEEN 0 AND 2),
            confirms INTEGER NOT NULL CHECK(confirms IN (0, 1)),
            due INTEGER NOT NULL,
            backoff INTEGER NOT NULL DEFAULT 0 CHECK(backoff IN (0, 1)),
            attempts INTEGER NOT NULL DEFAULT 0,
            inherited INTEGER NOT NULL DEFAULT 0,
            server_errors INTEGER NOT NULL DEFAULT 0,
            unanswered INTEGER NOT NULL DEFAULT 0 CHECK(unanswered IN (0, 1)),
            ignores_age INTEGER NOT NULL DEFAULT 0 CHECK(ignores_age IN (0, 1)),
            pending TEXT CHECK(pending IN ('hold', 'discard', 'unconfigured')),
            superseded_by INTEGER,
            claimed INTEGER,
            settled INTEGER,
            rank INTEGER,
            best TEXT,
            changed INTEGER CHECK(changed IN (0, 1)),
            unlocked INTEGER CHECK(unlocked IN (0, 1)),
            CHECK(pending IS NULL OR state = 'sending'),
            CHECK((settled IS NULL) = (state IN ('waiting', 'ready', 'sending', 'held'))),
            CHECK(superseded_by IS NULL OR state = 'superseded'),
            CHECK(reason IS NOT NULL OR state NOT IN ('dead', 'held'))
        ) STRICT;
        """

    /// A query uses a partial index only if its WHERE repeats the index's own condition, or one side of its OR.
    private static let deliveryIndexes = [
        "CREATE UNIQUE INDEX deliveries_event ON deliveries(event, endpoint);",
        "CREATE INDEX deliveries_due ON deliveries(endpoint, priority, due, id) WHERE state = 'ready';",
        "CREATE INDEX deliveries_stream ON deliveries(stream, state, id) WHERE settled IS NULL;",
        "CREATE UNIQUE INDEX deliveries_sending ON deliveries(stream) WHERE state = 'sending';",
        "CREATE INDEX deliveries_open ON deliveries(endpoint, id) WHERE settled IS NULL;",
        "CREATE INDEX deliveries_kept ON deliveries(state, id) WHERE state = 'dead' OR state = 'held';",
        "CREATE INDEX deliveries_dead ON deliveries(uid, id) WHERE state = 'dead';",
        "CREATE INDEX deliveries_superseder ON deliveries(superseded_by, id) WHERE superseded_by IS NOT NULL;",
        """
        CREATE INDEX deliveries_done ON deliveries(settled)
            WHERE state IN ('delivered', 'discarded') OR (state = 'superseded' AND superseded_by IS NULL);
        """,
    ]

    private static let renderings = """
        CREATE TABLE renderings(delivery INTEGER PRIMARY KEY, bytes BLOB NOT NULL) STRICT;
        """

    private static let attempts = """
        CREATE TABLE attempts(
            delivery INTEGER NOT NULL,
            number INTEGER NOT NULL CHECK(number > 0),
            started INTEGER NOT NULL,
            duration INTEGER NOT NULL,
            outcome TEXT NOT NULL,
            status INTEGER,
            error TEXT,
            answer TEXT,
            PRIMARY KEY(delivery, number)
        ) STRICT, WITHOUT ROWID;
        """

    /// A row is both a stream and its standing: the hash finds it, the full key decides.
    private static let standing = """
        CREATE TABLE standing(
            id INTEGER PRIMARY KEY,
            hash INTEGER NOT NULL,
            endpoint INTEGER NOT NULL,
            game TEXT NOT NULL,
            player TEXT NOT NULL,
            kind TEXT NOT NULL CHECK(kind IN ('score', 'achievement')),
            item TEXT NOT NULL,
            confirmed_measure TEXT,
            confirmed_amount INTEGER,
            confirmed_decimals INTEGER,
            confirmed_at INTEGER,
            confirmed_rank INTEGER,
            pending_measure TEXT,
            pending_amount INTEGER,
            pending_decimals INTEGER,
            pending_at INTEGER
        ) STRICT;
        CREATE INDEX standing_hash ON standing(hash);
        CREATE INDEX standing_player ON standing(game, player);
        """

    private static let notices = """
        CREATE TABLE notices(
            number INTEGER PRIMARY KEY AUTOINCREMENT,
            key BLOB NOT NULL CHECK(length(key) = 16),
            game TEXT NOT NULL,
            player TEXT NOT NULL,
            uid INTEGER NOT NULL,
            kind TEXT NOT NULL CHECK(kind IN ('score', 'achievement')),
            item TEXT NOT NULL,
            amount INTEGER,
            decimals INTEGER,
            rank INTEGER,
            changed INTEGER CHECK(changed IN (0, 1)),
            created INTEGER NOT NULL,
            claimed_by TEXT,
            claimed INTEGER,
            route TEXT,
            shown INTEGER,
            CHECK((route IS NULL) = (shown IS NULL)),
            CHECK((claimed_by IS NULL) = (claimed IS NULL))
        ) STRICT;
        CREATE INDEX notices_pending ON notices(uid, number) WHERE shown IS NULL;
        CREATE INDEX notices_shown ON notices(shown) WHERE shown IS NOT NULL;
        """

    private static let accounts = """
        CREATE TABLE accounts(
            id INTEGER PRIMARY KEY,
            endpoint INTEGER NOT NULL,
            player TEXT NOT NULL,
            uid INTEGER NOT NULL,
            remote_id TEXT,
            display_name TEXT,
            tokens BLOB,
            linked INTEGER NOT NULL,
            expires INTEGER,
            UNIQUE(endpoint, player)
        ) STRICT;
        """

    private static let bookkeeping = [
        """
        CREATE TABLE endpoints(
            id INTEGER PRIMARY KEY,
            name TEXT NOT NULL UNIQUE,
            fingerprint TEXT,
            last_success INTEGER
        ) STRICT;
        """,
        """
        CREATE TABLE pauses(
            endpoint INTEGER NOT NULL,
            player TEXT NOT NULL DEFAULT '',
            reason TEXT NOT NULL,
            since INTEGER NOT NULL,
            PRIMARY KEY(endpoint, player)
        ) STRICT, WITHOUT ROWID;
        """,
        """
        CREATE TABLE counters(
            endpoint INTEGER NOT NULL,
            state TEXT NOT NULL,
            count INTEGER NOT NULL CHECK(count >= 0),
            PRIMARY KEY(endpoint, state)
        ) STRICT, WITHOUT ROWID;
        """,
        "CREATE TABLE meta(name TEXT PRIMARY KEY, value TEXT NOT NULL) STRICT, WITHOUT ROWID;",
    ]
}
