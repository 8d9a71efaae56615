package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"

	"github.com/limitstore/limitstore/resp"
	"github.com/limitstore/limitstore/server"
)

// The program answers to redis-server's name and to its spelling, so that what
// starts a Redis starts this. See docs/decisions/0026.

// redisName is the name under which the program is a redis-server whatever the
// words after it.
const redisName = "redis-server"

// asRedis says whether the words after the program's name are redis-server's: it
// goes by that name, is given a file or standard input to read, or a directive
// that is no flag of limitstore's.
func asRedis(name string, args []string) bool {
	if strings.HasPrefix(filepath.Base(name), redisName) {
		return true
	}
	if len(args) > 0 && !strings.HasPrefix(args[0], "-") {
		// A file to read, or a command of ours whose flags are its own.
		return strings.Contains(args[0], string(filepath.Separator)) || strings.HasSuffix(args[0], ".conf")
	}
	own := options()
	return slices.ContainsFunc(args, func(word string) bool {
		word, dashed := strings.CutPrefix(word, "--")
		word, _, _ = strings.Cut(word, " ")
		_, known := findDirective(word)
		return word == "-" || dashed && known && !slices.ContainsFunc(own, func(o option) bool { return o.name == word })
	})
}

// redisHelp is what redis-server --help prints.
const redisHelp = `limitstore takes the place of a redis-server.

  redis-server [FILE] [--directive [value ...]] ... [-]
  redis-server - reads directives from standard input

Directives without a meaning here are named in the log and passed over; those
that would promise what is not done are refused. docs/refused.md lists both.
limitstore's own settings may be given in the same way: see limitstore help.
`

// runRedis is the program with redis-server's words. As redis-server does, it
// logs to standard output.
func runRedis(ctx context.Context, args []string, stdin io.Reader, stdout, stderr io.Writer) int {
	if len(args) > 0 {
		switch args[0] {
		case "-v", "--version":
			fmt.Fprintf(stdout, "Redis server v=%s sha=00000000:0 malloc=%s bits=%d build=limitstore-%s\n", server.RedisVersion, runtime.Version(), strconv.IntSize, version)
			return done
		case "-h", "--help":
			fmt.Fprint(stdout, redisHelp)
			return done
		case "--test-memory", "--check-system", "--sentinel":
			return complain(stderr, misused, args[0]+": there is no such thing here; this is limitstore "+version)
		}
	}
	r := newReading()
	if err := r.arguments(args, stdin); err != nil {
		return complain(stderr, failed, err.Error())
	}
	r.finish()
	return conclude(ctx, r.config, nil, stdout, stderr, stdout)
}

// reading gathers what directives say, in the order given: a later one counts.
type reading struct {
	*config
	port, tlsPort      int
	portGiven          bool
	binds              []string
	protected          bool
	confined           bool // to loopback, though all addresses were asked for
	secure             bool // certificates of clients are asked for
	cert, key, ca, dir string
	passedOver         []string // directives without a meaning, in the order given
	depth              int      // of files that include files
}

// redisPort is where a Redis listens unless it is told otherwise.
const redisPort = 6379

// newReading begins with the defaults, and with what the environment says.
func newReading() *reading {
	c, err := parse(nil)
	if err != nil {
		c.problems = append(c.problems, err.Error())
	}
	return &reading{config: c, port: redisPort, protected: true, secure: true}
}

// arguments reads a file, standard input and the words of the command line, in
// this order wherever they stand, as redis-server does. The error says what
// cannot be read.
func (r *reading) arguments(args []string, stdin io.Reader) error {
	if len(args) > 0 && !strings.HasPrefix(args[0], "-") {
		if err := r.file(args[0]); err != nil {
			return err
		}
		args = args[1:]
	}
	if slices.Contains(args, "-") {
		if err := r.lines("standard input", stdin); err != nil {
			return err
		}
		args = slices.DeleteFunc(slices.Clone(args), func(word string) bool { return word == "-" })
	}
	for len(args) > 0 {
		end := 1
		for end < len(args) && !strings.HasPrefix(args[end], "--") {
			end++
		}
		name, dashed := strings.CutPrefix(args[0], "--")
		if !dashed {
			r.wrong("", fmt.Sprintf("%q is no directive: want --NAME VALUE", args[0]))
		} else if first, err := splitWords(name); err != nil || len(first) == 0 {
			r.wrong("", fmt.Sprintf("--%s is no directive", name))
		} else {
			r.take("--", append(first, args[1:end]...))
		}
		args = args[end:]
	}
	return nil
}

// deepest bounds how deep files may include files.
const deepest = 16

// file reads the directives of a file.
func (r *reading) file(name string) error {
	if r.depth == deepest {
		return fmt.Errorf("%s: files include each other more than %d deep", name, deepest)
	}
	in, err := os.Open(name)
	if err != nil {
		return fmt.Errorf("%s: cannot read it: %w", name, because(err))
	}
	defer in.Close()
	r.depth++
	defer func() { r.depth-- }()
	return r.lines(name, in)
}

// lines reads directives, one a line. Lines that begin with # and empty ones are
// passed over.
func (r *reading) lines(name string, in io.Reader) error {
	lines := bufio.NewScanner(in)
	for n := 1; lines.Scan(); n++ {
		line := strings.TrimSpace(lines.Text())
		if line == "" || line[0] == '#' {
			continue
		}
		where := fmt.Sprintf("%s, line %d: ", name, n)
		words, err := splitWords(line)
		switch {
		case err != nil:
			r.wrong(where, fmt.Sprintf("%s: %v", line, err))
		case len(words) > 1 && strings.EqualFold(words[0], "include"):
			if err := r.include(words[1:]); err != nil {
				return fmt.Errorf("%s%w", where, err)
			}
		case len(words) > 0:
			r.take(where, words)
		}
	}
	if err := lines.Err(); err != nil {
		return fmt.Errorf("%s: cannot read it: %w", name, because(err))
	}
	return nil
}

