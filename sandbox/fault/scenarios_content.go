package fault

import (
	"crypto/sha256"
	"encoding/json"
	"maps"
	"net/http"
	"slices"
	"strings"
	"sync"

	"github.com/rin-network/rin/sandbox/auth"
	"github.com/rin-network/rin/sandbox/journal"
)

// otherAudience is a service that shares the authorization server, and is not this node.
const otherAudience = "https://another-service.example/api"

// tokens are scenarios of the life of an access token.
func tokens() []Scenario {
	return []Scenario{
		{
			Name: "401-once", Times: 1, Strikes: mayNeedToken(),
			Does:   "The first request with a good token is answered 401, invalid_token; the token stays good.",
			Why:    "Nodes behind a load balancer learn of new keys at different moments.",
			Client: "Fetches a new token, once, and repeats the request; reports a second 401.",
			begin: ofCaller(instead(func(t *turn, w http.ResponseWriter, r *http.Request) {
				t.env.Refuse(w, r, "the token is refused this time, on purpose")
			})),
		},
		{
			Name: "token-expires-early", Times: 1, Strikes: mayNeedToken(),
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
			Name: "key-rotation", Times: 1, Strikes: mayNeedToken(),
			Does: "At the first request with a good token the node changes its keys, for all clients. The old key is withdrawn at once and its tokens " +
				"are refused; or stays published and good for the wait, if one is given.",
			Why:    "Keys are changed on schedule with an overlap, and without one when they leaked or a node was set up anew.",
			Client: "Fetches a new token when it meets a 401; who verifies tokens fetches the JWK Set again when a kid is new.",
			begin: ofCaller(letNodeAnswer(func(t *turn, _ *http.Request) {
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
	a := Capture(next, auth.ForAudience(r, otherAudience))
	if a.OK() {
		t.struck(a.Header, mark)
	} else { // no token, no fault
		t.giveBack(t.client)
	}
	a.Send(w, r)
}

// The name and the value that nobody has heard of.
const (
	newMember = "addedInALaterVersion"
	newValue  = "ADDED_IN_A_LATER_VERSION"
)

// contents are good answers with something in them that careless clients don't survive.
func contents() []Scenario {
	return []Scenario{
		{
			Name: "empty-page", Times: 1, Strikes: []Kind{FundingList, API}, Also: []Kind{TryOut},
			Does:   "The first page with records comes without them: an empty array, with the links of the full page.",
			Why:    "The index behind the list is being built, and answers what it has.",
			Client: "Does not take an empty page for the end while it has a link to a next one; deletes nothing because of one answer.",
			begin: altered(func(a *Answer) bool {
				if len(a.Items()) == 0 {
					return false
				}
				a.Body = []byte("[]")
				return true
			}),
		},
		{
			Name: "duplicate-items", Times: 1, Strikes: []Kind{FundingList, API}, Also: []Kind{TryOut},
			Does:   "The first record of the first page stands at its end, too.",
			Why:    "Records are added while a client reads page after page, so that some move to the next one.",
			Client: "Knows records by their id, and keeps one of each.",
			begin: altered(func(a *Answer) bool {
				return edited(a, func(value any) (any, bool) {
					items, _ := value.([]any)
					if len(items) == 0 {
						return nil, false
					}
					return append(items, items[0]), true
				})
			}),
		},
		{
			Name: "unknown-enum-value", Times: 1, Strikes: []Kind{FundingList, FundingDetail, API}, Also: []Kind{TryOut},
			Does:   "The first record has a value that its vocabulary does not: its legalType and one of its targetGroups; elsewhere the first in capitals.",
			Why:    "Vocabularies grow within a major version, before clients are generated anew.",
			Client: "Shows a value that it does not know as it is, and keeps the record and all others.",
			begin: altered(func(a *Answer) bool {
				return edited(a, func(value any) (any, bool) {
					record, ok := first(value)
					if !ok {
						return nil, false
					}
					if _, funding := record["legalType"]; !funding {
						return value, renew(record)
					}
					groups, _ := record["targetGroups"].([]any)
					record["targetGroups"], record["legalType"] = append(groups, newValue), newValue
					return value, true
				})
			}),
		},
		{
			Name: "extra-fields", Times: 1, Strikes: mayNeedToken(), Also: []Kind{Token, Registry, journal.Metadata, journal.Keys, TryOut},
			Does:   "Every object of the first good answer has a member more, at all depths.",
			Why:    "Minor versions add members; RFC 6749 §5.1 tells clients of the token endpoint to expect them.",
			Client: "Ignores members that it does not know.",
			begin: altered(func(a *Answer) bool {
				return edited(a, func(value any) (any, bool) { return value, enrich(value) })
			}),
		},
	}
}

// edited changes the JSON of an answer; false leaves it as it was.
func edited(a *Answer, change func(value any) (any, bool)) (done bool) {
	a.Edit(func(value any) any {
		var changed any
		if changed, done = change(value); !done {
			return value
		}
		return changed
	})
	return done
}

// first is the record of an answer, or the first of several.
func first(value any) (record map[string]any, ok bool) {
	if items, several := value.([]any); several && len(items) > 0 {
		value = items[0]
	}
	record, ok = value.(map[string]any)
	return record, ok
}

// enrich adds a member to each object of a value, and tells whether there is one.
func enrich(value any) (done bool) {
	switch v := value.(type) {
	case []any:
		for _, element := range v {
			done = enrich(element) || done
		}
	case map[string]any:
		for _, member := range v {
			enrich(member)
		}
		v[newMember] = json.Number("1")
		done = true
	}
	return done
}

// renew replaces the first text of a record, by the names of its members, that looks like a value of a vocabulary; false when none does.
func renew(record map[string]any) bool {
	for _, name := range slices.Sorted(maps.Keys(record)) {
		switch v := record[name].(type) {
		case string:
			if isConstant(v) {
				record[name] = newValue
				return true
			}
		case map[string]any:
			if renew(v) {
				return true
			}
		}
	}
	return false
}

// isConstant tells whether a text is spelled as vocabularies are: IN_PROGRESS.
func isConstant(text string) bool {
	return len(text) > 2 && strings.Trim(text, "ABCDEFGHIJKLMNOPQRSTUVWXYZ_") == ""
}
