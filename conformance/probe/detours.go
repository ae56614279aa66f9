package probe

import (
	"context"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/rin-network/rin/conformance/draw"
	"github.com/rin-network/rin/conformance/evidence"
	"github.com/rin-network/rin/conformance/recorder"
)

// detourFamilies plans requests without a token that may get past a token check: they differ in the path, the method, headers that proxies set, or
// other traits. A correct node refuses each of them, or sends no data.
func detourFamilies() []row {
	return slices.Concat(
		detourFamily(evidence.PathDetours, pathDetours()...),
		detourFamily(evidence.MethodDetours, methodDetours()...),
		detourFamily(evidence.HeaderDetours, headerDetours()...),
		detourFamily(evidence.TraitDetours, traitDetours()...),
	)
}

// detour is one variant of a request without a token.
type detour struct {
	variant evidence.Case
	words   string // for the report
	// change turns a plain request into the variant; it returns false if the resource has no such variant.
	change func(s draw.Source, r *run, q *recorder.Request) bool
}

func detourFamily(family evidence.Family, detours ...detour) []row {
	var out []row
	plan := in(stageOddCredentials, stageAuthorized).alsoOn(onGuarded)
	for _, d := range detours {
		out = append(out, row{Label: evidence.ProbeTarget.With(d.variant), Words: d.words, Family: family, Plan: plan, Send: sendDetour(d)})
	}
	return out
}

func sendDetour(d detour) sender {
	return controlled(func(_ context.Context, r *run, res Resource) (recorder.Request, *unsent) {
		q := res.Get()
		if !d.change(r.source(res.Name, string(d.variant)), r, &q) {
			return q, notApplicable("%s has no such variant", res.Name)
		}
		return q, nil
	})
}

// setHeader replaces or adds a header field; an empty value removes it.
func setHeader(q *recorder.Request, name, value string) {
	q.Header = slices.DeleteFunc(q.Header, func(f evidence.Field) bool { return strings.EqualFold(f.Name, name) })
	if value != "" {
		q.Header = append(q.Header, evidence.Field{Name: name, Value: value})
	}
}

// methodDetours use another method, or name another one in a header or in the query. They send only methods that the IANA registry of HTTP methods
// calls safe, because the others may change data.
func methodDetours() []detour {
	method := func(kind evidence.Case, words string, methods []string, change func(s draw.Source, q *recorder.Request)) detour {
		return detour{kind, words, func(s draw.Source, _ *run, q *recorder.Request) bool {
			q.Method, q.FollowSameOrigin = draw.One(s, methods...), false
			if change != nil {
				change(s, q)
			}
			return true
		}}
	}
	get, options := []string{http.MethodGet}, []string{http.MethodOptions}
	override := func(values ...string) func(draw.Source, *recorder.Request) {
		return func(s draw.Source, q *recorder.Request) {
			value := draw.One(s, values...)
			for _, name := range []string{"X-HTTP-Method-Override", "X-HTTP-Method", "X-Method-Override", "X-Original-Method", "X-Forwarded-Method"} {
				setHeader(q, name, value)
			}
		}
	}
	inQuery := func(values ...string) func(draw.Source, *recorder.Request) {
		return func(s draw.Source, q *recorder.Request) {
			q.URL = withQuery(q.URL, pair{draw.One(s, "_method", "method", "httpMethod", "_HttpMethod"), draw.One(s, values...)})
		}
	}
	return []detour{
		method("options", "without a token as OPTIONS", options, nil),
		method("options-content", "without a token as OPTIONS with content", options, func(s draw.Source, q *recorder.Request) {
			setHeader(q, "Content-Type", "application/json")
			q.Body = []byte(`{"` + s.Word() + `":"` + s.Word() + `"}`)
		}),
		method("options-preflight", "without a token as a preflight", options, func(s draw.Source, q *recorder.Request) {
			setHeader(q, "Origin", "https://"+s.Host())
			setHeader(q, "Access-Control-Request-Method", http.MethodGet)
			setHeader(q, "Access-Control-Request-Headers", "authorization")
		}),
		method("options-as-get", "without a token as OPTIONS that asks to be taken for GET", options, override(http.MethodGet)),
		method("options-query-get", "without a token as OPTIONS whose query asks to be taken for GET", options, inQuery("GET", "get")),
		method("get-as-other", "without a token as GET that asks to be taken for HEAD or OPTIONS", get, override("HEAD", "OPTIONS", "GET")),
		method("get-query-other", "without a token as GET whose query asks for another method", get, inQuery("OPTIONS", "HEAD", "options", "head")),
		method("method-safe", "without a token as a safe method that few servers know", []string{"PROPFIND", "SEARCH", "REPORT", "QUERY"}, nil),
		method("method-lower", "without a token as get in small letters", []string{"get", "Get"}, nil),
	}
}

// expectTimeout bounds a request with Expect: some servers (waitress) wait for a body that never comes.
const expectTimeout = 3 * time.Second

