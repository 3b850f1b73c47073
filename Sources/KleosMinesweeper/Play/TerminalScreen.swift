import Glibc
import KleosSupport

/// A terminal that the game has to itself: every key at once, nothing echoed, a screen of its own.
final class TerminalScreen {
    private let original: termios
    private var shown: [String] = []
    private var isEntered = false

    /// Remembers how the terminal is. Throws `SystemError` where there is none.
    init() throws(SystemError) {
        var settings = termios()
        guard tcgetattr(STDIN_FILENO, &settings) == 0 else { throw SystemError("read the terminal's settings") }
        original = settings
    }

    deinit {
        leave()
    }

    /// Takes the terminal over.
    func enter() {
        var settings = original
        cfmakeraw(&settings)
        tcsetattr(STDIN_FILENO, TCSADRAIN, &settings)
        isEntered = true
        shown = []
        // Another screen, no cursor, news of the window's focus, no wrapping of lines.
        put("\u{1B}[?1049h\u{1B}[?25l\u{1B}[?1004h\u{1B}[?7l\u{1B}[2J")
    }

    /// Gives the terminal back as it was.
    func leave() {
        guard isEntered else { return }
        isEntered = false
        put("\u{1B}[0m\u{1B}[?7h\u{1B}[?1004l\u{1B}[?25h\u{1B}[?1049l")
        var settings = original
        tcsetattr(STDIN_FILENO, TCSADRAIN, &settings)
    }

    /// Forgets what is shown, so that everything is drawn anew.
    func forget() {
        shown = []
        put("\u{1B}[2J")
    }

    /// Asks for the player's attention; a terminal cannot come to the front by itself.
    func ring() {
        put("\u{07}")
    }

    /// Shows lines from the top; only those that changed are written.
    func show(_ lines: [String]) {
        var text = ""
        for (row, line) in lines.enumerated() where row >= shown.count || shown[row] != line {
            text += "\u{1B}[\(row + 1);1H\(line)\u{1B}[K"
        }
        shown = lines
        if !text.isEmpty { put(text) }
    }

    /// The terminal's size now; 80×24 where it does not tell.
    var size: PlayScreen.Size {
        var size = winsize()
        guard ioctl(STDOUT_FILENO, UInt(TIOCGWINSZ), &size) == 0, size.ws_col > 0, size.ws_row > 0 else {
            return PlayScreen.Size(columns: 80, rows: 24)
        }
        return PlayScreen.Size(columns: Int(size.ws_col), rows: Int(size.ws_row))
    }

    private func put(_ text: String) {
        StandardStream.output.write(text)
    }
}
