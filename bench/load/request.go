package load

import (
	"bytes"
	"strings"

	"github.com/limitstore/limitstore/resp"
)

// digits is how many the number of a key has.
const digits = 16

// encode is a command as it is sent.
func encode(words ...string) []byte {
	var w resp.Writer
	w.Array(len(words))
	for _, word := range words {
		w.BulkString(word)
	}
	return w.Bytes()
}

// request is a row's request as it is sent.
type request struct {
	name  string // of the command
	text  []byte
	marks []int // where the digits of its numbers begin
	reply byte  // the first byte of what must come back
}

// requests are those of the workload.
func (w Workload) requests() []request {
	all := make([]request, len(w.Requests))
	for i, template := range w.Requests {
		all[i] = newRequest(template, w.Script)
		all[i].reply = w.Reply[i%len(w.Reply)]
	}
	return all
}

// newRequest makes the request of a template.
func newRequest(template, script string) request {
	mark := strings.Repeat("\x00", digits) // in no template
	words := strings.Fields(template)
	for i, word := range words {
		words[i] = strings.ReplaceAll(strings.ReplaceAll(word, "{sha}", sha(script)), "{n}", mark)
	}
	r := request{name: words[0], text: encode(words...)}
	for {
		at := bytes.Index(r.text, []byte(mark))
		if at < 0 {
			return r
		}
		copy(r.text[at:], strings.Repeat("0", digits))
		r.marks = append(r.marks, at)
	}
}

// pipeline is what a connection sends at a time. The bytes are made once; number
// writes the digits of the keys.
type pipeline struct {
	text    []byte
	ends    []int   // of each request in text
	marks   [][]int // of each request, from the beginning of text
	replies []byte  // the first byte of what must come back for each
	names   []string
}

// newPipeline is depth requests: those given, in turn, from the first-th on.
func newPipeline(requests []request, depth, first int) *pipeline {
	p := &pipeline{}
	for i := range depth {
		r := requests[(first+i)%len(requests)]
		var marks []int
		for _, at := range r.marks {
			marks = append(marks, len(p.text)+at)
		}
		p.text = append(p.text, r.text...)
		p.ends, p.marks = append(p.ends, len(p.text)), append(p.marks, marks)
		p.replies, p.names = append(p.replies, r.reply), append(p.names, r.name)
	}
	return p
}

// pipelines are all that a connection sends, one after the other and again, so
// that every request has its turn whatever the depth.
func pipelines(requests []request, depth int) []*pipeline {
	var all []*pipeline
	for first := 0; len(all) == 0 || first%len(requests) != 0; first += depth {
		all = append(all, newPipeline(requests, depth, first))
	}
	return all
}

// number writes the key's number into the i-th request.
func (p *pipeline) number(i int, key uint64) {
	for _, at := range p.marks[i] {
		for d, rest := at+digits-1, key; d >= at; d, rest = d-1, rest/10 {
			p.text[d] = byte('0' + rest%10)
		}
	}
}

// fill chooses the keys of the first n requests and returns their text.
func (p *pipeline) fill(n int, keys picker) []byte {
	for i := range n {
		p.number(i, keys.next())
	}
	return p.text[:p.ends[n-1]]
}
