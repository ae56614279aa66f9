package fault

import (
	"net/http"
	"strings"
	"sync"
)

// callerDeviations give a caller data that only another caller may read.
func callerDeviations() []Deviation {
	return []Deviation{
		{Name: "filtered-lists-cached", Breaks: []string{"API-08", "BRR-18"},
			Why:  "Lists filtered by a funder are cached by their URL in front of the guard, and given to any caller: they are slow, and the portal asks for them often.",
			Wrap: stateful(cacheFilteredLists)},
		{Name: "info-kept-for-all-clients", Breaks: []string{"BRR-17"},
			Why:  "Info names the client and is cached by its URL behind the guard, so that the next client reads the name of the client before it.",
			Wrap: stateful(keepInfo)},
		{Name: "fundings-kept-for-all-clients", Breaks: []string{"BRR-17"},
			Why:  "Lists and details are cached by their URL behind the guard, so that a client reads the annotations of the affiliation that asked before.",
			Wrap: stateful(keepFundings)},
		{Name: "info-names-last-client", Breaks: []string{"INF-01"}, May: []string{"BRR-17"},
			Why:  "Info names the client that got a token last, and not the one whose token was sent: the caller is kept in a variable of the whole process.",
			Wrap: stateful(nameLastClient)},
		{Name: "token-of-parallel-client", Breaks: []string{"API-01"},
			Why:  "When several clients request tokens at the same time, some tokens lack the role: the handler keeps the client in a variable that all requests share.",
			Wrap: stateful(loseRoleInParallel)},
		{Name: "parallel-token-with-broken-signature", Breaks: []string{"API-01", "JWT-08"},
			Why:  "A token that is signed while others are signed has a broken signature: all requests share one signature object. The API refuses the token at once.",
			Wrap: stateful(breakParallelSignature)},
		{Name: "basic-token-without-role", Breaks: []string{"API-01"},
			Why:  "A token that was requested by HTTP Basic lacks the role: the code that adds the role of the account reads the client from the form.",
			Wrap: stateful(loseRoleByBasic)},
		{Name: "own-network-needs-no-role", Breaks: []string{"BRR-18"},
			Why:  "Calls from a private address need a token and no role, and X-Forwarded-For says where a call comes from.",
			Wrap: ignoreRoleIf(func(r *http.Request) bool { return strings.HasPrefix(r.Header.Get("X-Forwarded-For"), "10.") }, List, Detail)},
		{Name: "role-not-checked-for-head", Breaks: []string{"BRR-18"},
			Why:  "HEAD needs a token and no role: the rule for the role names the method GET.",
			Wrap: ignoreRoleIf(isHead, List, Detail)},
		{Name: "original-path-trusted", Breaks: []string{"SEC-02"}, May: []string{"API-08"},
			Why: "Whether a path is public is decided by X-Original-URI, which anybody can send and the gateway does not remove.",
			Example: func(good *http.Request) {
				good.Header.Set("X-Original-URI", "/health")
				good.Header.Del("Authorization")
			},
			Wrap: func(next http.Handler, env Env) http.Handler {
				public := func(r *http.Request) bool {
					path := r.Header.Get("X-Original-URI")
					return isAnonymous(r) && path != "" && !isProtected(env.Classify(withPath(r, path)))
				}
				return admitIf(public, protectedKinds()...)(next, env)
			}},
	}
}

// cacheFilteredLists stores good answers to lists of a funder by their URL, and gives them to every caller.
func cacheFilteredLists() wrap {
	var cache memory[*answer]
	filtered := func(r *http.Request) bool { return r.Method == http.MethodGet && r.URL.Query().Has("funderId") }
	return interceptIf(filtered, func(next http.Handler, _ Env, w http.ResponseWriter, r *http.Request) {
		a, known := cache.get(r.URL.String())
		if !known {
			if a = capture(next, r); a.ok() {
				cache.put(r.URL.String(), a.clone())
			}
		}
		a.send(w, r)
	}, List)
}

// keepFundings gives the first good answer of each URL to all callers with a good token and the role.
func keepFundings() wrap {
	var answers memory[*answer]
	return rewriteSuccess(func(a *answer) {
		if a.request.Method != http.MethodGet || a.request.URL.RawQuery == "" {
			return
		}
		key := a.request.URL.String() + a.request.Header.Get("Accept") + a.request.Header.Get("Accept-Language") + a.request.Header.Get("Accept-Encoding")
		if before, known := answers.get(key); known {
			a.Body, a.Header = before.Body, before.Header.Clone()
			a.set("X-Cache", "HIT")
			return
		}
		answers.put(key, a.clone())
	}, List, Detail)
}

