package server

import (
	"bytes"
	"fmt"
	"os"
	"runtime/metrics"
	"strconv"
)

// residentBytes is the memory the process has of the system. Where that cannot
// be read it is what the Go runtime holds.
func residentBytes() uint64 {
	if text, err := os.ReadFile("/proc/self/statm"); err == nil {
		if fields := bytes.Fields(text); len(fields) > 1 {
			if pages, err := strconv.ParseUint(string(fields[1]), 10, 64); err == nil {
				return pages * uint64(os.Getpagesize())
			}
		}
	}
	held := [2]metrics.Sample{{Name: "/memory/classes/total:bytes"}, {Name: "/memory/classes/heap/released:bytes"}}
	metrics.Read(held[:])
	return held[0].Value.Uint64() - held[1].Value.Uint64()
}

// human is a number of bytes as INFO spells it for people.
func human(bytes uint64) string {
	const units = "BKMGTPE"
	unit, value := 0, float64(bytes)
	for value >= 1024 && unit < len(units)-1 {
		value /= 1024
		unit++
	}
	if unit == 0 {
		return fmt.Sprintf("%dB", bytes)
	}
	return fmt.Sprintf("%.2f%c", value, units[unit])
}
