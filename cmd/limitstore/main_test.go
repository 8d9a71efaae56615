package main

import (
	"bytes"
	"io"
	"os"
	"os/exec"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/testscript"
)

// TestMain lets the test binary stand in for limitstore itself, so that tests run
// the real program in a process of its own. What goes by redis-server's name from then
// on is limitstore too, so the real one is looked up before.
func TestMain(m *testing.M) {
	if path, err := exec.LookPath(redisName); err == nil {
		_ = os.Setenv(realRedis, path) // it fails for a name with '=' only
	}
	testscript.Main(m, map[string]func(){"limitstore": main, redisName: main})
}

// realRedis is the variable with the path of the real redis-server.
const realRedis = "REAL_REDIS"

// TestScripts plays testdata/script. $REAL_REDIS is the real redis-server. Beside testscript's own commands there are
//
//	serve [flag...]      start limitstore on a free port and wait until it takes clients;
//	                     $ADDR is where, and $WEB where --http-addr serves
//	redis [-in FILE] [WORD...]
//	                     the same by the name redis-server, with FILE as standard input
//	await TEXT           wait until the log of the server has TEXT
//	signal TERM|INT      send the server a signal
//	crash                end it without a signal it could hear
//	ended CODE           wait until the server has ended with CODE, or "killed"; stderr is its log
//	hold                 occupy a port; $TAKEN is its address
//	ask [flag...] WORD... [; WORD...]
//	                     send inline commands to $ADDR in one piece; stdout is what comes
//	                     back. -tls CA speaks TLS, -as NAME shows NAME.pem
//	stall                begin a conversation with $ADDR and never read the answers
//	get PATH             ask $WEB; stdout is the status and the body
//	certificates         make ca.pem, .pem and .key of server and client signed by it, and a stranger's
func TestScripts(t *testing.T) {
	testscript.Run(t, testscript.Params{
		Dir:                 "testdata/script",
		RequireExplicitExec: true,
		Cmds: map[string]func(*testscript.TestScript, bool, []string){
			"serve": onServe, "redis": onRedis, "crash": onCrash, "await": onAwait, "signal": onSignal, "ended": onEnded, "hold": onHold,
			"ask": onAsk, "stall": onStall, "get": onGet, "certificates": onCertificates,
		},
		Setup: func(e *testscript.Env) error {
			e.Values[processKey{}] = &running{}
			e.Setenv(realRedis, os.Getenv(realRedis))
			return nil
		},
	})
}

// process is a limitstore in a process of its own, and what it writes.
type process struct {
	cmd     *exec.Cmd
	lines   chan string
	log     bytes.Buffer
	overdue *time.Timer
}

// running is the process that a script has started last.
type running struct{ *process }

type processKey struct{}

// overdue is when a process that should have ended is killed, so that a mistake
// ends the test. It is longer than drainTime: such a process is not "killed" by
// the second signal that a script sends.
const overdue = 10 * time.Minute

// startProcess starts limitstore in dir with the environment env.
func startProcess(dir string, env []string, flags ...string) (*process, error) {
	return startAs("limitstore", dir, env, nil, flags...)
}

// startAs starts the program by a name, with in to read.
func startAs(name, dir string, env []string, in io.Reader, words ...string) (*process, error) {
	p := &process{cmd: exec.Command(name, words...), lines: make(chan string, 1024)}
	p.cmd.Dir, p.cmd.Env, p.cmd.Stdin = dir, env, in
	out, err := p.cmd.StderrPipe()
	if err != nil {
		return nil, err
	}
	p.cmd.Stdout = p.cmd.Stderr
	if err := p.cmd.Start(); err != nil {
		return nil, err
	}
	p.overdue = time.AfterFunc(overdue, func() { _ = p.cmd.Process.Kill() })
	go p.collect(out)
	return p, nil
}

// await reads the log until it has text, and returns the line that has it; false
// when the process ended first.
func (p *process) await(text string) (string, bool) {
	for line := range p.lines {
		p.log.WriteString(line + "\n")
		if strings.Contains(line, text) {
			return line, true
		}
	}
	return "", false
}

// end waits for the process to end and says how: its code, or "killed".
func (p *process) end() string {
	p.await("\x00") // reads to the end
	_ = p.cmd.Wait()
	p.overdue.Stop()
	if code := p.cmd.ProcessState.ExitCode(); code >= 0 {
		return strconv.Itoa(code)
	}
	return "killed"
}

// kill ends a process that a test left running.
func (p *process) kill() {
	if p.cmd != nil && p.cmd.ProcessState == nil {
		_ = p.cmd.Process.Kill()
		p.end()
	}
}

var addressFields = regexp.MustCompile(`addr=(\S+)(?: .*http=(\S+))?`)

// addresses is where the process says that it takes clients and, unless empty,
// serves HTTP; false when it ended instead.
func (p *process) addresses() (clients, web string, ok bool) {
	line, ok := p.await("takes clients")
	if !ok {
		return "", "", false
	}
	found := addressFields.FindStringSubmatch(line)
	return found[1], found[2], true
}
