package scenario

import (
	"crypto/sha256"
	"net/http"
	"strings"
	"sync"

	"github.com/rin-network/rin/sandbox/answer"
	"github.com/rin-network/rin/sandbox/auth"
)

// otherAudience is a service that shares the authorization server, and is not this node.
const otherAudience = "https://another-service.example/api"

// tokens are scenarios of the life of an access token.
func tokens() []Scenario {
	return []Scenario{
		{
			Name: "401-once", Times: 1, Strikes: protected(),
			Does:   "The first request with a good token is answered 401, invalid_token; the token stays good.",
			Why:    "Nodes behind a load balancer learn of new keys at different moments.",
			Client: "Fetches a new token, once, and repeats the request; reports a second 401.",
			begin: ofCaller(instead(func(t *turn, w http.ResponseWriter, r *http.Request) {
				t.env.Refuse(w, r, "the token is refused this time, on purpose")
			})),
		},
		{
			Name: "token-expires-early", Times: 1, Strikes: protected(),
			Does:   "The first tokens of a client are good for one request each and refused from then on, 401 invalid_token, whatever expires_in said.",
			Why:    "Authorization servers forget tokens when they restart, and administrators revoke them.",
			Client: "Fetches a new token when it meets a 401, whatever its own clock says, and repeats the request.",
			begin:  ofCaller(expireEarly),
		},
		{
			Name: "wrong-aud", Times: 1, Strikes: []Kind{Token},
			Does:   "The first tokens are for another audience, and refused by the API: 401 invalid_token.",
			Why:    "The client is registered for another service too, or a mapping of audiences was lost.",
			Client: "Fetches a new token, once, and then reports the 401 with its description; does not loop.",
			begin:  same(forAnotherAudience),
		},
		{
			Name: "key-rotation", Times: 1, Strikes: protected(),
			Does: "At the first request with a good token the node changes its keys, for all clients. The old key is withdrawn at once and its tokens " +
				"are refused; or stays published and good for the wait, if one is given.",
			Why:    "Keys are changed on schedule with an overlap, and without one when they leaked or a node was set up anew.",
			Client: "Fetches a new token when it meets a 401; who verifies tokens fetches the JWK Set again when a kid is new.",
			begin: ofCaller(before(func(t *turn, _ *http.Request) {
				_ = t.env.Rotate(t.play.Wait) // fails without randomness alone; the key stays
			})),
		},
	}
}

// expireEarly makes an act that lets each token pass once and refuses it afterwards.
func expireEarly() act {
	early := &earlyEnd{marks: map[tokenHash]string{}}
	return func(t *turn, next http.Handler, w http.ResponseWriter, r *http.Request) {
		mark, over := early.refuses(t, r)
		if !over {
			next.ServeHTTP(w, r)
			return
		}
		t.struck(w.Header(), mark)
		t.env.Refuse(w, r, "the token is over before its time, on purpose")
	}
}

// maxTokens is the number of tokens at which an early end forgets which they were.
const maxTokens = 8192

// tokenHash stands for a token, so that no credential is kept.
type tokenHash [sha256.Size]byte

// earlyEnd remembers which tokens are over.
type earlyEnd struct {
	mu    sync.Mutex
	marks map[tokenHash]string // "" for a token that was used and not yet refused
}

// refuses tells whether the token of a request is over, and the mark of that.
func (e *earlyEnd) refuses(t *turn, r *http.Request) (mark string, over bool) {
	_, token, _ := strings.Cut(strings.TrimSpace(r.Header.Get("Authorization")), " ")
	hash := tokenHash(sha256.Sum256([]byte(strings.TrimSpace(token))))
	e.mu.Lock()
	defer e.mu.Unlock()
	mark, known := e.marks[hash]
	if known && mark == "" {
		mark, _ = t.take()
		e.marks[hash] = mark
	}
	if known {
		return mark, mark != ""
	}
	if !t.over(t.client) {
		if len(e.marks) >= maxTokens {
			clear(e.marks)
		}
		e.marks[hash] = ""
	}
	return "", false
}

// forAnotherAudience lets the token endpoint make a token that the API refuses.
func forAnotherAudience(t *turn, next http.Handler, w http.ResponseWriter, r *http.Request) {
	mark, ok := t.take()
	if !ok {
		next.ServeHTTP(w, r)
		return
	}
	a := answer.Capture(next, auth.ForAudience(r, otherAudience))
	if a.OK() {
		t.struck(a.Header, mark)
	} else { // no token, no fault
		t.giveBack(t.client)
	}
	a.Send(w, r)
}
