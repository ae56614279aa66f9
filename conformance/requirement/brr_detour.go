package requirement

import (
	"slices"
	"strings"

	"github.com/rin-network/rin/conformance/evidence"
)

// detours returns BRR-15 to BRR-17, about ways around the token check.
func detours() []Requirement {
	return []Requirement{
		{
			ID: "BRR-15", Title: "HEAD, method tricks and another Accept do not bypass authentication",
			Level: StandardMust, Gate: Gating, Profile: Auth,
			Source:   RFC(9110, "9.3.2").And(RFC(6749, "7")),
			Quote:    "The HEAD method is identical to GET except that the server MUST NOT send content in the response.",
			Probe:    "Without a token: a HEAD of the probe target, a GET with X-HTTP-Method-Override, X-HTTP-Method and X-Method-Override: OPTIONS, and a GET with the Accept header of a browser. Other safe methods, other ways to ask for a method, and other traits of a request are drawn for each run: Accept, language, conditions, ranges, HTTP/1.0, formats in the query.",
			Forgives: "HEAD is judged by its status alone; 405 and 501, also with a token, are fine. OPTIONS itself is not tried, since preflights need no token; an override that is answered like OPTIONS, without content, is a warning. A browser may get a login page, or be sent to one.",
			Fix:      "Tie the token check to the path, not to the method or to what is accepted: Spring Security requestMatchers(\"/**\") without HttpMethod.GET; nginx: auth_request for the whole location, not behind an if on $request_method; drop X-HTTP-Method-Override, X-HTTP-Method and X-Method-Override at the edge or apply them before the check.",
			Breaks:   "HEAD answers 200 without a token.",
			Needs:    onTarget("head", "method-override"), Reads: onTarget("head-ok", "as-browser"),
			After: []ID{"BRR-01"}, Control: withToken(), Breach: findUnclaimed("BRR-15"), Check: judgeMethodDetours,
		},
		{
			ID: "BRR-16", Title: "Path variants do not bypass authentication",
			Level: StandardMust, Gate: Gating, Profile: Auth,
			Source:   RFC(6749, "7").And(RFC(3986, "6.2")),
			Quote:    validateToken,
			Probe:    "Without a token: the probe target with its trailing slash added or removed, with // and /./ in the path, with a capital letter, with a letter percent-encoded, with a matrix parameter, and with the suffix .json. Other spellings of each segment are drawn for each run: matrix parameters, dot segments, encoded separators, slashes, blanks and line breaks, extensions, a public folder in front.",
			Forgives: "3xx and 4xx of any kind; a 2xx with a landing page or other content that is not the protected data; a variant that a firewall stops (a warning).",
			Fix:      "Normalise the path once, before the check and the routing; deny by default instead of listing the protected paths. Spring Security: keep StrictHttpFirewall and end with anyRequest().authenticated(); nginx: merge_slashes on, one auth_request for the whole location.",
			Breaks:   "The variant with a trailing slash is unprotected.",
			Reads:    onTarget(pathVariants()...), After: []ID{"BRR-01"}, Control: withToken(), Breach: findUnclaimed("BRR-16"), Check: judgePathVariants,
		},
		{
			ID: "BRR-17", Title: "A cached copy is never served to an anonymous caller",
			Level: StandardMust, Gate: Gating, Profile: Auth,
			Source:   RFC(9111, "3.5").And(RFC(6749, "7")),
			Quote:    "A shared cache MUST NOT use a cached response to a request with an Authorization header field (Section 11.6.2 of [HTTP]) to satisfy any subsequent request unless the response contains a Cache-Control field with a response directive (Section 5.2.2) that allows it to be stored by a shared cache",
			Probe:    "A GET of the probe target with a fresh query parameter and the good token, then at once the same URL without a token. Where the node refuses unknown parameters, both calls leave the parameter out. The Cache-Control of every good answer of the API to a call with a token. Filtered lists, pages and records with the good token, then at once without a token, with a random token and as the client without the role. Some of them once more with the good token, because a cache may keep a refusal, too. The list and the detail as the first client and as the spare client (--spare-client-id), in turn.",
			Forgives: "Any caching that keeps anonymous callers out; Cache-Control: private, no-store or max-age alone; a missing header. As warnings: public or s-maxage beside Vary: Authorization, in an answer that is stale at once, or where the node does not refuse anonymous callers.",
			Fix:      "Send Cache-Control: private or no-store with protected data. nginx: proxy_cache_bypass and proxy_no_cache $http_authorization; a CDN: make Authorization part of the cache key; Flask-Caching: key by token or leave the route uncached.",
			Breaks:   "A cache in front keys its copies by the URL alone.",
			Needs:    onTarget("cached-ok", "cached-no-token"), Reads: []evidence.Label{evidence.WholeRun},
			After: []ID{"BRR-01"}, Control: withToken(), Check: judgeSharedCache,
		},
	}
}

