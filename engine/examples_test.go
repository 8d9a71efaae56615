package engine

import (
	"testing"

	"github.com/limitstore/limitstore/redistest"
)

// Every example of every row is true: it is run as a user would type it, in an
// empty store for each command, at the time the desk starts at.
func TestExamples(t *testing.T) {
	for _, row := range newTable(t).Rows() {
		t.Run(row.FullName(), func(t *testing.T) {
			d := newDesk(t, 1)
			for _, x := range row.Examples {
				if got := d.do(redistest.Words(t, x.In)...); got != x.Out {
					t.Errorf("> %s\ngot:\n%s\nwant:\n%s", x.In, got, x.Out)
				}
			}
		})
	}
}
