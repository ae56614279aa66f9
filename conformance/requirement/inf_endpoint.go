package requirement

import (
	"fmt"
	"maps"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"github.com/rin-network/rin/conformance/evidence"
)

// listedEndpoints returns INF-05 and INF-06, about the endpoints that the info answer lists.
func listedEndpoints() []Requirement {
	info := []evidence.Label{evidence.Info.With(evidence.OK)}
	return []Requirement{
		{
			ID: "INF-05", Title: "Listed endpoint URLs are absolute https and reachable with the token",
			Level: Recommended, Gate: Advice, Profile: Auth,
			Source:   apiFramework("APIs", "apis").And(publishedInfo(58)).AsDerived(),
			Quote:    "Info Endpoint: Provides metadata about available systems, including a list of resource endpoints and their versions.",
			Probe:    "A GET with the token of each listed URL without a {template}, at most 10, with page[size]=1.",
			Forgives: "Templated URLs, 403 where the client lacks the role; hosts that the operator did not allow are not called, and the requirement is inconclusive if no listed URL is called. Hosts inside a machine or network are forgiven if the node itself is there. 401, a query in the URL and other refusals are warnings.",
			Fix:      "List the public https URL under which clients reach each API, without a query, and take out what is not served. Behind a proxy build URLs from the configured public address, not from the request.",
			Breaks:   "One listed URL gives 404.",
			Needs:    info, Reads: endpointLabels(), After: []ID{infoRequirement}, Check: judgeListedEndpoints,
		},
		{
			ID: "INF-06", Title: "majorVersion agrees with the v<major> segment of the URL",
			Level: Recommended, Gate: Advice, Profile: API,
			Source:   NET("R20").And(publishedInfo(50)).AsDerived(),
			Quote:    "The version is part of the path, as a segment of the form v<major>.",
			Probe:    "majorVersion and url of each item that the info answer lists.",
			Forgives: "URLs without such a segment, items without majorVersion.",
			Fix:      "Set majorVersion to the number in the path of the url.",
			Breaks:   "majorVersion 3 for /v1/fundings.",
			Needs:    info, After: []ID{infoRequirement}, Check: onInfoAnswer(judgeMajorVersions),
		},
	}
}

// maxEndpoints bounds the listed URLs that are called.
const maxEndpoints = 10

// endpointLabels returns the labels of the calls of the URLs that the info answer lists.
func endpointLabels() []evidence.Label {
	labels := make([]evidence.Label, 0, maxEndpoints)
	for i := range maxEndpoints {
		labels = append(labels, evidence.EndpointResource(strconv.Itoa(i+1)).With(evidence.OK))
	}
	return labels
}

// endpoint is one item of the info answer.
type endpoint struct {
	path     string // "$.endpoints.funding[0]"
	url      string
	major    float64
	hasMajor bool // major is valid
}

// endpointsOf returns the items of an info answer that have a url, by group.
func endpointsOf(x evidence.Exchange) []endpoint {
	o, _ := jsonObject(x)
	groups, _ := o["endpoints"].(map[string]any)
	var out []endpoint
	for _, name := range slices.Sorted(maps.Keys(groups)) {
		items, _ := groups[name].([]any)
		for i, item := range items {
			o, _ := item.(map[string]any)
			if u, _ := o["url"].(string); strings.TrimSpace(u) != "" {
				major, has := number(o["majorVersion"])
				out = append(out, endpoint{fmt.Sprintf("$.endpoints.%s[%d]", clip(name), i), u, major, has})
			}
		}
	}
	return out
}

// judgeListedEndpoints is the check of INF-05.
func judgeListedEndpoints(e Evidence) Judgement {
	x := e.exchange(evidence.Info.With(evidence.OK))
	var parts []Judgement
	for _, listed := range endpointsOf(x) {
		parts = append(parts, judgeEndpointURL(e, x, listed))
	}
	if shape := judgeInfoShape(x); len(parts) == 0 && shape.Outcome == Fail {
		return Judgement{Outcome: Blocked, BlockedBy: "INF-03", Reason: "needs INF-03, which is fail: " + shape.Reason}
	}
	if len(parts) == 0 {
		return expect(x, "at least one endpoint with a url").unclear("the info answer lists no endpoints, so clients cannot find the API by it", "no endpoints").
			Hinting("list the URL of each API that is served; an API that is not ready yet can be left out, the funding API cannot")
	}
	var calls []Judgement
	reached := false
	for _, l := range endpointLabels() {
		if call, sent := e.Get(l); sent {
			calls = append(calls, judgeEndpointCall(call))
		} else if why, skipped := e.Skipped(l); skipped {
			calls = append(calls, judgeUncalledURL(why.Because))
		}
		reached = reached || len(calls) > 0 && calls[len(calls)-1].Outcome != NotApplicable
	}
	j := gather(append(parts, calls...)...)
	if j.Outcome == Pass && len(calls) > 0 && !reached { // the URLs are well-formed, but were not called
		return Unclear("none of the listed URLs was called, so nothing shows that they work: " + calls[0].Reason).Seen(x.Label).
			Hinting("name the origin of the listed URLs with --allow-origin if it belongs to the node, or list the URLs under which the node was tested")
	}
	return j
}

