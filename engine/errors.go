package engine

import (
	"bytes"
	"fmt"
	"strings"
)

// ErrorID names one row of the table of errors.
type ErrorID uint8

// The errors of the data commands. Texts of Redis' own commands are Redis 7's,
// to the letter: clients match on them.
const (
	WrongType ErrorID = iota
	NotInteger
	NotFloat
	NaNOrInfinity
	IncrOverflow
	DecrOverflow
	Syntax
	NoSuchKey
	InvalidExpire
	WrongArity
	UnknownCommand
	UnknownSubcommand
	DBIndex
	InvalidCursor
	StringTooLong
	KeyTooLong
	PatternTooLong
	OutOfRange
	BadDuration
	DurationRange
	BadChoice
	UnknownOption
	OptionTwice
	OptionValue
	TooSlowToClear
	TooMuchDebt
	LimiterState
	LimiterExpiry
	OffsetRange
	UnsupportedOption
	NXAndOthers
	GTAndLT
	IdleNotTracked
	FrequencyNotTracked
	ENXAlone
	OptionNotInteger
	OptionNotFloat
	BoundsCrossed
	IncrementInfinite
	ValueInfinite
	AppliedOverflow
	AppliedInfinite
	HashNotInteger
	HashNotFloat
	ValueNaNOrInfinity
	NotPositive
	NotInRange
	NotBetween
	NumKeys
	TooManyKeys
	NegativeLimit
	SameObject
	TooManyElements
	CollectionTooLarge
	TooManyPicks
	MatchingTooLong
	NXAndXX
	GTAndLTAndNX
	IncrPairs
	ScoreNaN
	NotScoreRange
	NotMemberRange
	LimitOfRanks
	ScoresOfMembers
	NoInputKeys
	WeightNotFloat
	IndexRange
	RankZero
	NegativeCount
	NegativeMaxLen
	OutOfMemory
	OutOfChunks
	NestedMulti
	ExecWithoutMulti
	DiscardWithoutMulti
	WatchInMulti
	ExecAborted
	ExecRefused
	NotInMulti
	TransactionLong
	TransactionLarge
	TooManyWatches
	CountZero
	NegativeKeys
	NoSuchScript
	NotBusy
	ScriptLong
	ScriptCacheFull
	ScriptFlushOption
	ScriptUnknown
	ScriptArity
	ScriptForbidden
	ScriptReadOnly
	ScriptWrites
	ScriptStopped
	ScriptKilled
	ScriptSteps
	ScriptBytes
	ScriptTime
	NoSuchFunction
	BadNumKeys
	LibraryExists
	FunctionExists
	NoSuchLibrary
	FunctionFlushOption
	UnknownArgument
	UnknownOptionGiven
	LibraryNameMissing
	ScriptFailed
)

// ErrorRow is one error as the documentation shows it. Format holds fmt verbs
// where the offending word stands.
type ErrorRow struct{ Format, When string }

