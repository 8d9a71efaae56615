package engine

import "github.com/limitstore/limitstore/engine/script"

// cachedScript is a script and what was learned of it.
type cachedScript struct {
	*script.Script
	wide   bool // it has gone beyond the shards of its keys
	loaded bool // by SCRIPT LOAD: it is not dropped for others
}

// scriptCache holds compiled scripts. It is read by whoever holds a shard and
// changed by whoever holds them all.
type scriptCache struct {
	bySHA    map[string]*cachedScript
	bySource map[string]*cachedScript
	order    []*cachedScript // those that EVAL brought, the oldest first
	bytes    int             // of all sources
}

func newScriptCache() scriptCache {
	return scriptCache{bySHA: map[string]*cachedScript{}, bySource: map[string]*cachedScript{}}
}

// scriptCost is what a script counts for in the cache beside its source: about
// what the compiled form takes for each byte of it, and for itself.
func scriptCost(s *script.Script) int { return 8*len(s.Source()) + 1<<10 }

// add puts a script into the cache. It makes room by dropping those that came by
// EVAL, oldest first; false when that is not enough.
func (k *scriptCache) add(s *script.Script, loaded bool, l *Limits) (*cachedScript, bool) {
	if known := k.bySHA[s.SHA()]; known != nil {
		if loaded && !known.loaded {
			known.loaded = true
			k.forgetOrder(known)
		}
		return known, true
	}
	cost := scriptCost(s)
	for len(k.order) > 0 && (k.bytes+cost > l.ScriptCache || len(k.order) >= l.Scripts && !loaded) {
		k.drop(k.order[0])
	}
	fresh := &cachedScript{Script: s, loaded: loaded}
	if k.bytes+cost > l.ScriptCache {
		return fresh, false
	}
	k.bySHA[s.SHA()], k.bySource[string(s.Source())] = fresh, fresh
	k.bytes += cost
	if !loaded {
		k.order = append(k.order, fresh)
	}
	return fresh, true
}

func (k *scriptCache) drop(s *cachedScript) {
	delete(k.bySHA, s.SHA())
	delete(k.bySource, string(s.Source()))
	k.bytes -= scriptCost(s.Script)
	k.forgetOrder(s)
}

func (k *scriptCache) forgetOrder(s *cachedScript) {
	for i, other := range k.order {
		if other == s {
			k.order = append(k.order[:i], k.order[i+1:]...)
			return
		}
	}
}

// shaLength is that of a SHA-1 in hex.
const shaLength = 40

// find is the script with a SHA-1 in hex of any case; nil when there is none.
func (k *scriptCache) find(sha []byte) *cachedScript {
	var lower [shaLength]byte
	if len(sha) != len(lower) {
		return nil
	}
	for i, b := range sha {
		if 'A' <= b && b <= 'Z' {
			b += 'a' - 'A'
		}
		lower[i] = b
	}
	return k.bySHA[string(lower[:])]
}
