package script

import (
	"errors"
	"testing"
)

// FuzzScript wants every source to compile and run without a fault of the engine.
func FuzzScript(f *testing.F) {
	for _, name := range []string{"pure.txt", "libraries.txt"} {
		for _, source := range scripts(f, name) {
			f.Add(source)
		}
	}
	for _, source := range []string{gcraScript, bucketScript, incrScript, observations} {
		f.Add(source)
	}
	m := NewMachine(Options{Limits: Limits{Steps: 200_000, Bytes: 16 << 20}})
	f.Fuzz(func(t *testing.T, source string) {
		s, err := Compile([]byte(source))
		if err != nil {
			return
		}
		_, err = run(t, m, source)
		if errors.Is(err, ErrFailed) {
			t.Fatalf("%s: %v", s.Source(), err)
		}
	})
}
