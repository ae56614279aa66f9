package scenario

import (
	"crypto/sha256"
	"net/http"
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
			Does:   "A token is good for one request and refused from then on, 401 invalid_token, whatever expires_in said; so are the first tokens of a client.",
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
	var mu sync.Mutex
	marks := map[[sha256.Size]byte]string{} // of tokens that were used; "" before the first refusal
	used := map[string]int{}                // how many of a client
	// refused tells the mark of a token that is over.
	refused := func(t *turn, token string) (string, bool) {
		mu.Lock()
		defer mu.Unlock()
		key := sha256.Sum256([]byte(token))
		mark, known := marks[key]
		switch {
		case !known && t.play.Times > 0 && used[t.client] >= t.play.Times:
			return "", false
		case !known:
			if len(marks) >= maxClients*8 {
				clear(marks)
			}
			marks[key] = ""
			used[t.client]++
			return "", false
		case mark == "":
			mark, _ = t.take()
			marks[key] = mark
		}
		return mark, mark != ""
	}
	return func(t *turn, next http.Handler, w http.ResponseWriter, r *http.Request) {
		mark, over := refused(t, r.Header.Get("Authorization"))
		if !over {
			next.ServeHTTP(w, r)
			return
		}
		t.struck(w.Header(), mark)
		t.env.Refuse(w, r, "the token is over before its time, on purpose")
	}
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