// judgeMethodDetours checks that another method, a method override or an Accept header does not skip the token check.
func judgeMethodDetours(e Evidence) Judgement {
	return gather(judgeHead(e), judgeMethodOverride(e), judgeBrowserAccept(e))
}

// judgeHead judges HEAD by its status; a 2xx reveals the headers of protected data.
func judgeHead(e Evidence) Judgement {
	x, _ := target(e, "head")
	switch {
	case success(x):
		return expect(x, "401 as for GET, or 405").failed("HEAD without a token is accepted", describe(x))
	case notOffered(x):
		return Passed(x.Label)
	}
	if j, unclear := inconclusiveRefusal(x); unclear {
		return j
	}
	if !isRefusal(x) {
		return expect(x, "401").unclear("HEAD without a token was redirected elsewhere", describe(x)).Hinting(loginHint)
	}
	control := evidence.ProbeTarget.With("head-ok")
	if j, missing := e.missingAnswer(control); missing {
		return j
	}
	good := e.exchange(control)
	switch {
	case success(good):
		return Passed(x.Label)
	case notOffered(good), good.Status() == 403, good.Status() == 404:
		return Passed(x.Label).Noting("HEAD is answered " + describe(good) + " with a good token too: the node does not offer HEAD")
	}
	return expect(good, "2xx").unclear("the refusal of HEAD proves nothing here: with a good token it was answered "+describe(good), describe(good))
}

// notOffered reports whether the answer is 405 or 501: the method is not available to anybody.
func notOffered(x evidence.Exchange) bool { return x.Status() == 405 || x.Status() == 501 }

// judgeMethodOverride judges the answer to X-HTTP-Method-Override: OPTIONS. A node may answer OPTIONS without a token (preflights), so an answer
// without data is only a warning.
func judgeMethodOverride(e Evidence) Judgement {
	x, good := target(e, "method-override")
	if notOffered(x) {
		return Passed(x.Label)
	}
	likeOptions := success(x) && (len(x.Response.Body) == 0 || len(header(x, "Allow")) > 0)
	if likeOptions && !carriesData(x, good) {
		return expect(x, "401").warned("X-HTTP-Method-Override turns a GET into OPTIONS before the token is checked; no data came", describe(x)).
			Hinting("drop the header X-HTTP-Method-Override at the edge, or apply it to POST only, as frameworks do by default")
	}
	return judgeRefusal("the call without a token and with X-HTTP-Method-Override: OPTIONS", x, good)
}

// judgeBrowserAccept looks for protected data in the answer to the Accept header of a browser. A browser may get a login page, a redirect to one,
// or a landing page.
func judgeBrowserAccept(e Evidence) Judgement {
	x, good := target(e, "as-browser")
	if leaksData(x, good) {
		return expect(x, "a refusal or no data").failed("the call without a token gets the data with the Accept header of a browser", describe(x))
	}
	return Passed(x.Label)
}

// leaksData reports whether an answer without a token has protected data. A refusal with the body of the good call leaks it, too.
func leaksData(x, good evidence.Exchange) bool {
	return success(x) && carriesData(x, good) || sameBody(x, good)
}

// pathVariants returns the cases of BRR-16: the probe target, with its path written in another way.
func pathVariants() []evidence.Case {
	return []evidence.Case{"path-slash", "path-double-slash", "path-dot", "path-upper", "path-suffix",
		"path-encoded", "path-extension"}
}

// judgePathVariants looks for protected data in the answers to variants of the path. An answer without data is not a bypass, whatever its status,
// but a firewall's page or a 5xx hides what the node itself would answer.
func judgePathVariants(e Evidence) Judgement {
	if e.Roles.ProbeTarget == "" {
		return Inapplicable("this run has no " + roleName(withToken()))
	}
	good := e.exchange(withToken())
	var judged, hidden, unsent []Judgement
	for _, c := range pathVariants() {
		label := e.Roles.ProbeTarget.With(c)
		x, sent := e.Get(label)
		if !sent {
			j, _ := e.missingAnswer(label)
			unsent = append(unsent, j)
			continue
		}
		j, unclear := inconclusiveRefusal(x)
		switch {
		case unclear:
			hidden = append(hidden, j)
		case leaksData(x, good):
			judged = append(judged, expect(x, "a refusal or no data").failed("a variant of the path gets the data without a token", describe(x)))
		case success(x):
			judged = append(judged, Passed(x.Label).Noting(callName(x)+" is answered "+describe(x)+" without the protected data"))
		default:
			judged = append(judged, Passed(x.Label))
		}
	}
	if len(judged) == 0 {
		return gather(append(hidden, unsent...)...)
	}
	j := gather(append(judged, unsent...)...)
	if len(hidden) > 0 && j.Outcome == Pass {
		first := hidden[0]
		return Warned("some variants of the path could not be judged: "+first.Reason, "a refusal by the node", "no verdict").
			About(first.Subjects...).bounded().Blaming(Environment).Hinting(first.Hint)
	}
	return j
}

