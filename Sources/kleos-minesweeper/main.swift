import Glibc
import KleosMinesweeper

exit(MinesweeperProgram.run(Array(CommandLine.arguments.dropFirst())))
