package engine

import (
	"math"
	"math/rand/v2"

	"github.com/limitstore/limitstore/shard"
)

// randomCount reads how many elements SRANDMEMBER and HRANDFIELD are asked for:
// with a minus, as many with repetitions. It replies with the error and says
// false when it is no number, or asks for too many repetitions.
func (c *Call) randomCount(word []byte) (int64, bool) {
	n, ok := Int(word)
	switch {
	case !ok:
		c.Fail(NotInteger)
	case n == math.MinInt64:
		c.Fail(NotBetween, int64(math.MinInt64+1), int64(math.MaxInt64))
	case -n > int64(c.limits.Elements):
		c.Fail(TooManyPicks, c.limits.Elements)
	default:
		return n, true
	}
	return 0, false
}

// pair is a name with its value, views of a roster.
type pair struct{ name, value []byte }

// sample are count different names of a roster, or all when there are no more,
// every choice as likely as the others.
func sample(r *shard.Roster, count int64) []pair {
	n := int(min(count, int64(r.Len())))
	if n > r.Len()/3 {
		return reservoir(r, n)
	}
	// Few of many: drawn again when drawn already.
	all, drawn := make([]pair, 0, n), make(map[string]bool, n)
	for len(all) < n {
		name, value := r.Pick(rand.IntN)
		if !drawn[string(name)] {
			drawn[string(name)] = true
			all = append(all, pair{name, value})
		}
	}
	return all
}

// reservoir goes through all names and keeps n: J. S. Vitter, Random Sampling
// with a Reservoir, 1985, algorithm R.
func reservoir(r *shard.Roster, n int) []pair {
	all, seen := make([]pair, 0, n), 0
	for name, value := range r.All() {
		seen++
		if len(all) < n {
			all = append(all, pair{name, value})
		} else if at := rand.IntN(seen); at < n {
			all[at] = pair{name, value}
		}
	}
	return all
}

// picks are n names, each drawn from all.
func picks(r *shard.Roster, n int64) []pair {
	all := make([]pair, n)
	for i := range all {
		all[i].name, all[i].value = r.Pick(rand.IntN)
	}
	return all
}

// chosen are the elements of a roster that a count asks for.
func chosen(r *shard.Roster, count int64) []pair {
	switch {
	case r.Len() == 0:
		return nil
	case count < 0:
		return picks(r, -count)
	}
	return sample(r, count)
}
