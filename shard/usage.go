package shard

import "unsafe"

// Usage is what the memory of a keyspace is spent on, in bytes. Records and Free
// are the chunks, the rest is what finds and times records.
type Usage struct {
	Records int64 // cells in use: headers, keys, values
	Free    int64 // cells not in use, and spare chunks
	Tables  int64 // the numbering of chunks
	Index   int64
	Wheels  int64
	Values  int64 // collections: hashes, sets, sorted sets, lists
}

// Total is all of it.
func (u Usage) Total() int64 { return u.Records + u.Free + u.Tables + u.Index + u.Wheels + u.Values }

// Add adds other to u.
func (u *Usage) Add(other Usage) {
	u.Records += other.Records
	u.Free += other.Free
	u.Tables += other.Tables
	u.Index += other.Index
	u.Wheels += other.Wheels
	u.Values += other.Values
}

// Add adds other to s.
func (s *Stats) Add(other Stats) {
	s.Expired += other.Expired
	s.Evicted += other.Evicted
	s.EvictedDebt += other.EvictedDebt
}

// Memory is the number of bytes that records, collections, index and wheels take. What an
// Undo holds is not in it.
func (ks *Keyspace) Memory() int64 {
	sum := int64(0)
	for _, d := range ks.made {
		sum += d.tables.bytes()
	}
	return sum
}

// Usage is Memory in its parts.
func (ks *Keyspace) Usage() (u Usage) {
	for _, d := range ks.made {
		u.Add(d.Usage())
	}
	return u
}

// Usage is what the memory of the database is spent on.
func (d *Database) Usage() Usage {
	a := &d.tables.arena
	return Usage{
		Records: a.live, Free: a.held - a.live, Tables: a.bytes() - a.held,
		Index: d.tables.index.bytes(), Wheels: tablesSize,
		Values: d.tables.side.bytes(),
	}
}

// entrySize is what a record takes in the index: a slot, a fifth more for those
// that are free at least.
const entrySize = int(unsafe.Sizeof(slot{})) * 16 / maxLoad

// Size is the memory that a present key takes, in bytes: its cell, its slot in
// the index and the collection; 0 for an absent one.
func (d *Database) Size(e *Entry) int {
	d.refresh(e)
	if !e.live {
		return 0
	}
	size := d.tables.arena.size(e.ref) + entrySize
	if e.cell.kind().isCollection() {
		size += int(d.tables.side.at(e.cell.value()).bytes())
	}
	return size
}

// Sub takes other from s.
func (s *Stats) Sub(other Stats) {
	s.Expired -= other.Expired
	s.Evicted -= other.Evicted
	s.EvictedDebt -= other.EvictedDebt
}