// UnseenEndpoints says in a few words that no listed endpoint was called, or that a listed endpoint is wrong; j is the judgement of INF-05. It returns ""
// if an endpoint was called and none is wrong.
func UnseenEndpoints(e Evidence, j Judgement) string {
	switch {
	case j.Outcome == Fail:
		return "an endpoint that info lists is wrong (INF-05)"
	case j.Outcome != Inconclusive:
		return ""
	case len(endpointsOf(e.exchange(evidence.Info.With(evidence.OK)))) == 0:
		return "info lists no endpoints"
	case !slices.ContainsFunc(endpointLabels(), func(l evidence.Label) bool { return e.exchange(l).Answered() }):
		return "no endpoint that info lists was called"
	}
	return ""
}

// judgeUncalledURL returns the judgement of a listed URL that was not called. Its note remains if others were called.
func judgeUncalledURL(because string) Judgement {
	return Inapplicable("a listed URL was not called: " + clip(because)).Noting("a listed URL was not called: " + clip(because))
}

// judgeEndpointURL judges the form of a listed URL. Plain http is allowed if the tested node is on loopback, for URLs of that node only.
func judgeEndpointURL(e Evidence, x evidence.Exchange, listed endpoint) Judgement {
	want := Subject{Name: listed.path + ".url", Label: x.Label, Expected: "an absolute https URL"}
	u, err := url.Parse(strings.NewReplacer("{", "", "}", "").Replace(strings.TrimSpace(listed.url)))
	switch {
	case err != nil || u.Host == "" || u.Scheme != "https" && u.Scheme != "http":
		return want.failed("a listed URL is not absolute", clip(listed.url))
	case u.Scheme == "http" && !e.Run.Loopback:
		return want.failed("a listed URL is not https, so the token would travel in cleartext", clip(listed.url))
	case unreachablePlace(e, u.String()) != "":
		return want.failed("a listed URL leads to "+unreachablePlace(e, u.String())+", which clients cannot reach", clip(listed.url))
	case u.Scheme == "http" && !isTestedHost(e, u.String()):
		return want.failed("a listed URL is not https, so the token would travel in cleartext", clip(listed.url))
	case u.RawQuery != "" || u.ForceQuery:
		want.Expected = "a URL without a query"
		return want.warned("a listed URL has a query already, and clients append theirs with another question mark", clip(listed.url))
	}
	return want.passed()
}

// isTestedHost reports whether a URL leads to this machine, or to a host at which the node was tested.
func isTestedHost(e Evidence, raw string) bool {
	host := evidence.HostOf(raw)
	return localPlace(host) == onMachine || slices.ContainsFunc([]string{e.Run.InfoURL, e.Run.SpecURL, e.Run.BaseURL}, func(own string) bool { return evidence.HostOf(own) == host })
}

// judgeEndpointCall judges the call of one listed URL.
func judgeEndpointCall(x evidence.Exchange) Judgement {
	want := expect(x, "2xx with the token")
	if x.Failure != nil && x.Failure.Kind == evidence.FailureRefused {
		return judgeUncalledURL(x.Failure.Message)
	}
	name := x.Given["name"]
	if name == "" {
		name = string(x.Label.Resource())
	}
	switch status := x.Status(); {
	case success(x), status == 403 && !wafPage(x):
		return Passed(x.Label)
	case status == 400 && x.Given["url"] != "" && x.Request.URL != x.Given["url"]: // the list refuses page[size], which rin added
		return Passed(x.Label).Noting(fmt.Sprintf("the listed URL of %s refuses the query %s", clip(name), clip(strings.TrimPrefix(x.Request.URL, x.Given["url"]))))
	case status == 404, status == 410, serverError(x):
		j := want.failed(fmt.Sprintf("the listed URL of %s was answered %s", clip(name), clip(x.StatusText())), describe(x))
		if serverError(x) {
			j = j.Hinting("look into the log of " + answeringOrigin(x) + " for the cause, and list a URL that answers clients with a good token")
		}
		return j
	}
	if j, unclear := inconclusiveAnswer(x); unclear {
		return j
	}
	j := want.warned(fmt.Sprintf("the listed URL of %s was answered %s", clip(name), clip(x.StatusText())), describe(x))
	if status := x.Status(); status == 401 {
		j = j.Hinting("let the API at the listed URL accept the same tokens as the info endpoint")
	}
	return j
}

// majorVersions lists the numbers of all v<major> segments of a URL's path (NET-R20).
func majorVersions(raw string) []float64 {
	path := raw
	if u, err := url.Parse(raw); err == nil {
		path = u.Path
	}
	var out []float64
	for segment := range strings.SplitSeq(path, "/") {
		digits, found := strings.CutPrefix(segment, "v")
		if !found || strings.Trim(digits, "0123456789") != "" {
			continue
		}
		if n, err := strconv.ParseFloat(digits, 64); err == nil {
			out = append(out, n)
		}
	}
	return out
}

// judgeMajorVersions is the check of INF-06.
func judgeMajorVersions(x evidence.Exchange) Judgement {
	var parts []Judgement
	for _, listed := range endpointsOf(x) {
		versions := majorVersions(listed.url)
		if !listed.hasMajor || len(versions) == 0 {
			continue
		}
		want := Subject{Name: listed.path, Label: x.Label, Expected: fmt.Sprintf("majorVersion %.0f", versions[len(versions)-1])}
		if slices.Contains(versions, listed.major) {
			parts = append(parts, want.passed())
		} else {
			parts = append(parts, want.failed("majorVersion of a listed endpoint is not the version in its URL", fmt.Sprintf("majorVersion %v with %s", listed.major, clip(listed.url))))
		}
	}
	if len(parts) == 0 {
		return Inapplicable("no listed endpoint has both majorVersion and a v<major> segment in its url").Seen(x.Label)
	}
	return gather(parts...)
}