// nameLastClient adds to info the client that got a token last.
func nameLastClient() wrap {
	var last memory[string]
	return both(
		rewriteToken(func(_ tokenRequest, a *answer) bool { return a.ok() }, func(a *answer) { last.put("client", a.client()) }),
		rewriteSuccess(func(a *answer) {
			if client, known := last.get("client"); known {
				a.editObject(func(info map[string]any) { info["client"] = client })
			}
		}, Info))
}

// loseRoleInParallel takes the role from the tokens of two clients that request tokens at the same time.
func loseRoleInParallel() wrap {
	var latest parallelTokens
	var tokensWithoutRole memory[bool]
	return both(
		rewriteToken(func(_ tokenRequest, a *answer) bool { return a.ok() }, func(a *answer) {
			a.editObject(func(body map[string]any) {
				for _, token := range latest.add(a.client(), text(body["access_token"])) {
					tokensWithoutRole.put(token, true)
				}
			})
		}),
		refuseRoleless(&tokensWithoutRole))
}

// breakParallelSignature breaks the signature of the last token of two clients that request tokens at the same time.
func breakParallelSignature() wrap {
	var latest parallelTokens
	return rewriteToken(func(_ tokenRequest, a *answer) bool { return a.ok() }, func(a *answer) {
		a.editObject(func(body map[string]any) {
			token := text(body["access_token"])
			if at := strings.LastIndexByte(token, '.') + 1; len(latest.add(a.client(), token)) > 0 && at < len(token) {
				first := "A"
				if token[at] == 'A' {
					first = "B"
				}
				body["access_token"] = token[:at] + first + token[at+1:]
			}
		})
	})
}

// parallelTokens recognises two clients that request tokens at the same time by the last six tokens, of which each client got three, and not by the time,
// so that a test always has the same result.
type parallelTokens struct {
	mu     sync.Mutex
	latest []struct{ client, token string }
}

// add adds a token. It returns the last tokens if they were requested at the same time, and forgets them then.
func (p *parallelTokens) add(client, token string) (parallel []string) {
	const tokensOfEach = 3
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.latest = append(p.latest, struct{ client, token string }{client, token}); len(p.latest) > 2*tokensOfEach {
		p.latest = p.latest[1:]
	}
	counts := map[string]int{} // by client
	for _, g := range p.latest {
		counts[g.client]++
	}
	if len(p.latest) < 2*tokensOfEach || counts[p.latest[0].client] != tokensOfEach || len(counts) != 2 {
		return nil
	}
	for _, g := range p.latest {
		parallel = append(parallel, g.token)
	}
	p.latest = nil
	return parallel
}

// loseRoleByBasic takes the role from tokens that are requested by HTTP Basic.
func loseRoleByBasic() wrap {
	var tokensWithoutRole memory[bool]
	return both(
		rewriteToken(func(q tokenRequest, a *answer) bool { return q.basic && a.ok() }, func(a *answer) {
			a.editObject(func(body map[string]any) { tokensWithoutRole.put(text(body["access_token"]), true) })
		}),
		refuseRoleless(&tokensWithoutRole))
}

// refuseRoleless makes a wrap in which the fundings refuse the given tokens as if their role were missing.
func refuseRoleless(tokens *memory[bool]) wrap {
	return rewrite(whenRequest(func(r *http.Request) bool { return tokens.has(bearer(r)) },
		inOrder(problem(http.StatusForbidden, "the role is missing"), challenge(`Bearer realm="ris", error="insufficient_scope"`))), List, Detail)
}

// keepInfo adds the first caller to info, and gives this answer to all callers with a good token.
func keepInfo() wrap {
	var answers memory[*answer]
	return rewriteSuccess(func(a *answer) {
		if a.request.Method != http.MethodGet {
			return
		}
		if before, known := answers.get(a.request.URL.Path); known {
			a.Body = before.Body
			return
		}
		if token, ok := parseJWT(bearer(a.request)); ok {
			a.editObject(func(info map[string]any) { info["client"] = text(token.claims["client_id"]) })
		}
		answers.put(a.request.URL.Path, a.clone())
	}, Info)
}
