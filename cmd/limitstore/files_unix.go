//go:build unix

package main

import "syscall"

// mostFiles is how many files the process may have open at once.
func mostFiles() (uint64, bool) {
	var limit syscall.Rlimit
	err := syscall.Getrlimit(syscall.RLIMIT_NOFILE, &limit)
	return uint64(limit.Cur), err == nil
}
