package server

import (
	"context"
	"fmt"
	"reflect"
	"testing"

	goredis "github.com/redis/go-redis/v9"
)

// TestGoRedisReadsOrdered has go-redis take the replies of sorted sets and lists
// apart, whose shapes differ between the protocols.
func TestGoRedisReadsOrdered(t *testing.T) {
	for _, proto := range []int{2, 3} {
		t.Run(fmt.Sprintf("RESP%d", proto), func(t *testing.T) {
			client, ctx := goredis.NewClient(&goredis.Options{Addr: newRig(t).addr, Protocol: proto}), context.Background()
			t.Cleanup(func() { client.Close() })
			const late = 1.7e18 // ns since 1970
			ann, bob, cid := goredis.Z{Score: -0.5, Member: "ann"}, goredis.Z{Score: 2, Member: "bob"}, goredis.Z{Score: late, Member: "cid"}
			for i, step := range []said{
				result(client.ZAdd(ctx, "z", cid, ann, bob).Result())(int64(3)),
				result(client.ZRangeWithScores(ctx, "z", 0, -1).Result())([]goredis.Z{ann, bob, cid}),
				result(client.ZRevRangeByScoreWithScores(ctx, "z", &goredis.ZRangeBy{Min: "(-0.5", Max: "+inf", Count: 1}).Result())([]goredis.Z{cid}),
				result(client.ZRankWithScore(ctx, "z", "bob").Result())(goredis.RankScore{Rank: 1, Score: 2}),
				result(client.ZMScore(ctx, "z", "cid", "nobody").Result())([]float64{late, 0}),
				result(client.ZIncrBy(ctx, "z", 0.25, "ann").Result())(-0.25),
				result(client.ZUnionWithScores(ctx, goredis.ZStore{Keys: []string{"z"}, Weights: []float64{2}}).Result())([]goredis.Z{{Score: -0.5, Member: "ann"}, {Score: 4, Member: "bob"}, {Score: 2 * late, Member: "cid"}}),
				result(client.ZPopMin(ctx, "z").Result())([]goredis.Z{{Score: -0.25, Member: "ann"}}),
				result(client.ZPopMax(ctx, "z", 5).Result())([]goredis.Z{cid, bob}),
				result(client.RPush(ctx, "l", "a", "b", "a").Result())(int64(3)),
				result(client.LPosCount(ctx, "l", "a", 0, goredis.LPosArgs{}).Result())([]int64{0, 2}),
				result(client.LMove(ctx, "l", "l", "LEFT", "RIGHT").Result())("a"),
				result(client.LPopCount(ctx, "l", 2).Result())([]string{"b", "a"}),
				result(client.LRange(ctx, "l", 0, -1).Result())([]string{"a"}),
			} {
				if step.err != nil || !reflect.DeepEqual(step.got, step.want) {
					t.Errorf("step %d: %v %v, want %v", i, step.got, step.err, step.want)
				}
			}
			if _, err := client.LPopCount(ctx, "nobody", 2).Result(); err != goredis.Nil {
				t.Errorf("LPOP of nobody: %v", err)
			}
			if _, err := client.ZRankWithScore(ctx, "nobody", "a").Result(); err != goredis.Nil {
				t.Errorf("ZRANK of nobody: %v", err)
			}
		})
	}
}

// said is what a client said, and what is wanted.
type said struct {
	got  any
	err  error
	want any
}

// result takes both results of a client's call.
func result[T any](got T, err error) func(want any) said {
	return func(want any) said { return said{got, err, want} }
}
