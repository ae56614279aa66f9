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
)

// otherAudience is the audience of another service with the same authorization server.
const otherAudience = "https://another-service.example/api"

// tokenScenarios refuse good access tokens, or issue wrong ones.
func tokenScenarios() []Scenario {
	return []Scenario{
		{
			Name: "401-once", Times: 1, Strikes: dataKinds(),
			Does:   "The first request with a good token is answered 401, invalid_token; the token stays good.",
			Why:    "Nodes behind a load balancer load new keys at different times.",
			Client: "Fetches one new token and repeats the request; reports a second 401.",
			begin: onlyIf(isAuthorized, answerInstead(func(e *encounter, w http.ResponseWriter, r *http.Request) {
				e.env.Refuse(w, r, "the token is refused this time, on purpose")
			})),
		},
		{
			Name: "token-expires-early", Times: 1, Strikes: dataKinds(),
			Does:   "The first tokens of a client are good for one request each. A later request with such a token is refused with 401 invalid_token, whatever expires_in said.",
			Why:    "Authorization servers forget tokens when they restart, and administrators revoke them.",
			Client: "Fetches a new token when it gets a 401, whatever its own clock says, and repeats the request.",
			begin:  onlyIf(isAuthorized, expireEarly),
		},
		{
			Name: "wrong-aud", Times: 1, Strikes: []Kind{Token},
			Does:   "The first tokens are for another audience, and the API refuses them with 401 invalid_token.",
			Why:    "The client is also registered for another service, or a mapping of audiences was lost.",
			Client: "Fetches one new token, and then reports the 401 with its description; does not loop.",
			begin:  stateless(issueForOtherAudience),
		},
		{
			Name: "wrong-aud-always", Times: 100, Strikes: []Kind{Token},
			Does:   "All tokens are for another audience, and the API refuses them with 401 invalid_token.",
			Why:    "The client is registered for another service only.",
			Client: "Fetches one new token, and then stops and reports the 401 with its description.", MayStop: true,
			begin: stateless(issueForOtherAudience),
		},
		{
			Name: "key-rotation", Times: 1, Strikes: dataKinds(),
			Does: "At the first request with a good token the node replaces its keys for all clients. Without a wait, the old key is withdrawn at once " +
				"and its tokens are refused. With a wait, the old key stays published and its tokens stay good until the wait is over.",
			Why:    "Keys are replaced on schedule with an overlap, and without one after a leak or a new installation.",
			Client: "Fetches a new token when it gets a 401; software that verifies tokens fetches the JWK Set again for an unknown kid.",
			begin: onlyIf(isAuthorized, actBefore(func(e *encounter, _ *http.Request) {
				_ = e.env.Rotate(e.play.Wait) // fails only without randomness; then the key stays
			})),
		},
	}
}

// expireEarly makes an act that accepts each token once and then refuses it.
func expireEarly() act {
	expired := &expiredTokens{marks: map[tokenHash]string{}}
	return func(e *encounter, next http.Handler, w http.ResponseWriter, r *http.Request) {
		mark, refused := expired.use(e, r)
		if !refused {
			next.ServeHTTP(w, r)
			return
		}
		e.announce(w.Header(), mark)
		e.env.Refuse(w, r, "the token has expired early, on purpose")
	}
}

// maxTokens is the number of tokens after which expiredTokens forgets all of them.
const maxTokens = 8192

// tokenHash identifies a token without storing a credential.
type tokenHash [sha256.Size]byte

// expiredTokens remembers which tokens have been used and are refused.
type expiredTokens struct {
	mu    sync.Mutex
	marks map[tokenHash]string // "" for a token that was used and not refused yet
}

// use records that a request uses its token. If the token is refused, it returns the name and number of that fault.
func (x *expiredTokens) use(e *encounter, r *http.Request) (mark string, refused bool) {
	_, token := credential(r)
	hash := tokenHash(sha256.Sum256([]byte(token)))
	x.mu.Lock()
	defer x.mu.Unlock()
	mark, known := x.marks[hash]
	if known && mark == "" {
		mark, _ = e.claim()
		x.marks[hash] = mark
	}
	if known {
		return mark, mark != ""
	}
	if !e.isOver(e.client) {
		if len(x.marks) >= maxTokens {
			clear(x.marks)
		}
		x.marks[hash] = ""
	}
	return "", false
}

// issueForOtherAudience makes the token endpoint issue a token that the API refuses.
func issueForOtherAudience(e *encounter, next http.Handler, w http.ResponseWriter, r *http.Request) {
	mark, ok := e.claim()
	if !ok {
		next.ServeHTTP(w, r)
		return
	}
	a := capture(next, auth.ForAudience(r, otherAudience))
	if a.ok() {
		e.announce(a.Header, mark)
	} else {
		e.release(e.client)
	}
	a.send(w, r)
}

// These are a member and a vocabulary value that no client knows.
const (
	newMember = "addedInALaterVersion"
	newValue  = "ADDED_IN_A_LATER_VERSION"
)

