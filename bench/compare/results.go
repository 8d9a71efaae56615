package compare

import (
	"bufio"
	"bytes"
	"encoding/json"
	"os"
	"runtime"
	"strings"
	"time"

	"github.com/limitstore/limitstore/bench/load"
)

// Results is all that was measured.
type Results struct {
	Machine  Machine  `json:"machine"`
	Asked    Asked    `json:"asked"`
	Complete bool     `json:"complete"` // false: it was interrupted
	Light    []Figure `json:"light"`
	Runs     []Run    `json:"runs"`
}

// Machine is where it was measured, and what.
type Machine struct {
	Date       string `json:"date"`
	CPU        string `json:"cpu"`
	CPUs       int    `json:"cpus"`
	System     string `json:"system"`
	Limitstore string `json:"limitstore"` // its version line
	Redis      string `json:"redis"`
}

// Asked is how it was measured.
type Asked struct {
	Rounds   int     `json:"rounds"`
	Conns    int     `json:"conns"`
	Keys     int     `json:"keys"`
	Duration float64 `json:"seconds"`
}

// Run is one run of the load generator.
type Run struct {
	Part      string `json:"part"`
	Contender string `json:"contender"`
	Round     int    `json:"round"` // from 1
	Size      int    `json:"size"`  // keys that there are afterwards, where that is the point
	load.Result
}

// Figure is one thing that the machine was asked for: a name and nanoseconds.
type Figure struct {
	Name  string    `json:"name"`
	Nanos []float64 `json:"ns"` // one for each round
}

// readMachine describes this machine.
func readMachine() Machine {
	return Machine{Date: time.Now().UTC().Format(time.DateOnly), CPU: cpuModel(), CPUs: runtime.NumCPU(), System: system()}
}

// cpuModel is the processor's name.
func cpuModel() string {
	text, err := os.ReadFile("/proc/cpuinfo")
	if err == nil {
		for lines := bufio.NewScanner(bytes.NewReader(text)); lines.Scan(); {
			if name, value, ok := strings.Cut(lines.Text(), ":"); ok && strings.TrimSpace(name) == "model name" {
				return strings.TrimSpace(value)
			}
		}
	}
	return runtime.GOARCH
}

// system is the kernel with its release.
func system() string {
	release, err := os.ReadFile("/proc/sys/kernel/osrelease")
	if err != nil {
		return runtime.GOOS
	}
	return "Linux " + strings.TrimSpace(string(release))
}

// ReadResults reads what an earlier comparison has written.
func ReadResults(file string) (Results, error) {
	var r Results
	text, err := os.ReadFile(file)
	if err == nil {
		err = json.Unmarshal(text, &r)
	}
	return r, err
}

func (r Results) write(file string) error {
	text, err := json.MarshalIndent(r, "", " ")
	if err != nil {
		return err
	}
	return os.WriteFile(file, append(text, '\n'), 0o644)
}

// of are the runs of a part that keep says yes to, in the order played.
func (r Results) of(part string, keep func(Run) bool) (runs []Run) {
	for _, run := range r.Runs {
		if run.Part == part && keep(run) {
			runs = append(runs, run)
		}
	}
	return runs
}
