package shard

// A Watcher learns whether any of the keys it watches in one keyspace has been
// touched. Like the keyspace it belongs to the shard's goroutine, or to a caller
// that holds the standing shard. The zero value watches nothing.
//
// A key is touched by every change to its record, by the first one that makes it,
// by a Flush of it, and by taking such a change back. A key that was there when the
// watching began and has expired since counts as touched too; one that was absent
// and whose memory is collected does not, so that the wheel changes no answer.
type Watcher struct {
	watches []*watch
	touched bool
}

// watch is a Watcher's interest in one key: a link in the list of those who
// watch the same key.
type watch struct {
	watcher    *Watcher
	db         *Database
	key        string
	present    bool // there was such a key when the watching began
	prev, next *watch
}

// Watch begins to watch key in d, which it does not watch yet. A Watcher that
// was touched stays so and watches nothing more until Clear.
func (w *Watcher) Watch(d *Database, key string) {
	if w.touched {
		return
	}
	e := d.Lookup([]byte(key))
	n := &watch{watcher: w, db: d, key: key, present: e.Exists(), next: d.watched[key]}
	if n.next != nil {
		n.next.prev = n
	}
	if d.watched == nil {
		d.watched = make(map[string]*watch)
	}
	d.watched[key] = n
	w.watches = append(w.watches, n)
}

// Touched reports that a watched key was touched since it is watched.
func (w *Watcher) Touched() bool {
	if w.touched {
		return true
	}
	for _, n := range w.watches {
		if n.present && !n.db.holds(n.key) {
			return true // it has expired: anything else would have touched it
		}
	}
	return false
}

// Clear ends all watching and forgets that something was touched.
func (w *Watcher) Clear() {
	for _, n := range w.watches {
		n.leave()
	}
	w.watches, w.touched = nil, false
}

// touch notes that a key was touched. Nothing more is to be learned then.
func (w *Watcher) touch() {
	w.Clear()
	w.touched = true
}

// leave takes n out of the list of its key.
func (n *watch) leave() {
	if n.next != nil {
		n.next.prev = n.prev
	}
	switch {
	case n.prev != nil:
		n.prev.next = n.next
	case n.next != nil:
		n.db.watched[n.key] = n.next
	default:
		delete(n.db.watched, n.key)
	}
	if len(n.db.watched) == 0 {
		n.db.watched = nil // what many watchers have made large is let go
	}
}

// touch tells those who watch key. It is called only while someone watches.
func (d *Database) touch(key []byte) {
	for n := d.watched[string(key)]; n != nil; n = d.watched[string(key)] {
		n.watcher.touch() // it leaves all lists
	}
}

// touchAll tells those who watch a key that is there.
func (d *Database) touchAll() {
	for key := range d.watched {
		if d.holds(key) {
			d.touch([]byte(key))
		}
	}
}

// holds reports that key is there.
func (d *Database) holds(key string) bool {
	e := d.Lookup([]byte(key))
	return e.Exists()
}

// Watched is the number of keys that somebody watches.
func (ks *Keyspace) Watched() int {
	n := 0
	for _, d := range ks.made {
		n += len(d.watched)
	}
	return n
}