// contentScenarios change good answers in ways that clients must expect.
func contentScenarios() []Scenario {
	return []Scenario{
		{
			Name: "empty-page", Times: 1, Strikes: []Kind{List, API}, Also: []Kind{TryOut},
			Does:   "The first page with records is an empty array, with the links of the full page.",
			Why:    "The index behind the list is being built.",
			Client: "Does not take an empty page for the end while it has a link to the next; deletes nothing because of one answer.",
			begin: spoil(func(a *answer) bool {
				if len(a.items()) == 0 {
					return false
				}
				a.Body = []byte("[]")
				return true
			}),
		},
		{
			Name: "short-page", Times: 1, Strikes: []Kind{List, API}, Also: []Kind{TryOut},
			Does:   "The first page that has a link to the next has only half of its records, with the links of the full page.",
			Why:    "Records that the client may not see are taken out after the page was read.",
			Client: "Does not take a short page for the end while it has a link to the next.",
			begin: spoil(func(a *answer) bool {
				items := a.items()
				if len(items) < 2 || !hasNext(a) {
					return false
				}
				a.edit(func(value any) any { return value.([]any)[:len(items)/2] })
				return true
			}),
		},
		{
			Name: "next-on-other-host", Times: 1, Strikes: []Kind{List}, Also: []Kind{TryOut},
			Does: "The first link to a next page names the list under another name of this machine: localhost for 127.0.0.1, and the reverse. " +
				"Requests to other host names are never struck.",
			Why:    "A node behind a proxy makes links with the host name that it sees; or an attacker names a host of his own.",
			Client: "Does not send its token to another host, port or scheme: it stops and reports the link, or asks its own host for the path.", MayStop: true,
			begin: onlyIf(hasOtherLoopback, spoil(func(a *answer) bool {
				other, ok := otherLoopback(a.request)
				if !ok || !hasNext(a) {
					return false
				}
				origin := other.Scheme + "://" + other.Host
				a.set("Link", strings.ReplaceAll(a.Header.Get("Link"), "</", "<"+origin+"/"))
				return true
			})),
		},
		{
			Name: "duplicate-items", Times: 1, Strikes: []Kind{List, API}, Also: []Kind{TryOut},
			Does:   "The first record of the first page is repeated at its end.",
			Why:    "Records are added while a client reads page after page, so that some move to the next page.",
			Client: "Identifies records by their id, and keeps one of each; a monitor may stop and report it.", MayStop: true,
			begin: spoilJSON(func(value any) (any, bool) {
				items, _ := value.([]any)
				if len(items) == 0 {
					return nil, false
				}
				return append(items, items[0]), true
			}),
		},
		{
			Name: "unknown-enum-value", Times: 1, Strikes: []Kind{List, Detail, API}, Also: []Kind{TryOut},
			Does:   "The first record has a value outside its vocabulary, in legalType and in targetGroups; in other APIs, in its first value in capitals.",
			Why:    "Vocabularies grow within a major version, before clients are regenerated.",
			Client: "Shows an unknown value as it is, and keeps the record and all others; or stops and reports it, as generated clients do.", MayStop: true,
			begin: spoilJSON(func(value any) (any, bool) {
				record, ok := firstRecord(value)
				if !ok {
					return nil, false
				}
				if _, funding := record["legalType"]; !funding {
					return value, replaceConstant(record)
				}
				groups, _ := record["targetGroups"].([]any)
				record["targetGroups"], record["legalType"] = append(groups, newValue), newValue
				return value, true
			}),
		},
		{
			Name: "extra-fields", Times: 1, Strikes: dataKinds(), Also: []Kind{Token, Registry, Metadata, Keys, TryOut},
			Does:   "Every object of the first good answer has an additional member, at all depths; the map of APIs in the info resource has none.",
			Why:    "Minor versions add members; RFC 6749 §5.1 tells clients of the token endpoint to expect them.",
			Client: "Ignores unknown members.",
			begin:  spoilJSON(func(value any) (any, bool) { return value, addMembers(value) }),
		},
	}
}

// hasNext reports whether an answer has a link to a next page.
func hasNext(a *answer) bool { return strings.Contains(a.Header.Get("Link"), `rel="next"`) }

// spoilJSON is [spoil] for JSON bodies. change returns false if there is nothing to change.
func spoilJSON(change func(value any) (any, bool)) func() act {
	return spoil(func(a *answer) (done bool) {
		a.edit(func(value any) any {
			var changed any
			if changed, done = change(value); !done {
				return value
			}
			return changed
		})
		return done
	})
}

// firstRecord returns the record in the body of a detail, or the first record of a list.
func firstRecord(value any) (record map[string]any, ok bool) {
	if items, several := value.([]any); several && len(items) > 0 {
		value = items[0]
	}
	record, ok = value.(map[string]any)
	return record, ok
}

// addMembers adds a member to each object in a value. It returns false if there is no object.
func addMembers(value any) (done bool) {
	switch v := value.(type) {
	case []any:
		for _, element := range v {
			done = addMembers(element) || done
		}
	case map[string]any:
		for name, member := range v {
			apis, _ := member.(map[string]any)
			if name != "endpoints" || apis == nil {
				addMembers(member)
				continue
			}
			for _, endpoints := range apis { // the map itself gets no member, because its values must be lists of endpoints
				addMembers(endpoints)
			}
		}
		v[newMember] = json.Number("1")
		done = true
	}
	return done
}

// replaceConstant replaces the first value, in the order of member names, that looks like a word of a vocabulary. It returns false if the record has no
// such value.
func replaceConstant(record map[string]any) bool {
	for _, name := range slices.Sorted(maps.Keys(record)) {
		switch v := record[name].(type) {
		case string:
			if isConstant(v) {
				record[name] = newValue
				return true
			}
		case map[string]any:
			if replaceConstant(v) {
				return true
			}
		}
	}
	return false
}

// isConstant reports whether a text is spelled like IN_PROGRESS.
func isConstant(text string) bool {
	return len(text) > 2 && strings.Trim(text, "ABCDEFGHIJKLMNOPQRSTUVWXYZ_") == ""
}
