package limit

import (
	"testing"
	"time"
)

const benchStart = Instant(1_700_000_000_000_000_000)

func BenchmarkBucketTake(b *testing.B) {
	rates := []struct {
		name     string
		capacity int64
		rate     Rate
		step     time.Duration
	}{
		{"allowed", 10, Rate{1, 6 * time.Second}, 6 * time.Second},
		{"denied", 10, Rate{1, 6 * time.Second}, time.Nanosecond},
		{"fraction", 1000, Rate{700_000, time.Second}, 1429 * time.Nanosecond},
		{"wide", MaxTokens, Rate{MaxTokens, 24 * time.Hour}, time.Nanosecond},
	}
	for _, r := range rates {
		b.Run(r.name, func(b *testing.B) {
			b.ReportAllocs()
			now, state := benchStart, Bucket{}
			for b.Loop() {
				now += Instant(r.step)
				state, _, _ = state.Take(now, r.capacity, r.rate, 1)
			}
		})
	}
}