// Errors is the table docs/errors.md is made from, by ErrorID.
var Errors = [...]ErrorRow{
	WrongType:         {"WRONGTYPE Operation against a key holding the wrong kind of value", "the key holds another kind of value, or a limiter of another family"},
	NotInteger:        {"ERR value is not an integer or out of range", "an argument or the stored value is not a 64-bit integer"},
	NotFloat:          {"ERR value is not a valid float", "an argument or the stored value is not a number"},
	NaNOrInfinity:     {"ERR increment would produce NaN or Infinity", "INCRBYFLOAT would leave the range of numbers"},
	IncrOverflow:      {"ERR increment or decrement would overflow", "the sum does not fit 64 bits"},
	DecrOverflow:      {"ERR decrement would overflow", "DECRBY of the smallest 64-bit integer"},
	Syntax:            {"ERR syntax error", "an option of a Redis command is unknown, repeated or in conflict with another"},
	NoSuchKey:         {"ERR no such key", "RENAME of a key that does not exist"},
	InvalidExpire:     {"ERR invalid expire time in '%s' command", "an expiry of zero, negative or beyond 64 bits of milliseconds"},
	WrongArity:        {"ERR wrong number of arguments for '%s' command", "too few or too many arguments"},
	UnknownCommand:    {"ERR unknown command '%s', with args beginning with: %s", "the command does not exist"},
	UnknownSubcommand: {"ERR unknown subcommand '%s'. Try %s HELP.", "the container has no such subcommand"},
	DBIndex:           {"ERR DB index is out of range", "a database outside 0 to 15"},
	InvalidCursor:     {"ERR invalid cursor", "SCAN with a cursor that is not a number"},
	StringTooLong:     {"ERR string exceeds maximum allowed size (proto-max-bulk-len)", "a value would grow beyond the bulk limit"},
	PatternTooLong:    {"ERR pattern is longer than %d bytes", "KEYS, or SCAN MATCH, with a pattern longer than the key limit"},
	KeyTooLong:        {"ERR key is longer than %d bytes", "a key longer than the key limit; nothing was changed"},
	OutOfRange:        {"ERR %s must be between %d and %d%s", "a number of a limiter command is out of its range or not an integer; a hint may follow"},
	BadDuration:       {"ERR bad %s '%s': use <n>ms|s|m|h|d|w, or a bare number of seconds", "a period, window or wait is not a duration, or does not come out in whole milliseconds"},
	DurationRange:     {"ERR %s must be between 1ms and 3650d", "a period, window or wait is zero or too long"},
	BadChoice:         {"ERR bad %s '%s': use %s", "an option of a limiter command has a fixed choice of values"},
	UnknownOption:     {"ERR unknown option '%s' for '%s'; options: %s", "a limiter command does not have this option"},
	OptionTwice:       {"ERR option %s given twice", "a limiter command's option is repeated"},
	OptionValue:       {"ERR option %s needs a value", "a limiter command's option is the last word"},
	TooSlowToClear:    {"ERR the limiter would need more than 100 years to clear; nothing was charged", "capacity, cost and rate together would overflow or lock the key for ever"},
	TooMuchDebt:       {"ERR a bucket cannot owe more than 1000000000000000000 tokens; nothing was charged", "TB.DEBIT would go beyond it"},
	LimiterState:      {"ERR %s", "the clock stands outside the years 1777 to 2162, or a record is damaged"},
	LimiterExpiry:     {"ERR limiter keys expire by themselves when they are full again; use DEL to reset", "the EXPIRE family or PERSIST on a limiter key"},

	OutOfMemory: {"OOM command not allowed when used memory > 'maxmemory'.", "memory is full, the command may make it grow, and there is no limiter state left that may be given up for it"},
	OutOfChunks: {"OOM the database has no room for as much in this shard: it takes 524287 values above 16 KiB, or 32 GiB of smaller ones", "a database is near the end of the numbers for its chunks of memory, with or without maxmemory"},

	OffsetRange:         {"ERR offset is out of range", "SETRANGE before the beginning"},
	UnsupportedOption:   {"ERR Unsupported option %s", "the EXPIRE family has no such option"},
	NXAndOthers:         {"ERR NX and XX, GT or LT options at the same time are not compatible", "the EXPIRE family with NX and another condition"},
	GTAndLT:             {"ERR GT and LT options at the same time are not compatible", "the EXPIRE family with both"},
	IdleNotTracked:      {"ERR idle time is not tracked", "OBJECT IDLETIME"},
	FrequencyNotTracked: {"ERR An LFU maxmemory policy is not selected, access frequency not tracked. Please note that when switching between policies at runtime LRU and LFU data will take some time to adjust.", "OBJECT FREQ"},
	ENXAlone:            {"ERR ENX flag requires an expiration", "INCREX with ENX and without EX, PX, EXAT or PXAT"},
	OptionNotInteger:    {"ERR %s is not an integer or out of range", "a number of INCREX is no 64-bit integer"},
	OptionNotFloat:      {"ERR %s is not a valid float", "a number of INCREX BYFLOAT is none"},
	BoundsCrossed:       {"ERR LBOUND can't be greater than UBOUND", "INCREX between bounds that leave nothing"},
	IncrementInfinite:   {"ERR BYFLOAT increment cannot be Infinity", "INCREX BYFLOAT inf"},
	ValueInfinite:       {"ERR value cannot be Infinity", "INCREX BYFLOAT of a key that holds inf"},
	AppliedOverflow:     {"ERR applied increment would overflow", "INCREX SATURATE would move the value further than 64 bits tell"},
	HashNotInteger:      {"ERR hash value is not an integer", "HINCRBY of a field whose value is no 64-bit integer"},
	HashNotFloat:        {"ERR hash value is not a float", "HINCRBYFLOAT of a field whose value is no number"},
	ValueNaNOrInfinity:  {"ERR value is NaN or Infinity", "HINCRBYFLOAT by infinity"},
	NotPositive:         {"ERR value is out of range, must be positive", "SPOP, LPOP or ZPOPMIN with a count that is negative or no integer"},
	NotInRange:          {"ERR value is out of range", "HRANDFIELD WITHVALUES or ZRANDMEMBER WITHSCORES with a count beyond 63 bits"},
	NotBetween:          {"ERR value is out of range, value must between %d and %d", "a count of SRANDMEMBER or HRANDFIELD, or a database of COPY or MOVE, beyond the integers Redis takes"},
	NumKeys:             {"ERR numkeys should be greater than 0", "a number of keys that is none"},
	TooManyKeys:         {"ERR Number of keys can't be greater than number of args", "a number of keys, and fewer keys"},
	NegativeLimit:       {"ERR LIMIT can't be negative", "SINTERCARD or ZINTERCARD with a LIMIT that is negative or no integer"},
	SameObject:          {"ERR source and destination objects are the same", "COPY or MOVE to where the key is"},
	TooManyElements:     {"ERR a collection holds at most %d elements", "a hash, set, sorted set or list would have more than --max-elements; nothing was changed"},
	CollectionTooLarge:  {"ERR a collection takes at most %d bytes of memory", "a hash, set, sorted set or list would become larger; nothing was changed"},
	TooManyPicks:        {"ERR at most %d elements can be drawn with repetitions", "SRANDMEMBER, HRANDFIELD or ZRANDMEMBER with a count below -(--max-elements)"},
	MatchingTooLong:     {"ERR matching the pattern takes more than %d steps; use a simpler one or a smaller COUNT", "HSCAN or SSCAN MATCH with a long pattern of many stars on long names"},
	AppliedInfinite:     {"ERR applied increment would be Infinity", "INCREX BYFLOAT SATURATE would move the value without end"},

	NXAndXX:             {"ERR XX and NX options at the same time are not compatible", "ZADD with both"},
	GTAndLTAndNX:        {"ERR GT, LT, and/or NX options at the same time are not compatible", "ZADD with two of them"},
	IncrPairs:           {"ERR INCR option supports a single increment-element pair", "ZADD INCR with several members"},
	ScoreNaN:            {"ERR resulting score is not a number (NaN)", "ZINCRBY or ZADD INCR from infinity to minus infinity"},
	NotScoreRange:       {"ERR min or max is not a float", "a range of scores whose end is no number"},
	NotMemberRange:      {"ERR min or max not valid string range item", "a range of members whose end does not begin with [ or ( and is not - or +"},
	LimitOfRanks:        {"ERR syntax error, LIMIT is only supported in combination with either BYSCORE or BYLEX", "ZRANGE or ZREVRANGE by rank with LIMIT"},
	ScoresOfMembers:     {"ERR syntax error, WITHSCORES not supported in combination with BYLEX", "a range of members with WITHSCORES"},
	NoInputKeys:         {"ERR at least 1 input key is needed for '%s' command", "ZUNION and its relatives with a number of keys that is none"},
	WeightNotFloat:      {"ERR weight value is not a float", "ZUNION or ZINTER with a weight that is no number"},
	IndexRange:          {"ERR index out of range", "LSET beyond the ends of the list"},
	RankZero:            {"ERR RANK can't be zero: use 1 to start from the first match, 2 from the second ... or use negative to start from the end of the list", "LPOS RANK 0"},
	NegativeCount:       {"ERR COUNT can't be negative", "LPOS with a COUNT that is negative or no integer"},
	NegativeMaxLen:      {"ERR MAXLEN can't be negative", "LPOS with a MAXLEN that is negative or no integer"},
	NestedMulti:         {"ERR MULTI calls can not be nested", "MULTI after MULTI; the transaction goes on"},
	ExecWithoutMulti:    {"ERR EXEC without MULTI", "EXEC where no transaction was begun"},
	DiscardWithoutMulti: {"ERR DISCARD without MULTI", "DISCARD where no transaction was begun"},
	WatchInMulti:        {"ERR WATCH inside MULTI is not allowed", "WATCH after MULTI; the transaction goes on"},
	ExecAborted:         {"EXECABORT Transaction discarded because of previous errors.", "EXEC after a command of the transaction was refused; nothing was run"},
	ExecRefused:         {"EXECABORT Transaction discarded because of: %s", "EXEC itself was refused"},
	NotInMulti:          {"ERR Command not allowed inside a transaction", "a command that ends the server, after MULTI"},
	TransactionLong:     {"ERR a transaction has at most %d commands", "one command more after MULTI"},
	TransactionLarge:    {"ERR a transaction takes at most %d bytes", "a command after MULTI that is too much with those queued"},
	TooManyWatches:      {"ERR a connection watches at most %d keys", "WATCH of more; those watched already stay so"},
	CountZero:           {"ERR count should be greater than 0", "ZMPOP or LMPOP with a COUNT that is none"},
	NegativeKeys:        {"ERR Number of keys can't be negative", "EVAL with a number of keys below 0"},
	NoSuchScript:        {"NOSCRIPT No matching script. Please use EVAL.", "EVALSHA of a script that is not in the cache"},
	NotBusy:             {"NOTBUSY No scripts in execution right now.", "SCRIPT KILL while no script runs"},
	ScriptLong:          {"ERR a script has at most %d bytes", "EVAL or SCRIPT LOAD of a longer one"},
	ScriptCacheFull:     {"OOM the cache of scripts is full: it takes %d bytes", "SCRIPT LOAD of one more"},
	ScriptFlushOption:   {"ERR SCRIPT FLUSH only support SYNC|ASYNC option", "SCRIPT FLUSH with another word"},
	ScriptUnknown:       {"ERR Unknown Redis command called from script", "redis.call of a command that does not exist"},
	ScriptArity:         {"ERR Wrong number of args calling Redis command from script", "redis.call with too few or too many words"},
	ScriptForbidden:     {"ERR This Redis command is not allowed from script", "redis.call of a command that is about the connection, the server or scripts"},
	ScriptReadOnly:      {"ERR Write commands are not allowed from read-only scripts.", "a command that writes in EVAL_RO or a script with the flag no-writes"},
	ScriptWrites:        {"ERR Can not execute a script with write flag using *_ro command.", "EVAL_RO of a script that begins with #!lua and has not the flag no-writes"},
	ScriptStopped:       {"ERR the script is being stopped", "redis.call in a script that will start again on all shards, or has taken too much memory; no client sees it"},
	ScriptKilled:        {"ERR Error running script, script killed by user with SCRIPT KILL.", "a script that was killed; it has changed nothing"},
	ScriptSteps:         {"ERR the script took more than %d instructions: it was stopped and has changed nothing", "a script that does not end"},
	ScriptBytes:         {"ERR the script took more than %d bytes: it was stopped and has changed nothing", "a script that takes too much memory"},
	ScriptTime:          {"ERR the script took longer than %v: it was stopped and has changed nothing", "a script that is too slow"},
	NoSuchFunction:      {"ERR Function not found", "FCALL of a function that no library has"},
	BadNumKeys:          {"ERR Bad number of keys provided", "FCALL with a number of keys that is no number"},
	LibraryExists:       {"ERR Library '%s' already exists", "FUNCTION LOAD without REPLACE of a library that there is"},
	FunctionExists:      {"ERR Function %s already exists", "FUNCTION LOAD of a library with a function that another library has"},
	NoSuchLibrary:       {"ERR Library not found", "FUNCTION DELETE of a library that there is not"},
	FunctionFlushOption: {"ERR FUNCTION FLUSH only supports SYNC|ASYNC option", "FUNCTION FLUSH with another word"},
	UnknownArgument:     {"ERR Unknown argument %s", "FUNCTION LIST with another word"},
	UnknownOptionGiven:  {"ERR Unknown option given: %s", "FUNCTION LOAD with another word than REPLACE"},
	LibraryNameMissing:  {"ERR library name argument was not given", "FUNCTION LIST LIBRARYNAME with nothing behind it"},
	ScriptFailed:        {"ERR %v: the script was stopped and has changed nothing", "a fault of limitstore, met while a script ran"},
}

// Text is the error as it is sent, with the words filled in.
func (id ErrorID) Text(words ...any) string {
	if len(words) == 0 {
		return Errors[id].Format
	}
	return fmt.Sprintf(Errors[id].Format, words...)
}

// shownBytes bounds how much of an offending word an error repeats, as Redis
// does.
const shownBytes = 128

// Printable is a word made safe to repeat in an error, as far as Redis repeats
// it: to the first zero byte.
func Printable(word []byte) string {
	word, _, _ = bytes.Cut(word, []byte{0})
	shown := bytes.Clone(word[:min(len(word), shownBytes)])
	for i, b := range shown {
		if b == '\r' || b == '\n' {
			shown[i] = ' '
		}
	}
	return string(shown)
}

// unknownCommand words the error as Redis 7 does: the first arguments are shown
// until about 128 bytes are full.
func unknownCommand(args [][]byte) string {
	var shown strings.Builder
	for _, a := range args[1:] {
		if shown.Len() >= shownBytes {
			break
		}
		room := shownBytes - shown.Len()
		fmt.Fprintf(&shown, "'%s' ", Printable(a[:min(len(a), room)]))
	}
	return UnknownCommand.Text(Printable(args[0]), shown.String())
}
