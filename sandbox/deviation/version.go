package deviation

import (
	"net/http"
	"strings"
)

// versionDeviations break the version segment of the paths.
func versionDeviations() []Deviation {
	return []Deviation{
		{
			Name: "info-without-version", Breaks: []string{"VER-01"},
			Why: "The info resource is recorded and served without a version in its path.",
			Wrap: moved(func(env Env) (string, string) {
				return env.Places.Info(), strings.Replace(env.Places.Info(), "/v1/", "/", 1)
			}),
		},
		{
			Name: "operations-without-version", Breaks: []string{"VER-01"},
			Why: "The funding operations are described and served without a version in their paths.",
			Wrap: moved(func(env Env) (string, string) {
				return env.Places.Fundings(), strings.Replace(env.Places.Fundings(), "/v3/", "/", 1)
			}),
		},
	}
}

// moved makes a Wrap that serves what is below one path at another, and names the other in registry, info and document.
func moved(places func(env Env) (from, to string)) wrap {
	return func(next http.Handler, env Env) http.Handler {
		from, to := places(env)
		renamed := rewrite(when(succeeded, func(_ *http.Request, a *Answer) {
			a.Body = []byte(strings.NewReplacer(from, to, `"`+relative(env, from), `"`+relative(env, to)).Replace(string(a.Body)))
		}), Registry, Info, Spec)(next, env)
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			switch path := r.URL.Path; {
			case below(path, to):
				r = r.Clone(r.Context())
				rest := strings.TrimPrefix(path, strings.TrimSuffix(to, "/"))
				r.URL.Path, r.URL.RawPath = strings.TrimSuffix(from, "/")+rest, ""
			case below(path, from):
				http.NotFound(w, r)
				return
			}
			renamed.ServeHTTP(w, r)
		})
	}
}

// below tells whether a path is at or below another.
func below(path, place string) bool {
	place = strings.TrimSuffix(place, "/")
	return path == place || strings.HasPrefix(path, place+"/")
}
