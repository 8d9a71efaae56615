// Package compat says which limiter libraries were run against limitstore and against
// redis-server, and with what result. cmd/limitstore writes the page from it; compat/run
// runs the suites and writes the results. It starts nothing itself.
package compat

// Suite is the tests of one library.
type Suite struct {
	Name    string   // of its script in suites, and of its results
	Version string   // of the library, as its registry names it
	Ran     string   // what of it is run
	Cases   int      // how many that must be; fewer is a failure
	Needs   []string // programs that must be there
	Spawns  bool     // starts its servers itself
}

// Suites are all, in the order they are run.
func Suites() []Suite {
	node, golang := []string{"npm", "node"}, []string{"go"}
	return []Suite{
		{Name: "fastify-rate-limit", Version: "npm @fastify/rate-limit 11.2.0", Ran: "its tests of the Redis store, ioredis 6", Cases: 16, Needs: node},
		{Name: "ratelimiter", Version: "npm ratelimiter 3.4.1", Ran: "all its tests, redis 2.8 and ioredis 4", Cases: 24, Needs: node},
		{Name: "rolling-rate-limiter", Version: "npm rolling-rate-limiter 0.4.2", Ran: "all its tests, redis 4 and ioredis 5", Cases: 43, Needs: node},
		{Name: "redis_rate", Version: "Go go-redis/redis_rate v10.0.1", Ran: "all its tests and its example, go-redis 9", Cases: 6, Needs: golang},
		{Name: "ulule-limiter", Version: "Go ulule/limiter v3.11.2", Ran: "its tests of the Redis store, go-redis 9", Cases: 3, Needs: golang},
		{Name: "throttled", Version: "Go throttled v2.15.0", Ran: "its tests of four Redis stores: go-redis 6, 8 and 9, redigo", Cases: 4, Needs: golang},
		{Name: "envoy-ratelimit", Version: "Go envoyproxy/ratelimit 3fb702589d36", Ran: "its integration tests without TLS, cluster, Sentinel and memcached; it starts the server", Cases: 22, Needs: golang, Spawns: true},
		{Name: "bottleneck", Version: "npm bottleneck 2.19.5", Ran: "all its tests with its ioredis and its redis store", Cases: 262, Needs: node},
	}
}

// Exception is a case that does not pass on both servers, and may: these are all.
type Exception struct {
	Suite, Case       string
	Redis, Limitstore string // the verdicts, as the suite's script writes them
	Why               string
}

// bareWord and spacing are why cases fail wherever a server does as Redis 7 does.
const (
	bareWord = "since Redis 7 `redis.error_reply('WORD')` reaches the client as `ERR WORD`, and bottleneck compares the bare word"
	spacing  = "the script counts the seconds since 2017 in a double; since July 2025, which is 2^28 of them, doubles are too far apart for its tenth of a second, and it answers 8 where its tests want 9"
)

// Exceptions are the cases that do not pass on both servers, with the reason.
func Exceptions() []Exception {
	var all []Exception
	for _, store := range []string{"ioredis", "redis"} {
		for _, name := range []string{
			"Cluster-only Should not clear unresponsive clients with unexpired running jobs",
			"Cluster-only Should clear unresponsive clients after last jobs are expired",
			"Cluster-only Should clear previous settings",
			"Cluster-only Should not fail when Redis data is missing",
			"General Weight Should not add jobs with a weight above the maxConcurrent",
		} {
			all = append(all, Exception{"bottleneck", store + ": " + name, "fail", "fail", bareWord})
		}
	}
	for _, name := range []string{"TestAllow", "TestAllowN_IncrementZero", "TestAllowAtMost", "TestAllowAtMost_IncrementZero", "ExampleNewLimiter"} {
		all = append(all, Exception{"redis_rate", name, "fail: 8 for 9", "fail: 8 for 9", spacing})
	}
	return all
}
