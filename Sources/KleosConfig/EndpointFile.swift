import KleosModel

/// `endpoints.d/*.conf`: what such a file may say.
package enum EndpointFile {
    static let name = Setting(
        "Name", .text("a name"), standard: "", standardNote: "the file's name without .conf",
        "What games and commands call the endpoint.")
    static let url = Setting(
        "URL", ValueReader.url.orNothing(), standard: "", isRequired: true,
        "The service's address; /v1/scores and /v1/achievements are added to it.")
    static let resend = Setting(
        "Resend", ValueReader<ResendEffect>.enumeration, standard: "keyed",
        "What the service does with an event that it gets a second time: keyed (it knows the idempotency key and "
            + "answers as at first), keeps-best (a second send changes nothing), last-write (what is sent overwrites "
            + "what was there) or accumulates (it counts twice).")
    static let atLeastOnce = Setting(
        "AtLeastOnce", .boolean, standard: "no",
        "At a service that accumulates, whether an event whose answer was lost is sent again, and so may count twice. "
            + "Otherwise it ends dead with the reason ambiguous.")
    static let tokenFile = Setting(
        "TokenFile", .text("a path"), standard: "",
        "A file that holds the token for \"Authorization: Bearer\". Only the daemon's user may be able to read it. A "
            + "relative path starts at the folder of the file that says it. Read again at each reload.")
    static let tokenCredential = Setting(
        "TokenCredential", .text("a name"), standard: "",
        "In place of TokenFile=, the name of a credential that the service manager passes, as with "
            + "LoadCredential=NAME:/path in a drop-in of kleosd.service.")
    static let allowInsecure = Setting(
        "AllowInsecure", .boolean, standard: "no",
        "Whether URL= may be plain http to another machine. Anyone on the way can then read and change everything.")
    static let certificateAuthorities = Setting(
        "CertificateAuthorities", .text("a path"), standard: "",
        "A file with certificate authorities in PEM form, trusted in place of the system's. A relative path starts at "
            + "the folder of the file that says it. Read again at each connection.")

    static let base = Setting(
        "Base", .duration(250...3_600_000), standard: "2s",
        "After the first failure the next try comes within this; each further failure doubles it.")
    static let cap = Setting(
        "Cap", .duration(250...604_800_000), standard: "1h", "The longest time between two tries.")
    static let maximumAge = Setting(
        "MaximumAge", ValueReader.duration(60_000...3_153_600_000_000).orInfinity(), standard: "30d",
        "Events older than this are treated as WhenOlder= says.")
    static let whenOlder = Setting(
        "WhenOlder", ValueReader<OverageRule>.enumeration, standard: "expire",
        "What becomes of an event older than MaximumAge=: expire (it ends dead), send (it is sent all the same) or "
            + "clamp (it is sent as if it had happened at the limit).")
    static let maximumServerErrors = Setting(
        "MaxServerErrors", .integer(1...1_000_000), standard: "20",
        "So many answers of 500 and above for one event, from a service that confirms others meanwhile, end it.")
    static let throttleScope = Setting(
        "ThrottleScope", ValueReader<ThrottleScope>.enumeration, standard: "endpoint",
        "What has to slow down when the service asks for it: all that goes to the endpoint, one player's or one board's."
    )

    static let inFlight = Setting("InFlight", .integer(1...256), standard: "8", "Requests under way at once.")
    static let requestsPerMinute = Setting(
        "RequestsPerMinute", ValueReader.integer(1...1_000_000).orInfinity(), standard: "infinity",
        "Requests that may start in a minute.")
    static let connectTimeout = Setting(
        "ConnectTimeout", .duration(100...600_000), standard: "10s", "How long a connection may take to come about.")
    static let timeout = Setting(
        "Timeout", .duration(100...3_600_000), standard: "30s", "How long a request may take, answer included.")
    static let maximumAnswer = Setting(
        "MaximumAnswer", .size(1 << 10...64 << 20), standard: "256K", "A longer answer is cut off and not believed.")

    private static let secretRefusal =
        "must not stand in this file, which others can read; put it into a file of mode 0600 and name that with "
        + "TokenFile="

    /// What such a file may say.
    package static let definition = FileDefinition(
        name: "endpoints.d/*.conf",
        documentation: "One file for each service that events are submitted to.",
        sections: [
            SectionDefinition(
                name: "Endpoint", argument: nil, documentation: "The service.",
                settings: [
                    name.definition, url.definition, resend.definition, atLeastOnce.definition,
                    tokenFile.definition, tokenCredential.definition, allowInsecure.definition,
                    certificateAuthorities.definition,
                ],
                refusals: ["Token": secretRefusal, "Password": secretRefusal, "Secret": secretRefusal]),
            SectionDefinition(
                name: "Retry", argument: nil, documentation: "What happens when the service fails.",
                settings: [
                    base.definition, cap.definition, maximumAge.definition, whenOlder.definition,
                    maximumServerErrors.definition, throttleScope.definition,
                ]),
            SectionDefinition(
                name: "Limits", argument: nil, documentation: "What the service can take.",
                settings: [
                    inFlight.definition, requestsPerMinute.definition, connectTimeout.definition, timeout.definition,
                    maximumAnswer.definition,
                ]),
        ])

    /// What an endpoint's file is called in every folder of the search path.
    static func logicalName(_ name: String) -> String { "endpoints.d/\(name).conf" }
}
