package server

import (
	"fmt"

	"github.com/limitstore/limitstore/engine"
)

// failure names one row of the table of errors.
type failure uint8

// The errors of connections. Those that Redis 7 has too are Redis 7's, to the
// letter.
const (
	failNoAuth failure = iota
	failHelloNoAuth
	failWrongPass
	failNoPassword
	failProtoNumber
	failProtoVersion
	failHelloOption
	failClientName
	failLongName
	failClientInfo
	failClientInfoOption
	failClientID
	failKillID
	failClientType
	failNoClient
	failNoUser
	failNoCommand
	failNoKeys
	failCommandArity
	failNoShutdown
	failShutdownSave
	failShutdownOff
	failTooManyClients
	failSubscribed
	failLongChannel
	failSubscriptions
	failSubcommandSyntax
	failTimeout
	failTimeoutNegative
	failCategory
	failGenPass
	failUserNotFound
	failCommandNotFound
	failConfigUnknown
	failConfigSet
	failSlowlogCount
	failMonitor
	failPauseMode
	failTimeoutLong
	failUnblock
	failMaxAge
	failTracking
	failCaching
)

var failures = [...]engine.ErrorRow{
	failNoAuth:           {Format: "NOAUTH Authentication required.", When: "a password is set and the client has not given it"},
	failHelloNoAuth:      {Format: "NOAUTH HELLO must be called with the client already authenticated, otherwise the HELLO AUTH <user> <pass> option can be used to authenticate the client and select the RESP protocol version at the same time", When: "HELLO without AUTH where a password is set"},
	failWrongPass:        {Format: "WRONGPASS invalid username-password pair or user is disabled.", When: "the password is wrong, or the user is not \"default\""},
	failNoPassword:       {Format: "ERR AUTH <password> called without any password configured for the default user. Are you sure your configuration is correct?", When: "AUTH with a password alone where none is set"},
	failProtoNumber:      {Format: "ERR Protocol version is not an integer or out of range", When: "HELLO with a version that is no number"},
	failProtoVersion:     {Format: "NOPROTO unsupported protocol version", When: "HELLO with a version other than 2 and 3"},
	failHelloOption:      {Format: "ERR Syntax error in HELLO option '%s'", When: "HELLO with an option other than AUTH and SETNAME, or with too few words after one"},
	failClientName:       {Format: "ERR Client names cannot contain spaces, newlines or special characters.", When: "CLIENT SETNAME or HELLO SETNAME with other bytes than ! to ~"},
	failLongName:         {Format: "ERR %s is longer than %d bytes", When: "CLIENT SETNAME, HELLO SETNAME or CLIENT SETINFO with more than is kept for every connection"},
	failClientInfo:       {Format: "ERR %s cannot contain spaces, newlines or special characters.", When: "CLIENT SETINFO with other bytes than ! to ~"},
	failClientInfoOption: {Format: "ERR Unrecognized option '%s'", When: "CLIENT SETINFO of something other than LIB-NAME and LIB-VER"},
	failClientID:         {Format: "ERR Invalid client ID", When: "CLIENT LIST ID with something that is no number"},
	failKillID:           {Format: "ERR client-id should be greater than 0", When: "CLIENT KILL ID with something that is no number above 0"},
	failClientType:       {Format: "ERR Unknown client type '%s'", When: "CLIENT LIST or CLIENT KILL with a TYPE other than NORMAL, MASTER, REPLICA and PUBSUB"},
	failNoClient:         {Format: "ERR No such client", When: "CLIENT KILL of an address that is not connected"},
	failNoUser:           {Format: "ERR No such user '%s'", When: "CLIENT KILL USER with another name than \"default\""},
	failNoCommand:        {Format: "ERR Invalid command specified", When: "COMMAND GETKEYS of a command that does not exist"},
	failNoKeys:           {Format: "ERR The command has no key arguments", When: "COMMAND GETKEYS of a command without keys"},
	failCommandArity:     {Format: "ERR Invalid number of arguments specified for command", When: "COMMAND GETKEYS of a command with too few or too many arguments"},
	failNoShutdown:       {Format: "ERR No shutdown in progress.", When: "SHUTDOWN ABORT: a shutdown that has begun is not stopped"},
	failShutdownSave:     {Format: "ERR nothing is kept on disk: use SHUTDOWN or SHUTDOWN NOSAVE", When: "SHUTDOWN SAVE"},
	failShutdownOff:      {Format: "ERR Errors trying to SHUTDOWN. Check logs.", When: "SHUTDOWN in a program that does not let clients end it"},
	failTooManyClients:   {Format: "ERR max number of clients reached", When: "one connection more than the limit; it is closed"},
	failSubscribed:       {Format: "ERR Can't execute '%s': only (P|S)SUBSCRIBE / (P|S)UNSUBSCRIBE / PING / QUIT / RESET are allowed in this context", When: "another command of a subscriber who speaks RESP2"},
	failLongChannel:      {Format: "ERR name is longer than %d bytes", When: "SUBSCRIBE, PSUBSCRIBE or SSUBSCRIBE with a longer name than a channel or a pattern may have"},
	failSubscriptions:    {Format: "ERR a connection may have %d subscriptions", When: "SUBSCRIBE, PSUBSCRIBE or SSUBSCRIBE beyond that; none of its names is subscribed to"},
	failSubcommandSyntax: {Format: "ERR unknown subcommand or wrong number of arguments for '%s'. Try %s HELP.", When: "PUBSUB CHANNELS, ACL CAT, SLOWLOG GET, CLIENT PAUSE and the like with too many words"},
	failTimeout:          {Format: "ERR timeout is not an integer or out of range", When: "WAIT or CLIENT PAUSE with a timeout that is no number"},
	failTimeoutNegative:  {Format: "ERR timeout is negative", When: "WAIT or CLIENT PAUSE with a timeout below 0"},
	failCategory:         {Format: "ERR Unknown category '%s'", When: "ACL CAT of a category that does not exist"},
	failGenPass:          {Format: "ERR ACL GENPASS argument must be the number of bits for the output password, a positive number up to 4096", When: "ACL GENPASS with another number"},
	failUserNotFound:     {Format: "ERR User '%s' not found", When: "ACL DRYRUN with another name than \"default\""},
	failCommandNotFound:  {Format: "ERR Command '%s' not found", When: "ACL DRYRUN of a command that does not exist"},
	failConfigUnknown:    {Format: "ERR Unknown option or number of arguments for CONFIG SET - '%s'", When: "CONFIG SET of a setting that does not exist"},
	failConfigSet:        {Format: "ERR CONFIG SET failed (possibly related to argument '%s') - %s", When: "CONFIG SET of a setting that only a start can change, that promises what is not done, or to a value it cannot have; nothing is set"},
	failSlowlogCount:     {Format: "ERR count should be greater than or equal to -1", When: "SLOWLOG GET with another count"},
	failMonitor:          {Format: "ERR Replica can't interact with the keyspace", When: "a command on keys by a client that has said MONITOR"},
	failPauseMode:        {Format: "ERR CLIENT PAUSE mode must be WRITE or ALL", When: "CLIENT PAUSE with another mode"},
	failTimeoutLong:      {Format: "ERR timeout is longer than %d ms", When: "CLIENT PAUSE for longer than an hour"},
	failUnblock:          {Format: "ERR CLIENT UNBLOCK reason should be TIMEOUT or ERROR", When: "CLIENT UNBLOCK with another reason"},
	failMaxAge:           {Format: "ERR maxage is not an integer or out of range", When: "CLIENT KILL MAXAGE with something that is no number above 0"},
	failTracking:         {Format: "ERR CLIENT TRACKING is not supported", When: "CLIENT TRACKING ON"},
	failCaching:          {Format: "ERR CLIENT CACHING can be called only when the client is in tracking mode with OPTIN or OPTOUT mode enabled", When: "CLIENT CACHING"},
}

