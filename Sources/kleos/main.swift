import Glibc
import KleosCommandLine
import KleosSupport

StandardStream.occupyMissing()
exit(KleosProgram.run(Array(CommandLine.arguments.dropFirst()), terminal: .standard()))
