package shard

import (
	"testing"

	"go.uber.org/goleak"
)

// No test may leave a shard running.
func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }
