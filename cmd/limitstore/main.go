// Command limitstore is the server: it reads the flags, puts the packages
// together, listens, and ends when it is told to. It is the only place that ends
// the process, and it decides nothing that a client could see: that is for the
// packages it joins.
package main

import (
	"context"
	"fmt"
	"os"
	"os/signal"
	"syscall"
)

func main() { os.Exit(start()) }

// start runs the program until it is done or a signal says so. The first SIGTERM
// or SIGINT lets connections finish. The signals are given back to the system
// before that begins, so that a second one ends the process at once.
func start() int {
	ctx, cancel := context.WithCancelCause(context.Background())
	defer cancel(nil)
	told := make(chan os.Signal, 1)
	signal.Notify(told, os.Interrupt, syscall.SIGTERM)
	go func() {
		which := <-told
		signal.Stop(told)
		cancel(fmt.Errorf("signal: %v", which))
	}()
	if asRedis(os.Args[0], os.Args[1:]) {
		return runRedis(ctx, os.Args[1:], os.Stdin, os.Stdout, os.Stderr)
	}
	return run(ctx, os.Args[1:], os.Stdout, os.Stderr)
}
