package server

import (
	"slices"
	"sync"

	"github.com/limitstore/limitstore/engine"
	"github.com/limitstore/limitstore/resp"
)

// kind is what a subscription is to.
type kind uint8

// The kinds of subscriptions. Shard channels are a space of names of their own.
const (
	toChannel kind = iota
	toPattern
	toShard
	kinds // how many there are
)

// hub knows who listens to what. Its mutex makes one order of all messages: every
// subscriber sees them in it. Nobody waits for a client while holding it. It is
// taken after Server.mu and before outbox.mu.
type hub struct {
	mu       sync.Mutex
	channels [kinds]map[string]map[*outbox]struct{} // of channels and shard channels
	patterns []*pattern                             // in the order of their first subscription
	named    map[string]*pattern                    // the same by their text
	orphans  int                                    // of patterns: nobody listens any more, and named lacks them
	monitors map[*outbox]struct{}
	draft    draft  // of the message being published
	sent     uint64 // messages handed to subscribers
}

// pattern is one that somebody has subscribed to.
type pattern struct {
	text      string
	listeners map[*outbox]struct{}
}

// draft is a message in the forms its receivers read, each made when one is there
// to read it.
type draft struct {
	write func(*resp.Writer)
	forms [resp.RESP3 + 1]resp.Writer // by protocol
	made  [resp.RESP3 + 1]bool
}

// begin starts a new message.
func (d *draft) begin(write func(*resp.Writer)) {
	d.write = write
	clear(d.made[:])
}

// bytes is the message as it is sent in proto; a view until the next begin.
func (d *draft) bytes(proto int) []byte {
	form := &d.forms[proto]
	if !d.made[proto] {
		d.made[proto] = true
		form.Reset(proto)
		d.write(form)
	}
	return form.Bytes()
}

// join adds a subscription; false when it was there. h.mu must be held.
func (h *hub) join(o *outbox, k kind, name string) bool {
	if _, already := o.names[k][name]; already {
		return false
	}
	if o.names[k] == nil {
		o.names[k] = map[string]struct{}{}
	}
	o.names[k][name] = struct{}{}
	h.listeners(k, name)[o] = struct{}{}
	return true
}

// listeners are those of a channel or pattern, which is made if need be.
func (h *hub) listeners(k kind, name string) map[*outbox]struct{} {
	if k == toPattern {
		return h.pattern(name).listeners
	}
	if h.channels[k] == nil {
		h.channels[k] = map[string]map[*outbox]struct{}{}
	}
	if h.channels[k][name] == nil {
		h.channels[k][name] = map[*outbox]struct{}{}
	}
	return h.channels[k][name]
}

// pattern finds a pattern, or makes it.
func (h *hub) pattern(text string) *pattern {
	if h.named == nil {
		h.named = map[string]*pattern{}
	}
	p := h.named[text]
	if p == nil {
		p = &pattern{text: text, listeners: map[*outbox]struct{}{}}
		h.named[text] = p
		h.patterns = append(h.patterns, p)
	}
	return p
}

// part takes a subscription back; nothing happens when there is none. h.mu must
// be held, and sweep called before it is let go.
func (h *hub) part(o *outbox, k kind, name string) {
	if _, there := o.names[k][name]; !there {
		return
	}
	delete(o.names[k], name)
	left := h.listeners(k, name)
	delete(left, o)
	switch {
	case len(left) > 0:
	case k == toPattern:
		delete(h.named, name)
		h.orphans++
	default:
		delete(h.channels[k], name)
	}
}

// sweep drops the patterns that nobody listens to any more, all in one walk. Maps
// that have become empty are given back: a map never shrinks.
func (h *hub) sweep() {
	if h.orphans > 0 {
		h.patterns = slices.DeleteFunc(h.patterns, func(p *pattern) bool { return len(p.listeners) == 0 })
		h.orphans = 0
	}
	if len(h.named) == 0 {
		h.named, h.patterns = nil, nil
	}
	for k := range h.channels {
		if len(h.channels[k]) == 0 {
			h.channels[k] = nil
		}
	}
}

// leave takes back all subscriptions of o.
func (h *hub) leave(o *outbox) {
	h.mu.Lock()
	defer h.mu.Unlock()
	for k := range kinds {
		for name := range o.names[k] {
			h.part(o, k, name)
		}
	}
	h.sweep()
}

// publish hands a message to everybody who listens to the channel, and returns to
// how many: a client that listens in several ways counts and receives as often.
func (h *hub) publish(k kind, channel, message []byte) (receivers int) {
	h.mu.Lock()
	defer h.mu.Unlock()
	head := "message"
	if k == toShard {
		head = "smessage"
	}
	h.draft.begin(func(w *resp.Writer) {
		w.Push(3)
		w.BulkString(head)
		w.Bulk(channel)
		w.Bulk(message)
	})
	receivers = h.deliver(h.channels[k][string(channel)])
	if k == toChannel {
		receivers += h.publishToPatterns(channel, message)
	}
	h.draft.write = nil // it holds the arguments
	h.sent += uint64(receivers)
	return receivers
}

func (h *hub) publishToPatterns(channel, message []byte) (receivers int) {
	for _, p := range h.patterns {
		if !engine.Match([]byte(p.text), channel) {
			continue
		}
		h.draft.begin(func(w *resp.Writer) {
			w.Push(4)
			w.BulkString("pmessage")
			w.BulkString(p.text)
			w.Bulk(channel)
			w.Bulk(message)
		})
		receivers += h.deliver(p.listeners)
	}
	return receivers
}

// deliver hands the draft to each of the listeners.
func (h *hub) deliver(to map[*outbox]struct{}) int {
	for o := range to {
		o.push(&h.draft)
	}
	return len(to)
}

// names are the channels, or shard channels, that somebody listens to.
func (h *hub) names(k kind) []string {
	h.mu.Lock()
	defer h.mu.Unlock()
	all := make([]string, 0, len(h.channels[k]))
	for name := range h.channels[k] {
		all = append(all, name)
	}
	return all
}

// audience is how many listen to the channel by its name.
func (h *hub) audience(k kind, channel []byte) int {
	h.mu.Lock()
	defer h.mu.Unlock()
	return len(h.channels[k][string(channel)])
}

// hubFigures are what INFO and the metrics tell of the hub.
type hubFigures struct {
	channels, patterns, shardChannels int
	sent                              uint64
}

func (h *hub) figures() hubFigures {
	h.mu.Lock()
	defer h.mu.Unlock()
	return hubFigures{len(h.channels[toChannel]), len(h.patterns), len(h.channels[toShard]), h.sent}
}
