package script

import (
	"bytes"
	"crypto/sha1"
	"encoding/hex"
	"errors"
	"strings"
)

// chunkName is what Redis calls a script in messages.
const chunkName = "user_script"

// Script is a compiled script. It is never changed: any number of machines may
// run it at once.
type Script struct {
	sha    string
	source []byte
	flags  []string
	main   *function
}

// SHA returns the SHA-1 of the source, in lower-case hex.
func (s *Script) SHA() string { return s.sha }

// Source returns the source as it was given.
func (s *Script) Source() []byte { return s.source }

// Flags returns what the first line says after flags=, as in
// "#!lua flags=no-writes,allow-oom"; nil without such a line.
func (s *Script) Flags() []string { return s.flags }

// HasFlags says whether the source begins with #!lua: Redis 7 treats only such
// scripts by their flags.
func (s *Script) HasFlags() bool { return bytes.HasPrefix(s.source, []byte("#!")) }

// Compile compiles a source. Its errors are worded as Redis words them, without
// the code ERR.
func Compile(source []byte) (*Script, error) {
	sum := sha1.Sum(source)
	s := &Script{sha: hex.EncodeToString(sum[:]), source: bytes.Clone(source)}
	code, err := s.shebang(s.source)
	if err != nil {
		return nil, err
	}
	p, err := compile("@"+chunkName, chunkName, code)
	if err != nil {
		return nil, redisText("Error compiling script (new function): " + err.Error())
	}
	s.main = &function{proto: p}
	s.main.kind, s.main.fn = kindFunction, s.main
	return s, nil
}

// knownFlags are the flags that Redis 7 knows.
var knownFlags = []string{"no-writes", "allow-oom", "allow-stale", "no-cluster", "allow-cross-slot-keys"}

// shebang reads a first line #!lua and returns what follows it. The line's end
// stays, so that lines count from it.
func (s *Script) shebang(src []byte) ([]byte, error) {
	if !bytes.HasPrefix(src, []byte("#!")) {
		return src, nil
	}
	end := bytes.IndexByte(src, '\n')
	if end < 0 {
		return nil, redisText("Invalid script shebang")
	}
	words := strings.Fields(string(src[:end]))
	if words[0] != "#!lua" {
		return nil, redisText("Unexpected engine in script shebang: " + words[0])
	}
	for _, word := range words[1:] {
		list, ok := strings.CutPrefix(word, "flags=")
		if !ok {
			return nil, redisText("Unknown lua shebang option: " + word)
		}
		if err := s.addFlags(list); err != nil {
			return nil, err
		}
	}
	return src[end:], nil
}

func (s *Script) addFlags(list string) error {
	for _, flag := range strings.Split(list, ",") {
		known := flag == ""
		for _, k := range knownFlags {
			known = known || flag == k
		}
		if !known {
			return redisText("Unexpected flag in script shebang: " + flag)
		}
		if flag != "" {
			s.flags = append(s.flags, flag)
		}
	}
	return nil
}

// compile makes a function of a source; chunk is how messages show its name.
func compile(source, chunk string, src []byte) (p *proto, err error) {
	defer func() {
		if r := recover(); r != nil {
			wrong, ok := r.(syntaxError)
			if !ok {
				panic(r)
			}
			err = errors.New(wrong.text)
		}
	}()
	return generate(source, chunk, nil, parse(chunk, src)), nil
}
