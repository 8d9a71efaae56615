package server

import (
	"log/slog"
	"sync"
)

// noticeKind is a kind of trouble that clients can cause as often as they like.
type noticeKind uint8

// The kinds of notices.
const (
	noticeAccept noticeKind = iota
	noticeFull
	noticeProtocol
	noticeStranger
	noticeQuery
	noticeOutput
	noticeSlow
	noticePassword
	noticeSubscriber
	noticeKinds // how many there are
)

// noticeEvery is how many visits of the watch pass between two notices of one
// kind.
const noticeEvery = 10

// notices logs trouble with clients, each kind once in a while: whoever makes
// the trouble must not fill the disk. The next notice says how many were left
// out.
type notices struct {
	log *slog.Logger

	mu    sync.Mutex
	kinds [noticeKinds]struct {
		until   uint64 // visits of the watch; quiet before
		omitted int
	}
	visits uint64
}

// say logs a warning unless one of its kind was logged a moment ago.
func (n *notices) say(kind noticeKind, text string, more ...any) {
	n.mu.Lock()
	k := &n.kinds[kind]
	if k.until > n.visits {
		k.omitted++
		n.mu.Unlock()
		return
	}
	omitted := k.omitted
	k.until, k.omitted = n.visits+noticeEvery, 0
	n.mu.Unlock()
	if omitted > 0 {
		more = append(more, "omitted_before", omitted)
	}
	n.log.Warn(text, more...)
}

// turn tells the time in visits of the watch.
func (n *notices) turn(visits uint64) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.visits = visits
}
