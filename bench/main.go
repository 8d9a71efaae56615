// Command bench is limitstore bench as a program of its own: go run ./bench.
package main

import (
	"context"
	"os"
	"os/signal"
	"syscall"

	"github.com/limitstore/limitstore/bench/compare"
)

func main() { os.Exit(start()) }

// start runs the benchmark until it is done. The first signal lets it print what
// it has; a second one ends the process at once.
func start() int {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	context.AfterFunc(ctx, stop)
	return compare.Bench(ctx, compare.Program(), os.Args[1:], os.Stdout, os.Stderr)
}
