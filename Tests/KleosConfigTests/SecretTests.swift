import Glibc
import KleosConfig
import KleosModel
import KleosSupport
import Testing

@Suite struct SecretTests {
    private static let secret = "s3cr3t-t0ken"

    private func folder(_ lines: String = "TokenFile=home.token\n") throws -> ConfigurationFolder {
        try ConfigurationFolder(["endpoints.d/home.conf": "[Endpoint]\nURL=https://scores.example.org\n\(lines)"])
    }

    @Test func aClosedFileBesideItsConfigurationIsRead() throws {
        let folder = try folder()
        try folder.write("endpoints.d/home.token", "\(Self.secret)\n", mode: 0o600)
        let configuration = try folder.load()
        #expect(configuration.endpoints["home"]?.token?.exposed == Self.secret)
        let token = configuration.settings.first { $0.key == "Token" }
        #expect(token?.value == "(secret)")
        #expect(token?.source.description == folder.path("endpoints.d/home.token"))
        var text = ""
        dump(configuration, to: &text)
        #expect(!text.contains(Self.secret) && !"\(configuration)".contains(Self.secret))
    }

    @Test("S-05: a token file that others may read is refused", arguments: [0o640 as mode_t, 0o604, 0o644, 0o601])
    func aFileThatOthersMayReadIsRefused(mode: mode_t) throws {
        let folder = try folder()
        try folder.write("endpoints.d/home.token", Self.secret, mode: mode)
        #expect(
            folder.problems()
                == "endpoints.d/home.conf:3: TokenFile=home.token: endpoints.d/home.token has mode "
                + "0\(String(mode, radix: 8)), so that others may read it; run \"chmod 600 endpoints.d/home.token\"")
    }

    @Test(
        "S-05: a token file of somebody else is refused", .enabled(if: getuid() == 0, "needs root, to give a file away")
    )
    func aFileOfSomebodyElseIsRefused() throws {
        var folder = try folder()
        try folder.write("endpoints.d/home.token", Self.secret, mode: 0o600)
        folder.daemonUID = 990
        #expect(folder.problems() == "")
        #expect(chown(folder.path("endpoints.d/home.token"), 1_001, 1_001) == 0)
        #expect(
            folder.problems()
                == "endpoints.d/home.conf:3: TokenFile=home.token: endpoints.d/home.token belongs to user 1001, not to "
                + "the daemon's user 990; run \"chown 990 endpoints.d/home.token\"")
    }

    @Test(arguments: ["", "\n", "two\nlines\n", "with space", "tab\there", "umlaut-\u{E4}"])
    func contentsThatAreNoTokenAreRefusedWithoutRepeatingThem(text: String) throws {
        let folder = try folder()
        try folder.write("endpoints.d/home.token", text, mode: 0o600)
        #expect(
            folder.problems()
                == "endpoints.d/home.conf:3: TokenFile=home.token: endpoints.d/home.token must hold one line of visible "
                + "ASCII characters without spaces")
    }

    @Test func aMissingFileIsAnError() throws {
        #expect(
            try folder().problems()
                == "endpoints.d/home.conf:3: TokenFile=home.token: cannot open endpoints.d/home.token: No such file or "
                + "directory")
    }

    @Test func credentialsComeFromTheServiceManager() throws {
        var folder = try folder("TokenCredential=home\n")
        #expect(
            folder.problems()
                == "endpoints.d/home.conf:3: TokenCredential=home: the service manager passes no credentials; add "
                + "\"LoadCredential=home:/path\" to kleosd.service and restart it, or use TokenFile=")
        try folder.write("credentials/home", Self.secret, mode: 0o400)
        folder.credentialsDirectory = folder.path("credentials")
        #expect(try folder.load().endpoints["home"]?.token?.exposed == Self.secret)
    }

    @Test func credentialsHaveNamesAndNotPaths() throws {
        var folder = try folder("TokenCredential=../x\n")
        folder.credentialsDirectory = folder.path
        #expect(
            folder.problems()
                == "endpoints.d/home.conf:3: TokenCredential=../x: a credential's name has no \"/\"; for a path use "
                + "TokenFile=")
    }

    @Test("S-07: a secret in a configuration file is refused, and not repeated")
    func secretsInAConfigurationFileAreRefusedWithoutRepeatingThem() throws {
        let folder = try folder("Token=\(Self.secret)\n")
        #expect(
            folder.problems()
                == "endpoints.d/home.conf:3: Token= must not stand in this file, which others can read; put it into a "
                + "file of mode 0600 and name that with TokenFile=")
        let inAddress = try ConfigurationFolder([
            "endpoints.d/e.conf": "[Endpoint]\nURL=https://user:\(Self.secret)@scores.example.org\n"
        ])
        #expect(!inAddress.problems().contains(Self.secret))
        #expect(
            inAddress.problems().hasSuffix("an address must not contain a user or password; use TokenFile="))
    }

    @Test func oneSourceIsEnough() throws {
        let folder = try folder("TokenFile=home.token\nTokenCredential=home\n")
        #expect(
            folder.problems()
                == "endpoints.d/home.conf:4: TokenCredential=home: TokenFile= is set too; remove one of them")
    }

    @Test func aCheckBySomebodyElseLeavesSecretsOut() throws {
        var folder = try folder()
        folder.readsSecrets = false
        #expect(try folder.load().endpoints["home"]?.token == nil)
    }
}
