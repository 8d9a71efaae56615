//go:build !unix

package main

// mostFiles is not known on this system.
func mostFiles() (uint64, bool) { return 0, false }
