package main

import (
	"context"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/http/pprof"
	"sync/atomic"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
	"github.com/prometheus/client_golang/prometheus/promhttp"
)

// web answers an operator's questions over HTTP: is the process alive, does it
// take clients, what has it done.
type web struct {
	ready  atomic.Bool // clients are taken
	server http.Server
}

// The limits of a connection to the web. A scrape is one small request.
const (
	webTimeout = 10 * time.Second
	webHeader  = 16 << 10
)

// newWeb makes the handlers. They show what register registers, and the Go
// runtime and the process beside it; with profiles, also where the time goes.
func newWeb(register func(prometheus.Registerer), profiles bool, log *slog.Logger) *web {
	registry := prometheus.NewRegistry()
	registry.MustRegister(collectors.NewGoCollector(), collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}))
	register(registry)

	w := &web{}
	mux := http.NewServeMux()
	mux.Handle("GET /metrics", promhttp.HandlerFor(registry, promhttp.HandlerOpts{}))
	mux.HandleFunc("GET /livez", func(out http.ResponseWriter, _ *http.Request) { answer(out, true) })
	mux.HandleFunc("GET /readyz", func(out http.ResponseWriter, _ *http.Request) { answer(out, w.ready.Load()) })
	if profiles {
		addProfiles(mux)
	}
	w.server = http.Server{
		Handler: mux, ReadTimeout: webTimeout, WriteTimeout: webTimeout, IdleTimeout: webTimeout, MaxHeaderBytes: webHeader,
		ErrorLog: slog.NewLogLogger(log.Handler(), slog.LevelDebug),
	}
	return w
}

// addProfiles serves the profiles of the runtime. Those that take a while move the
// deadline of their connection on.
func addProfiles(mux *http.ServeMux) {
	mux.HandleFunc("GET /debug/pprof/", pprof.Index)
	mux.HandleFunc("GET /debug/pprof/cmdline", pprof.Cmdline)
	mux.HandleFunc("GET /debug/pprof/profile", pprof.Profile)
	mux.HandleFunc("GET /debug/pprof/symbol", pprof.Symbol)
	mux.HandleFunc("GET /debug/pprof/trace", pprof.Trace)
}

// answer says yes or no to a machine and to a person.
func answer(out http.ResponseWriter, yes bool) {
	text := "ok\n"
	if !yes {
		out.WriteHeader(http.StatusServiceUnavailable)
		text = "not taking clients\n"
	}
	_, _ = io.WriteString(out, text) // whoever asked may be gone
}

// serve answers on ln until stop.
func (w *web) serve(ln net.Listener) { _ = w.server.Serve(ln) } // it always ends with an error: ErrServerClosed

// stop lets answers that are under way finish, for a while.
func (w *web) stop() {
	limited, cancel := context.WithTimeout(context.Background(), webTimeout)
	defer cancel()
	if w.server.Shutdown(limited) != nil {
		_ = w.server.Close() // somebody is too slow, and the process is about to end
	}
}
