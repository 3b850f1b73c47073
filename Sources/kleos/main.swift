import Glibc
import KleosCommandLine

exit(KleosProgram.run(Array(CommandLine.arguments.dropFirst()), terminal: .standard()))