// judgeSharedCache first judges the call without a token that follows a good one at the same URL. Only if it is refused, the rest of the run is searched for
// other traces of a shared cache.
func judgeSharedCache(e Evidence) Judgement {
	first, second := e.exchange(evidence.ProbeTarget.With("cached-ok")), e.exchange(evidence.ProbeTarget.With("cached-no-token"))
	// A node may refuse unknown query parameters; then the probe called the URL without the parameter.
	if good := e.exchange(withToken()); !success(first) && second.Request.URL == good.Request.URL {
		first = good
	}
	if !success(first) {
		return Unclear("a refusal proves nothing here: " + e.RequestName(first.Label) + " was answered " + describe(first)).Seen(first.Label)
	}
	j := judgeRefusal("the call without a token, right after the same URL was called with one,", second, first)
	if j.Outcome == Fail {
		return j.Noting(cacheTraces(second)...)
	}
	if j.Outcome != Pass {
		return j
	}
	judge := cacheHeaderCheck(e)
	return gather(onEvery(judge(first), first.Label, e.sweep().granted, judge), judgeCachedRefusals(e), judgeInfoOfOtherClient(e), judgeAnswersOfOtherClients(e))
}

// minClientID is the length of the shortest client id that is looked for in answers. A shorter one may be a common word.
const minClientID = 6

// judgeInfoOfOtherClient fails if info gives the second client an answer with the id of the first one: a copy from a cache. It passes a node whose info does
// not name the client.
func judgeInfoOfOtherClient(e Evidence) Judgement {
	good, x := e.exchange(evidence.Info.With(evidence.OK)), e.exchange(evidence.Info.With("second-client"))
	id := e.Run.ClientID
	namesFirst := func(x evidence.Exchange) bool { return success(x) && hasText(x, id) }
	if len(id) < minClientID || !namesFirst(good) || !namesFirst(x) {
		return Passed()
	}
	return expect(x, "what the node knows of the second client").failed("info tells the second client that it is the first one, so a cache gives one client the answer for another", describe(x)).Noting(cacheTraces(x)...)
}

// judgeAnswersOfOtherClients finds answers that were made for one client and given to another. Each of two clients, the good one and the spare one, calls an
// operation first at a URL of its own, then at that of the other. An answer that depends on who called first is a copy from a cache. The spare client calls
// a third URL, too: only if it gets its own answer there, the answers of one client are stable enough to compare.
func judgeAnswersOfOtherClients(e Evidence) Judgement {
	var parts []Judgement
	for _, r := range e.Roles.Operations {
		get := func(c evidence.Case) evidence.Exchange { return e.exchange(r.With(c)) }
		spare, good := get("caller-spare"), get("caller-good")
		if !success(spare) || !success(good) || !sameBody(get("caller-spare-again"), spare) || sameBody(good, spare) {
			continue // both clients get the same answer, or a new one with each call
		}
		for _, url := range []struct{ first, second evidence.Exchange }{{spare, get("caller-good-after")}, {good, get("caller-spare-after")}} {
			if x := url.second; success(x) && sameBody(x, url.first) {
				parts = append(parts, expect(x, "the answer that this client gets when it asks first").
					failed(resourceName(e, r)+" gives a client the answer that another client got at the same URL just before", describe(x)).Noting(cacheTraces(x)...).
					Hinting("put the client, or its affiliation, into the key of the cache").Seen(url.first.Label))
				break
			}
		}
	}
	if len(parts) == 0 {
		return Passed()
	}
	return gather(parts...)
}

// hasText reports whether a JSON answer has this text as a whole string, in a member or an array.
func hasText(x evidence.Exchange, text string) bool {
	value, err := jsonValue(x)
	if err != nil {
		return false
	}
	var b strings.Builder
	writeValues(&b, value) // one string on each line
	return slices.Contains(strings.Split(b.String(), "\n"), text)
}

