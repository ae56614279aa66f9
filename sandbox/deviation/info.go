package deviation

import "net/http"

func infoDeviations() []Deviation {
	return []Deviation{
		{
			Name:   "info-open",
			Why:    "The info resource answers callers without a token, so that it no longer tests the authorization.",
			Breaks: []string{"BRR-01"},
			Wrap: readmit(func(r *http.Request, env Env) *http.Request {
				if r.Header.Get("Authorization") != "" {
					return r
				}
				return env.admit(r)
			}, Info),
		},
	}
}
