package shard

// Entry is a looked-up key, present or absent. Its key has been hashed, and
// whatever is done with it next does not hash it again. An Entry is valid until
// the next write to its database other than one made through it, and until the
// keyspace's time moves: the primitives update the Entry they are given.
type Entry struct {
	key     []byte
	cell    *cell // the record, live or expired; nil if there is none
	place   uint32
	ref     uint32
	version uint32 // of the database when the record was found
	live    bool
}

// Exists reports that the key is present: it has a record that has not expired.
func (e *Entry) Exists() bool { return e.live }

// Kind is what the record holds, KindNone when the key is absent.
func (e *Entry) Kind() Kind {
	if !e.live {
		return KindNone
	}
	return e.cell.kind()
}

// Expiry is the Unix millisecond from which the key is absent, 0 if it never
// expires or is absent already.
func (e *Entry) Expiry() int64 {
	if !e.live {
		return 0
	}
	return e.cell.when
}

// Key is the key: the slice given to Lookup or, within a Scan, a view of the
// record.
func (e *Entry) Key() []byte { return e.key }
