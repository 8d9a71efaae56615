package engine

import (
	"bytes"
	"cmp"
	"math"
	"slices"

	"github.com/limitstore/limitstore/shard"
)

// Sorted sets put together: what the commands on several of them calculate.

// source is a sorted set, or a set whose members all have the score 1.
type source struct {
	sorted *shard.SortedSet
	set    *shard.Roster
	weight float64
}

func (s *source) size() int { return s.sorted.Len() + s.set.Len() }

// each goes through members and scores, unweighted, until fn returns false.
func (s *source) each(fn func(member []byte, score float64) bool) {
	for x := range s.sorted.Ascending(0, s.sorted.Len()) {
		if !fn(x.Member, float(x.Score)) {
			return
		}
	}
	for member := range s.set.All() {
		if !fn(member, 1) {
			return
		}
	}
}

// score is the score of a member, unweighted; false when it has none.
func (s *source) score(member []byte) (float64, bool) {
	if has(s.set, member) {
		return 1, true
	}
	score, ok := s.sorted.Score(member)
	return float(score), ok
}

// weigh is a score times the source's weight. Zero times infinity is 0 to Redis.
func (s *source) weigh(score float64) float64 {
	if score *= s.weight; math.IsNaN(score) {
		return 0
	}
	return score
}

// An aggregate makes one score of two.
type aggregate func(a, b float64) float64

// plus is their sum, to Redis 0 when the infinities meet.
func plus(a, b float64) float64 {
	if sum := a + b; !math.IsNaN(sum) {
		return sum
	}
	return 0
}

func lesser(a, b float64) float64 {
	if b < a {
		return b
	}
	return a
}

func greater(a, b float64) float64 {
	if b > a {
		return b
	}
	return a
}

// joining is one of the commands being run.
type joining struct {
	sources   []source
	aggregate aggregate
	scores    bool
	limit     int64
}

// A join calls yield with each member of the result, once, and its score, and
// stops when that says false.
type join func(j *joining, yield func(member []byte, score float64) bool)

// joinSources looks up the keys that the number at a position counts. It replies
// with the error and says false when they are wrong; otherwise it returns the words
// after them.
func (c *Call) joinSources(j *joining, at int) (rest [][]byte, ok bool) {
	n, ok := Int(c.Args[at])
	words := c.Args[at+1:]
	switch {
	case !ok:
		c.Fail(NotInteger)
		return nil, false
	case n < 1:
		c.Fail(NoInputKeys, c.Command.lower)
		return nil, false
	case n > int64(len(words)):
		c.Fail(Syntax)
		return nil, false
	}
	for _, key := range words[:n] {
		db, e := c.Read(key)
		if e.Kind() != shard.KindSet && c.mismatch(&e, shard.KindSorted) {
			return nil, false
		}
		j.sources = append(j.sources, source{db.Sorted(&e), db.Set(&e), 1})
	}
	return words[n:], true
}

// joinOptions say which options a command has.
type joinOptions struct{ weights, scores, limit bool }

// options reads the words after the keys. It replies with the error and says
// false when they are wrong.
func (j *joining) options(c *Call, words [][]byte, takes joinOptions) bool {
	j.aggregate = plus
	for len(words) > 0 {
		used, ok := 0, true
		switch {
		case takes.weights && len(words) > len(j.sources) && EqualFold(words[0], "WEIGHTS"):
			used, ok = 1+len(j.sources), j.weights(c, words[1:])
		case takes.weights && len(words) > 1 && EqualFold(words[0], "AGGREGATE"):
			used, ok = 2, j.aggregates(c, words[1])
		case takes.scores && EqualFold(words[0], "WITHSCORES"):
			used, j.scores = 1, true
		case takes.limit && len(words) > 1 && EqualFold(words[0], "LIMIT"):
			used = 2
			j.limit, ok = c.notNegative(words[1], NegativeLimit)
		default:
			c.Fail(Syntax)
			return false
		}
		if !ok {
			return false
		}
		words = words[used:]
	}
	return true
}

func (j *joining) weights(c *Call, words [][]byte) bool {
	for i := range j.sources {
		weight, ok := parseDouble(words[i])
		if !ok {
			c.Fail(WeightNotFloat)
			return false
		}
		j.sources[i].weight = weight
	}
	return true
}

func (j *joining) aggregates(c *Call, word []byte) bool {
	switch {
	case EqualFold(word, "SUM"):
		j.aggregate = plus
	case EqualFold(word, "MIN"):
		j.aggregate = lesser
	case EqualFold(word, "MAX"):
		j.aggregate = greater
	default:
		c.Fail(Syntax)
		return false
	}
	return true
}

// bySize puts the smallest source first. Redis does so too, and the order can
// show in the last digit of a sum.
func (j *joining) bySize() {
	slices.SortStableFunc(j.sources, func(a, b source) int { return cmp.Compare(a.size(), b.size()) })
}

// result is the members of a join, in order.
func (j *joining) result(of join) []shard.Ranked {
	var all []shard.Ranked
	of(j, func(member []byte, score float64) bool {
		all = append(all, shard.Ranked{Member: member, Score: scoreOf(score)})
		return true
	})
	slices.SortFunc(all, func(a, b shard.Ranked) int {
		return cmp.Or(cmp.Compare(float(a.Score), float(b.Score)), bytes.Compare(a.Member, b.Member))
	})
	return all
}

func sortedUnion(j *joining, yield func([]byte, float64) bool) {
	type found struct {
		member []byte
		score  float64
	}
	var all []found
	at := map[string]int{}
	j.bySize()
	for i := range j.sources {
		s := &j.sources[i]
		s.each(func(member []byte, score float64) bool {
			if n, seen := at[string(member)]; seen {
				all[n].score = j.aggregate(all[n].score, s.weigh(score))
			} else {
				at[string(member)] = len(all)
				all = append(all, found{member, s.weigh(score)})
			}
			return true
		})
	}
	for _, f := range all {
		if !yield(f.member, f.score) {
			return
		}
	}
}

func sortedIntersection(j *joining, yield func([]byte, float64) bool) {
	j.bySize()
	j.sources[0].each(func(member []byte, score float64) bool {
		score = j.sources[0].weigh(score)
		for i := range j.sources[1:] {
			s := &j.sources[i+1]
			other, ok := s.score(member)
			if !ok {
				return true
			}
			score = j.aggregate(score, other*s.weight)
		}
		return yield(member, score)
	})
}

func sortedDifference(j *joining, yield func([]byte, float64) bool) {
	j.sources[0].each(func(member []byte, score float64) bool {
		for i := range j.sources[1:] {
			if _, elsewhere := j.sources[i+1].score(member); elsewhere {
				return true
			}
		}
		return yield(member, score)
	})
}