// include reads the files that patterns name. A pattern that matches nothing is
// passed over, a plain name must be there.
func (r *reading) include(patterns []string) error {
	for _, pattern := range patterns {
		names, err := filepath.Glob(pattern)
		if err != nil || len(names) == 0 && !strings.ContainsAny(pattern, "*?[") {
			names = []string{pattern}
		}
		for _, name := range names {
			if err := r.file(name); err != nil {
				return err
			}
		}
	}
	return nil
}

// splitWords cuts a line as redis-server does, which is how the inline commands
// of the wire are cut: at blanks, with 'single' and "double" quotes.
func splitWords(line string) ([]string, error) {
	const first = "x" // so that no line looks like anything but an inline command
	in := resp.NewReader(strings.NewReader(first+" "+line+"\n"), resp.DefaultLimits())
	if err := in.Fill(); err != nil {
		return nil, err
	}
	args, err := in.Next()
	if err != nil {
		return nil, errors.New("unbalanced quotes, or too long")
	}
	var words []string
	for _, word := range args[min(1, len(args)):] {
		words = append(words, string(word))
	}
	return words, nil
}

// wrong notes a problem; they are told together at the end.
func (r *reading) wrong(where, what string) { r.problems = append(r.problems, where+what) }

// take obeys one directive: its name and its values.
func (r *reading) take(where string, words []string) {
	name, values := strings.ToLower(words[0]), words[1:]
	err := r.obey(name, values)
	if err != nil {
		told := name
		if !slices.Contains(secretDirectives[:], name) {
			told = strings.TrimSpace(name + " " + shownValues(values))
		}
		r.wrong(where, fmt.Sprintf("%s: %v", told, err))
	}
}

// secretDirectives are those whose values are never shown.
var secretDirectives = [...]string{"requirepass", "tls-key-file-pass", "user"}

// shownValues are values as they can be typed again.
func shownValues(values []string) string {
	var words []string
	for _, v := range values {
		if v == "" || strings.ContainsAny(v, " \t\"'") {
			v = strconv.Quote(v)
		}
		words = append(words, v)
	}
	return strings.Join(words, " ")
}

// obey does what a directive says.
func (r *reading) obey(name string, values []string) error {
	d, known := findDirective(name)
	if known && d.take != nil {
		return d.take(r, values)
	}
	for _, o := range options() {
		if o.name == name {
			return r.own(o, values)
		}
	}
	switch {
	case !known:
		if !slices.Contains(r.passedOver, name) {
			r.passedOver = append(r.passedOver, name)
		}
		return nil
	case slices.Contains(d.harmless, strings.ToLower(strings.Join(values, " "))):
		return nil
	}
	return errors.New(d.why)
}

// own sets one of limitstore's own settings. Sizes and switches may be spelled as
// Redis spells them.
func (r *reading) own(o option, values []string) error {
	v, value := o.field(r.config), strings.Join(values, " ")
	switch v.(type) {
	case *yes:
		value = map[string]string{"": "true", "yes": "true", "no": "false"}[value]
	case *size:
		if n, ok := redisBytes(value); ok {
			value = strconv.FormatInt(n, 10)
		}
	}
	return v.Set(value)
}

// finish turns what was gathered into settings.
func (r *reading) finish() {
	r.listenWhere()
	if r.dir != "" {
		if err := os.Chdir(r.dir); err != nil {
			r.wrong("--dir ", fmt.Sprintf("%s: %v", r.dir, because(err)))
		}
	}
	if r.tlsPort != 0 {
		r.tlsCert, r.tlsKey = text(r.cert), text(r.key)
		if r.secure {
			r.tlsCA = text(r.ca)
		}
		if r.cert == "" || r.key == "" || r.secure && r.ca == "" {
			r.wrong("--tls-port ", fmt.Sprintf("%d: needs tls-cert-file and tls-key-file, and tls-ca-cert-file unless tls-auth-clients is no", r.tlsPort))
		}
	}
	if r.tlsPort == 0 && r.cert != "" {
		r.notes = append(r.notes, "without tls-port clients do not speak TLS, and the tls directives are passed over")
	}
	if r.confined {
		r.notes = append(r.notes, "there is no password, so only this machine is listened to: set requirepass, or say protected-mode no")
	}
	if r.addr != "" {
		r.ready = append(r.ready, "Ready to accept connections")
	}
	if r.unixSocket != "" {
		r.ready = append(r.ready, "The server is now ready to accept connections at "+string(r.unixSocket))
	}
	if len(r.passedOver) > 0 {
		r.notes = append(r.notes, "directives without a meaning here are passed over: "+strings.Join(r.passedOver, " "))
	}
}

// listenWhere sets the addresses. What the environment says counts as long as no
// directive does.
func (r *reading) listenWhere() {
	standard := options()[0].standard
	if string(r.addr) != standard && !r.portGiven && r.binds == nil && r.tlsPort == 0 {
		return
	}
	port := r.port
	switch {
	case r.tlsPort != 0 && (port != 0 || !r.portGiven):
		r.wrong("--tls-port ", fmt.Sprintf("%d: this server speaks TLS to all clients or to none: say port 0 beside it", r.tlsPort))
	case r.tlsPort != 0:
		port = r.tlsPort
	}
	r.addr = ""
	if port == 0 {
		return
	}
	var all []string
	for _, host := range r.hosts() {
		bare, optional := strings.CutPrefix(host, "-")
		where := joinAddress(bare, port)
		if optional {
			where = "-" + where
		}
		all = append(all, where)
	}
	r.addr = text(strings.Join(all, ","))
}
