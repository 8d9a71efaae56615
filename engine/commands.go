package engine

import "slices"

// Commands are the rows of the data commands, chapter by chapter. Each chapter
// is declared in the file that also runs it.
func Commands() []Command {
	return slices.Concat(
		bucketCommands(), leakyCommands(), fixedCommands(), slidingCommands(), logCommands(), throttleCommands(),
		stringCommands(), counterCommands(), increxCommands(),
		hashCommands(), setCollectionCommands(), sortedCommands(), listCommands(), popFirstCommands(),
		keyCommands(), copyCommands(), expireCommands(), scanCommands(), databaseCommands(), transactionCommands(), scriptCommands(), functionCommands(),
	)
}
