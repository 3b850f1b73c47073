import Glibc
import KleosPractice

exit(PracticeProgram.run(Array(CommandLine.arguments.dropFirst())))