// traitDetours change other parts of the request: content negotiation, conditions, the protocol, and query parameters that a node may know.
func traitDetours() []detour {
	header := func(kind evidence.Case, words, name string, values ...string) detour {
		return detour{kind, "without a token and " + words, func(s draw.Source, _ *run, q *recorder.Request) bool {
			setHeader(q, name, draw.One(s, values...))
			return true
		}}
	}
	query := func(kind evidence.Case, words string, names []string, values ...string) detour {
		return detour{kind, "without a token and " + words, func(s draw.Source, _ *run, q *recorder.Request) bool {
			q.URL = withQuery(q.URL, pair{draw.One(s, names...), draw.One(s, values...)})
			return true
		}}
	}
	return []detour{
		header("accept-any", "with Accept: */*", "Accept", "*/*", "application/*", "application/json, */*;q=0.5"),
		header("accept-other", "with another Accept", "Accept", "text/csv", "text/plain", "image/png", "application/xml", "application/ld+json", "application/vnd.api+json", "text/html"),
		header("accept-none", "without Accept", "Accept", ""),
		header("language", "with a language", "Accept-Language", "de", "de-AT,de;q=0.9,en;q=0.5", "en-US,en;q=0.9", "fr-CH", "*"),
		header("content-type", "with a Content-Type", "Content-Type", "application/x-www-form-urlencoded", "text/plain", "application/xml", "multipart/form-data", "application/graphql"),
		header("range", "with a Range", "Range", "bytes=0-", "bytes=0-1048575"),
		{"if-none-match", "without a token and with If-None-Match", func(s draw.Source, _ *run, q *recorder.Request) bool {
			setHeader(q, "If-None-Match", draw.One(s, `"`, `W/"`)+s.Text(draw.Hex, draw.One(s, 8, 16, 32))+`"`)
			return true
		}},
		{"condition-seen", "without a token and with the ETag of a good call", func(s draw.Source, r *run, q *recorder.Request) bool {
			var v validators
			r.facts.with(func(f *facts) {
				for resource, seen := range f.validators {
					if f.urls[resource].URL == q.URL {
						v = seen
					}
				}
			})
			setHeader(q, "If-None-Match", v.tag)
			if v.tag == "" {
				setHeader(q, "If-Modified-Since", v.modified)
			}
			return v.modified != "" // set for every good call, with or without Last-Modified
		}},
		header("if-modified-since", "with If-Modified-Since", "If-Modified-Since", "Mon, 01 Jan 2018 00:00:00 GMT", "Sun, 15 Mar 2015 08:30:00 GMT", "Thu, 01 Jan 1970 00:00:00 GMT"),
		{"expect", "without a token and with Expect", func(_ draw.Source, _ *run, q *recorder.Request) bool {
			setHeader(q, "Expect", "100-continue")
			q.NoRetry, q.Timeout = true, expectTimeout
			return true
		}},
		{"http-1-0", "without a token by HTTP/1.0", func(_ draw.Source, _ *run, q *recorder.Request) bool {
			q.Raw, q.HTTP10, q.FollowSameOrigin = true, true, false
			return true
		}},
		header("connection-close", "with Connection: close", "Connection", "close"),
		{"own-page", "without a token, as a page of the node itself", func(s draw.Source, r *run, q *recorder.Request) bool {
			origin := evidence.OriginOf(q.URL)
			setHeader(q, "Referer", origin+draw.One(s, "/", "/docs/swagger-ui/index.html", "/docs/swagger-ui/index.html", "/admin/", "/"+s.Word()))
			setHeader(q, "Accept-Encoding", draw.One(s, "gzip, deflate, br, zstd", "gzip, deflate, br"))
			if s.Below(2) == 0 { // a script of the page, and not the page
				setHeader(q, "Origin", origin)
				setHeader(q, "Sec-Fetch-Site", "same-origin")
				setHeader(q, "X-Requested-With", "XMLHttpRequest")
			}
			return true
		}},
		header("ajax", "as a script of a page", "X-Requested-With", "XMLHttpRequest", "fetch"),
		query("query-format", "with a format in the query", []string{"format", "_format", "f", "output", "alt", "type"}, "json", "csv", "xml", "html"),
		query("query-debug", "with a switch of development in the query", []string{"debug", "test", "dev", "preview", "internal", "admin", "public", "noauth", "bypass"}, "true", "1", "yes"),
		query("query-language", "with a language in the query", []string{"lang", "locale", "hl", "language"}, "de", "en", "fr"),
		query("query-made-up", "with a query that means nothing", []string{"_", "v", "ts", "nocache", "utm_source"}, "1", "20260131", "x"),
		{"query-empty", "without a token and with an empty query", func(_ draw.Source, _ *run, q *recorder.Request) bool {
			if strings.Contains(q.URL, "?") {
				q.URL += "&"
			} else {
				q.URL += "?"
			}
			return true
		}},
	}
}
