package server

import (
	"slices"

	"github.com/limitstore/limitstore/engine"
)

const (
	// redisVersion is the Redis whose commands and replies are spoken. Clients
	// choose by it what they send: from 7.0 EXPIRE NX, from 7.2 CLIENT SETINFO.
	redisVersion = "7.2.4"
	// since is the limitstore version that brought the commands of this package.
	since = "0.1.0"
)

// RedisVersion is the Redis whose protocol is spoken, for programs that ask the
// binary.
const RedisVersion = redisVersion

// Commands are the rows of the connection and server chapters. They run only in
// sessions of this package.
func Commands() []engine.Command {
	return slices.Concat(
		handshakeCommands(), clientCommands(), pubsubCommands(), monitorCommands(),
		commandCommands(), infoCommands(), configCommands(), memoryCommands(), timeCommands(), shutdownCommands(),
		aclCommands(), roleCommands(), slowlogCommands(), latencyCommands(),
	)
}
