package scenario

import (
	"net/http"

	"github.com/rin-network/rin/sandbox/answer"
	"github.com/rin-network/rin/sandbox/journal"
)

// act answers a request that a play may strike, or lets next do so.
type act func(t *turn, next http.Handler, w http.ResponseWriter, r *http.Request)

// turn is one request before one play.
type turn struct {
	*running
	env    Env
	kind   Kind
	note   *journal.Note
	client string // with a good token, or claimed in a token request; "" otherwise
}

func (t *turn) take() (mark string, ok bool) { return t.running.take(t.client) }

// struck says in the answer and in the journal that a fault is on purpose. It may not be the only one.
func (t *turn) struck(answer http.Header, mark string) {
	t.note.Deviate(mark)
	if others := answer.Get(Header); others != "" {
		mark = others + ", " + mark
	}
	answer.Set(Header, mark)
}

// same makes the begin of an act that remembers nothing.
func same(a act) func() act { return func() act { return a } }

// instead makes the begin of an act that answers in the node's place.
func instead(reply func(t *turn, w http.ResponseWriter, r *http.Request)) func() act {
	return same(func(t *turn, next http.Handler, w http.ResponseWriter, r *http.Request) {
		mark, ok := t.take()
		if !ok {
			next.ServeHTTP(w, r)
			return
		}
		t.struck(w.Header(), mark)
		reply(t, w, r)
	})
}

// before makes the begin of an act that does something and lets the node answer.
func before(do func(t *turn, r *http.Request)) func() act {
	return same(func(t *turn, next http.Handler, w http.ResponseWriter, r *http.Request) {
		if mark, ok := t.take(); ok {
			t.struck(w.Header(), mark)
			do(t, r)
		}
		next.ServeHTTP(w, r)
	})
}

// ofCaller makes the begin of an act out of one that concerns requests with a good access token alone.
func ofCaller(begin func() act) func() act {
	return func() act {
		inner := begin()
		return func(t *turn, next http.Handler, w http.ResponseWriter, r *http.Request) {
			if t.client == "" {
				next.ServeHTTP(w, r)
				return
			}
			inner(t, next, w, r)
		}
	}
}

// altered makes the begin of an act that spoils good answers with a body. An answer in which there is nothing to spoil is no fault.
func altered(spoil func(a *answer.Answer) bool) func() act {
	return delivered(spoil, (*answer.Answer).Send)
}

// delivered is altered with a way to send what was spoilt.
func delivered(spoil func(a *answer.Answer) bool, send func(a *answer.Answer, w http.ResponseWriter, r *http.Request)) func() act {
	return same(func(t *turn, next http.Handler, w http.ResponseWriter, r *http.Request) {
		if r.Method == http.MethodHead || t.over(t.client) {
			next.ServeHTTP(w, r)
			return
		}
		good := answer.Capture(next, r)
		spoilt := good.Clone()
		if !good.OK() || !spoil(spoilt) {
			good.Send(w, r)
			return
		}
		mark, ok := t.take()
		if !ok { // another request was faster
			good.Send(w, r)
			return
		}
		t.struck(spoilt.Header, mark)
		send(spoilt, w, r)
	})
}
