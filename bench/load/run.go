package load

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"sync"
	"time"
)

// run is a plan that is being played.
type run struct {
	Plan
	clock       clock
	alarm       clock // the sender's
	connections []*connection
	from, end   time.Duration // of the measurement

	ctx  context.Context
	fail context.CancelCauseFunc // with the first error
}

// Run plays the plan and measures. When ctx is done before the end, the result is
// of what was played and says so; when the server fails there is a result of what
// was played before, and the error.
func Run(ctx context.Context, p Plan) (Result, error) {
	watch := newStopwatch()
	alarm, err := newAlarm(watch)
	if err != nil {
		return Result{}, err
	}
	defer alarm.close()
	return p.play(ctx, watch, alarm)
}

// play is Run with the clocks given.
func (p Plan) play(ctx context.Context, watch *stopwatch, alarm clock) (Result, error) {
	if err := p.check(); err != nil {
		return Result{}, err
	}
	if p.Requests > 0 {
		p.Warmup = 0 // the first counts like the last
	}
	if err := p.prepare(ctx); err != nil {
		return Result{}, err
	}
	r := &run{Plan: p, clock: watch, alarm: alarm}
	r.ctx, r.fail = context.WithCancelCause(ctx)
	defer r.fail(nil)
	if err := r.connectAll(); err != nil {
		return Result{}, err
	}
	defer r.closeAll()
	return r.measure(ctx)
}

// prepare loads the script and sends every request for every key once, as fast as
// the server takes it.
func (p Plan) prepare(ctx context.Context) error {
	conn, replies, err := p.connect(ctx)
	if err != nil {
		return err
	}
	defer conn.Close()
	if script := p.Workload.Script; script != "" {
		if _, err := p.ask(ctx, conn, replies, append(strings.Fields("SCRIPT LOAD"), script)...); err != nil {
			return err
		}
	}
	if !p.Workload.Prefill || p.Filled {
		return nil
	}
	var played []string
	for i, template := range p.Workload.Requests {
		if slices.Contains(played, template) {
			continue
		}
		played = append(played, template)
		reply := p.Workload.Reply[i%len(p.Workload.Reply):][:1]
		if _, err := Run(ctx, p.filling(template, reply)); err != nil {
			return fmt.Errorf("filling in the keys: %w", err)
		}
	}
	return nil
}

// fillDepth is how many keys a connection fills in at a time.
const fillDepth = 64

// filling is the plan that sends one request for each key.
func (p Plan) filling(template, reply string) Plan {
	p.Workload = Workload{Name: "fill", Requests: []string{template}, Reply: reply, Pick: Fresh, Script: p.Workload.Script}
	p.Requests, p.FirstKey, p.Rate, p.Depth, p.Warmup, p.PID = p.Keys, 0, 0, fillDepth, 0, 0
	return p
}

func (r *run) connectAll() error {
	requests, zipf := r.Workload.requests(), r.drawZipf()
	for i := range r.Conns {
		conn, replies, err := r.connect(r.ctx)
		if err != nil {
			r.closeAll()
			return fmt.Errorf("connection %d of %d: %w", i+1, r.Conns, err)
		}
		depth := r.depthOf(i)
		r.connections = append(r.connections, &connection{
			Conn: conn, ctx: r.ctx, clock: r.clock, timeout: r.Timeout, replies: replies,
			pipelines: pipelines(requests, depth), depth: depth, keys: r.newPicker(i, zipf),
		})
	}
	return nil
}

func (r *run) closeAll() {
	for _, c := range r.connections {
		c.Close()
	}
}

// measure plays the load and takes the server's usage at both ends of the
// measurement.
func (r *run) measure(ctx context.Context) (Result, error) {
	began := r.clock.now()
	r.from, r.end = began+r.Warmup, began+r.Warmup+r.Duration
	if r.Requests > 0 {
		r.end = never
	}
	for _, c := range r.connections {
		c.tally = newTally(r.from, r.end)
	}
	hush := context.AfterFunc(r.ctx, r.hush)
	defer hush()

	first, err1 := r.sample() // before anything can be answered
	playing, over := context.WithCancel(r.ctx)
	played := make(chan error, 1)
	go func() {
		defer over()
		played <- r.load(began)
	}()
	var telling sync.WaitGroup
	defer telling.Wait()
	defer over()
	telling.Go(func() { r.tell(playing, began) })
	if r.Warmup > 0 {
		r.clock.wait(playing, r.from)
		first, err1 = r.sample()
	}
	if r.Requests > 0 {
		<-playing.Done()
	} else {
		r.clock.wait(r.ctx, r.end)
	}
	last, err2 := r.sample()
	err := <-played
	if ctx.Err() != nil {
		err = nil // what failed was cut off
	}
	out := r.result(first, last, ctx.Err() != nil)
	if err == nil && ctx.Err() == nil && out.Answered == 0 {
		err = fmt.Errorf("%s has answered nothing while it was measured, %v", r.Addr, r.Duration)
	}
	return out, errors.Join(err, err1, err2)
}

// hush ends all waiting for the server.
func (r *run) hush() {
	for _, c := range r.connections {
		_ = c.SetDeadline(time.Unix(1, 0))
	}
}

// load plays the load to its end and returns what went wrong first.
func (r *run) load(began time.Duration) error {
	var all sync.WaitGroup
	if r.Rate == 0 {
		for i, c := range r.connections {
			all.Go(func() { r.note(c.loop(r.end, r.share(i))) })
		}
	} else {
		r.loadOpen(began, &all)
	}
	all.Wait()
	return context.Cause(r.ctx)
}

func (r *run) loadOpen(began time.Duration, all *sync.WaitGroup) {
	lanes := r.newLanes(r.connections)
	for _, l := range lanes {
		l.offset += float64(began)
		all.Go(func() { r.note(l.land()) })
	}
	r.note(drive(r.ctx, lanes, r.alarm, r.end, r.Timeout))
	all.Wait()
	for _, l := range lanes {
		l.account(r.clock.now(), r.end)
	}
}

// note ends the run when err is one.
func (r *run) note(err error) {
	if err != nil {
		r.fail(r.explain(err))
	}
}

// sample is the state of things at one moment.
type sample struct {
	at       time.Duration
	answered uint64
	usage
}

func (r *run) sample() (sample, error) {
	s := sample{answered: r.answered()}
	var err error
	if r.PID != 0 {
		s.usage, err = readUsage(os.DirFS("/proc"), r.PID)
	}
	s.at = r.clock.now()
	return s, err
}

func (r *run) answered() (n uint64) {
	for _, c := range r.connections {
		n += c.tally.answered.Load()
	}
	return n
}

// tellEvery is how often a run says how far it is.
const tellEvery = 250 * time.Millisecond

// tell reports progress until the run is over.
func (r *run) tell(playing context.Context, began time.Duration) {
	if r.Progress == nil {
		return
	}
	ticks := time.NewTicker(tellEvery)
	defer ticks.Stop()
	total := r.Warmup + r.Duration
	if r.Requests > 0 {
		total = 0
	}
	for {
		select {
		case <-playing.Done():
			return
		case <-ticks.C:
			r.Progress(Progress{r.clock.now() - began, total, r.answered()})
		}
	}
}
