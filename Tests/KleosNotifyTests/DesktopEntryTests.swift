import KleosNotify
import Testing

@Suite struct DesktopEntryTests {
    private func command(_ exec: String, _ more: String = "") -> [String]? {
        DesktopEntry.command("[Desktop Entry]\nType=Application\nName=My Game\nExec=\(exec)\n\(more)")
    }

    @Test func readsTheWords() {
        #expect(command("/usr/games/mygame --full") == ["/usr/games/mygame", "--full"])
        #expect(command("  mygame   a ") == ["mygame", "a"])
        #expect(command(#""/opt/My Game/run" "a \\"b\\" \\$c \\\\d""#) == ["/opt/My Game/run", #"a "b" $c \d"#])
        #expect(command(#"mygame """#) == ["mygame", ""])
        #expect(command(#"mygame\sone"#) == ["mygame", "one"])
    }

    @Test func leavesOutTheCodesForFiles() {
        #expect(command("mygame %U %f --name %c 100%%") == ["mygame", "--name", "My Game", "100%"])
    }

    @Test func saysWhereItRuns() {
        func folder(_ line: String) -> String? { DesktopEntry.folder("[Desktop Entry]\nExec=x\n\(line)\n") }
        #expect(folder(#"Path=/opt/My\sGame"#) == "/opt/My Game")
        #expect(folder("Path=") == nil)
        #expect(folder("Path=games") == nil)
        #expect(folder("Name=x") == nil)
    }

    @Test func takesTheMainGroupOnly() {
        let text = "[Desktop Action new]\nExec=other\n[Desktop Entry]\nExec=mygame\n[Desktop Action old]\nExec=third\n"
        #expect(DesktopEntry.command(text) == ["mygame"])
    }

    @Test func opensATerminalForAGameThatNeedsOne() {
        #expect(command("mygame", "Terminal=true\n") == ["x-terminal-emulator", "-e", "mygame"])
    }

    @Test(arguments: ["", "%U", #""open"#, #"mygame "x"#])
    func refusesWhatIsNoCommand(exec: String) {
        #expect(command(exec) == nil)
    }

    @Test func refusesAFileWithoutOne() {
        #expect(DesktopEntry.command("[Desktop Entry]\nName=x\n") == nil)
        #expect(DesktopEntry.command("") == nil)
    }
}