// judgeCachedRefusals finds good calls that were refused after the same URL was refused to others. A later good call that succeeds shows that the token was
// still good.
func judgeCachedRefusals(e Evidence) Judgement {
	var parts []Judgement
	for _, x := range e.Exchanges {
		isGoodAgain := x.Label.Case() == evidence.GoodAgain || strings.HasPrefix(string(x.Label.Case()), string(evidence.GoodAgain)+"-")
		if !isGoodAgain || !isRefusal(x) || sendsRolelessToken(x) {
			continue
		}
		tokenStillGood := slices.ContainsFunc(e.sweep().granted, func(later evidence.Exchange) bool {
			return !sendsRolelessToken(later) && later.Started.After(x.Started)
		})
		if tokenStillGood {
			parts = append(parts, expect(x, "2xx").failed("a good call is refused after the same URL was refused to others, so a cache keeps the refusal for everybody", describe(x)).Noting(cacheTraces(x)...))
		}
	}
	if len(parts) == 0 {
		return Passed()
	}
	return gather(parts...)
}

// sharedURLs returns the URLs that were called with a good token and, just after it, without credentials or with others.
func sharedURLs(e Evidence) []string {
	var out []string
	for _, x := range e.Exchanges {
		if strings.HasPrefix(string(x.Label.Case()), "good-") {
			out = append(out, x.Request.URL)
		}
	}
	return out
}

// cacheHeaderCheck returns a check of what the headers of an answer to a call with a token allow shared caches to do. A permission is only a warning if the
// resource refuses nobody, if Vary keeps callers apart, or if the copy is stale at once.
func cacheHeaderCheck(e Evidence) func(x evidence.Exchange) Judgement {
	return func(x evidence.Exchange) Judgement {
		directive := sharedCaching(x)
		if directive == "" {
			return Passed(x.Label)
		}
		want, got := expect(x, "Cache-Control: private or no-store"), headerText(x, "Cache-Control")
		const reason = "the answer to a call with a token allows shared caches to hand it to anyone"
		switch {
		case !isRefusal(e.exchange(x.Label.Resource().With(evidence.NoToken))):
			return want.warned(reason+"; the run does not show whether the node refuses anonymous callers here", got)
		case variesBy(x, "Authorization"):
			return want.warned(reason+"; only Vary keeps callers apart", got)
		case staleAtOnce(x):
			return want.warned(reason+"; a cache must ask the node again before it does so", got)
		}
		return want.failed(reason+", and the node refuses the call without a token", got).Hinting("leave out " + directive + ": max-age alone allows no shared cache to reuse the answer to a call with Authorization")
	}
}

// sharedCaching names the directive that lets a shared cache reuse an answer to an authorized request (RFC 9111 §3.5), or "". must-revalidate
// does not count: it makes the cache ask the node again.
func sharedCaching(x evidence.Exchange) string {
	directives := cacheDirectives(x)
	for _, stronger := range []string{"no-store", "private"} {
		if _, ok := directives[stronger]; ok {
			return ""
		}
	}
	for _, d := range []string{"public", "s-maxage"} {
		if v, ok := directives[d]; ok && v != "0" {
			return d
		}
	}
	return ""
}

// variesBy reports whether Vary names a header field, or is *.
func variesBy(x evidence.Exchange, name string) bool {
	return slices.ContainsFunc(splitList(strings.Join(header(x, "Vary"), ",")), func(v string) bool { return v == "*" || strings.EqualFold(v, name) })
}

// staleAtOnce reports whether a shared cache has to ask the node before it hands out a copy (RFC 9111 §5.2.2.4, §4.2.1).
func staleAtOnce(x evidence.Exchange) bool {
	directives := cacheDirectives(x)
	if fields, ok := directives["no-cache"]; ok && fields == "" {
		return true
	}
	age, given := directives["s-maxage"]
	if !given {
		age, given = directives["max-age"]
	}
	if given {
		return age == "0"
	}
	expires := header(x, "Expires")
	if len(expires) == 0 {
		return false
	}
	end, form := evidence.HTTPDate(expires[0])
	sent, _ := evidence.HTTPDate(strings.Join(header(x, "Date"), ","))
	return form == evidence.NoDate || !end.After(sent)
}

// cacheTraces lists the headers that caches add.
func cacheTraces(x evidence.Exchange) []string {
	var out []string
	for _, name := range []string{"Age", "X-Cache", "X-Cache-Status", "CF-Cache-Status", "Via"} {
		if values := header(x, name); len(values) > 0 {
			out = append(out, "the answer has "+clip(name+": "+strings.Join(values, ", ")))
		}
	}
	return out
}