// text is the error as it is sent, with the words filled in.
func (f failure) text(words ...any) string {
	if len(words) == 0 {
		return failures[f].Format
	}
	return fmt.Sprintf(failures[f].Format, words...)
}

// fail replies with an error of the table.
func fail(c *engine.Call, f failure, words ...any) {
	c.Out.Error(f.text(words...))
}

// Errors are the errors of connections, for docs/errors.md.
func Errors() []engine.ErrorRow {
	protocol := engine.ErrorRow{
		Format: "ERR Protocol error: %s",
		When:   "bytes that are no command: a length that is no number or beyond its limit, an unbalanced quote; the connection is closed",
	}
	return append(failures[:], protocol)
}

// Limits are the limits of connections, for docs/limits.md.
func Limits() []engine.LimitRow {
	return []engine.LimitRow{
		{Name: "connections", Flag: "--max-clients", WhenHit: "the new connection is told so and closed"},
		{Name: "words of one command", Flag: "--max-args", WhenHit: "protocol error; the connection is closed"},
		{Name: "bytes of one word", Flag: "--max-value", WhenHit: "protocol error; the connection is closed"},
		{Name: "bytes received and not yet run", Flag: "--query-buffer", WhenHit: "the connection is closed"},
		{Name: "bytes of an inline command", Default: "64 KiB", WhenHit: "protocol error; the connection is closed"},
		{Name: "bytes of a connection's name, and of its library's name and version", Default: "1024", WhenHit: "the command is refused; the old one stays"},
		{Name: "words of one command before AUTH", Default: "10", WhenHit: "protocol error; the connection is closed"},
		{Name: "bytes of one word before AUTH", Default: "16 KiB", WhenHit: "protocol error; the connection is closed"},
		{Name: "time without a byte from the client", Flag: "--idle-timeout", WhenHit: "the connection is closed, to within a second"},
		{Name: "time in which a client takes none of its replies, or 256 KiB of many", Flag: "--write-timeout", WhenHit: "the connection is closed, to within a second; a TLS handshake has as long"},
		{Name: "subscriptions of one connection", Flag: "--max-subscriptions", WhenHit: "the command is refused; none of its names is subscribed to"},
		{Name: "bytes of a channel's name", Default: "4096", WhenHit: "SUBSCRIBE is refused; nobody can listen to a longer one"},
		{Name: "bytes of a pattern subscribed to", Default: "1024", WhenHit: "PSUBSCRIBE is refused"},
		{Name: "bytes that wait for one subscriber, its own replies included", Flag: "--subscriber-buffer", WhenHit: "the subscriber is cut off at the next message; nobody else waits"},
		{Name: "time that CLIENT PAUSE makes commands wait", Default: "1 hour", WhenHit: "the command is refused"},
		{Name: "a subscriber with more than a quarter of that waiting", Default: "60 s", WhenHit: "the subscriber is cut off"},
		{Name: "read from a client after a protocol error", Default: "1 s and 1 MiB", WhenHit: "the connection is reset"},
		{Name: "commands in the slow log", Flag: "--slowlog-max-len", WhenHit: "the oldest is forgotten"},
		{Name: "words of a command in the slow log, and bytes of one", Default: "32 and 128", WhenHit: "the rest is counted and not kept"},
		{Name: "seconds of an event of LATENCY", Default: "160", WhenHit: "the oldest is forgotten"},
		{Name: "failures to log in that ACL LOG has", Default: "128", WhenHit: "the oldest is forgotten"},
		{Name: "log lines about one kind of trouble with clients", Default: "1 in 10 s", WhenHit: "they are left out; the next line says how many"},
	}
}
