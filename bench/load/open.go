package load

import (
	"context"
	"math"
	"time"
)

// mostInFlight is how many requests of one connection may wait for their replies,
// unless the depth alone is more. Requests that are due beyond that are sent when
// there is room, and their latency counts from when they were due all the same. It
// keeps the buffers of the connection from filling, so that the sender never waits
// for one connection while others have something due.
const mostInFlight = 1024

// roomAfter is how soon a connection without room is looked at again.
const roomAfter = time.Millisecond

// never is later than any end of a run, and some time can be added to it.
const never = time.Duration(math.MaxInt64 / 2)

// flight is a pipeline that was sent and not answered.
type flight struct {
	due      time.Duration
	n        int
	pipeline *pipeline
}

// lane is a connection under an open load: the sender writes to it, a goroutine of
// its own reads.
type lane struct {
	*connection
	every  float64     // nanoseconds from one pipeline to the next
	offset float64     // of the first, from the beginning of the run
	sent   int         // pipelines
	left   int         // requests to be sent
	flying chan flight // sent by the sender, in order
}

// newLanes shares the rate evenly: every connection has the same number of
// requests a second, and they take turns.
func (p Plan) newLanes(connections []*connection) []*lane {
	lanes := make([]*lane, len(connections))
	for i, c := range connections {
		every := float64(c.depth) * float64(len(connections)) / float64(p.Rate) * float64(time.Second)
		lanes[i] = &lane{
			connection: c, every: every, offset: every * float64(i) / float64(len(connections)), left: p.share(i),
			flying: make(chan flight, max(1, mostInFlight/c.depth)),
		}
	}
	return lanes
}

// due is when the next pipeline has to be sent; never when all were.
func (l *lane) due(end time.Duration) time.Duration {
	at := time.Duration(l.offset + float64(l.sent)*l.every)
	if at >= end || l.left == 0 {
		return never
	}
	return at
}

// launch sends what is due by now, as long as there is room, and returns when to
// look again.
func (l *lane) launch(now, end time.Duration) (time.Duration, error) {
	for {
		due := l.due(end)
		if due > now {
			return due, nil
		}
		p := l.pipelines[l.turn]
		n := min(l.depth, l.left)
		select {
		case l.flying <- flight{due, n, p}:
		default:
			return now + roomAfter, nil
		}
		l.next()
		l.sent++
		l.left -= n
		if err := l.send(p.fill(n, l.keys), now); err != nil {
			return 0, err
		}
	}
}

// land reads replies until all that was sent is answered and no more will be.
func (l *lane) land() error {
	for f := range l.flying {
		got, err := l.collect(f.pipeline, f.n, f.due, l.clock.now())
		if err != nil {
			l.tally.miss(uint64(f.n-got), f.due, l.clock.now())
			return err
		}
	}
	return nil
}

// drive sends for all lanes until everything due before end is sent, the patience
// after the end is over, or the run is.
func drive(ctx context.Context, lanes []*lane, alarm clock, end, patience time.Duration) error {
	defer func() {
		for _, l := range lanes {
			close(l.flying)
		}
	}()
	for ctx.Err() == nil {
		now, next := alarm.now(), never
		for _, l := range lanes {
			again, err := l.launch(now, end)
			if err != nil {
				return err
			}
			next = min(next, again)
		}
		if next == never || now > end+patience {
			return nil
		}
		alarm.wait(ctx, next)
	}
	return nil
}

// account counts what was due and never answered: what flew when the run was given
// up, and what there was no room to send.
func (l *lane) account(now, end time.Duration) {
	for f := range l.flying {
		l.tally.miss(uint64(f.n), f.due, now)
	}
	for due := l.due(min(end, now)); due != never; due = l.due(min(end, now)) {
		l.tally.miss(uint64(min(l.depth, l.left)), due, now)
		l.sent++
		l.left -= min(l.depth, l.left)
	}
}
