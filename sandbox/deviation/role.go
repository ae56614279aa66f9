package deviation

import "net/http"

// roleDeviations break what a client without the role meets.
func roleDeviations() []Deviation {
	return []Deviation{
		{
			Name: "role-not-checked", Breaks: []string{"BRR-18"},
			Why: "Any token reads the fundings: the service checks the token and not the role of the account.",
			Wrap: around(func(next http.Handler, env Env, w http.ResponseWriter, r *http.Request) {
				a := capture(next, r)
				if refusedRole(r, a) {
					a = capture(next, env.admit(r))
				}
				a.send(w, r)
			}, FundingList, FundingDetail),
		},
		{
			Name: "role-not-checked-on-detail", Breaks: []string{"BRR-18"},
			Why: "The role is checked on the list and not on the detail, whose method lacks the annotation.",
			Wrap: around(func(next http.Handler, env Env, w http.ResponseWriter, r *http.Request) {
				a := capture(next, r)
				if refusedRole(r, a) {
					a = capture(next, env.admit(r))
				}
				a.send(w, r)
			}, FundingDetail),
		},
		{
			Name: "role-missing-empty-list", Breaks: []string{"BRR-18", "BRR-19"},
			Why: "A client without the role gets an empty list, because the role is a filter of the query.",
			Wrap: rewrite(when(refusedRole, func(_ *http.Request, a *Answer) {
				a.become(http.StatusOK, "application/json", "[]")
			}), FundingList),
		},
		{
			Name: "role-missing-invalid-token", Breaks: []string{"BRR-19"},
			Why: "A missing role is reported as an invalid token, so that clients fetch new tokens in a loop.",
			Wrap: rewrite(when(refusedRole, func(_ *http.Request, a *Answer) {
				a.restate(http.StatusUnauthorized)
				a.challenge(`Bearer realm="ris", error="invalid_token"`)
			}), FundingList, FundingDetail),
		},
		{
			Name: "role-missing-not-found", Breaks: []string{"BRR-19"},
			Why: "A client without the role is told that there is no such resource.",
			Wrap: rewrite(when(refusedRole, func(_ *http.Request, a *Answer) {
				a.become(http.StatusNotFound, "application/problem+json", `{"type":"about:blank","title":"Not Found","status":404,"detail":"no such resource"}`)
			}), FundingList, FundingDetail),
		},
		{
			Name: "role-missing-without-challenge", Breaks: []string{"BRR-19"},
			Why:  "A missing role is answered 403 without a challenge, as most frameworks do.",
			Wrap: rewrite(when(refusedRole, field("WWW-Authenticate", "")), FundingList, FundingDetail),
		},
		{
			Name: "role-cached-by-url", Breaks: []string{"BRR-18"},
			Why:  "The role is checked behind a cache of answers: what one client may read is handed to each client with a token.",
			Wrap: keptForAll,
		},
	}
}

// keptForAll answers clients without the role with what others got before.
func keptForAll(next http.Handler, env Env) http.Handler {
	var copies memory[*Answer]
	return around(func(next http.Handler, _ Env, w http.ResponseWriter, r *http.Request) {
		a := capture(next, r)
		if kept, known := copies.get(r.URL.String()); known && refusedRole(r, a) {
			a = kept.clone()
		} else if a.ok() && r.Method == http.MethodGet {
			copies.put(r.URL.String(), a.clone())
		}
		a.send(w, r)
	}, FundingList, FundingDetail)(next, env)
}
