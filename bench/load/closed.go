package load

import "time"

// loop plays a connection's part of a closed load: it sends, waits for the
// replies, and sends again, until the time is up, left requests are answered or
// the run is over.
func (c *connection) loop(end time.Duration, left int) error {
	for c.ctx.Err() == nil {
		n := min(c.depth, left)
		now := c.clock.now()
		if n == 0 || now >= end {
			return nil
		}
		p := c.next()
		if err := c.send(p.fill(n, c.keys), now); err != nil {
			return err
		}
		if _, err := c.collect(p, n, now, now); err != nil {
			return err
		}
		left -= n
	}
	return nil
}
