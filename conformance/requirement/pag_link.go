package requirement

import (
	"bytes"
	"fmt"
	"maps"
	"net/url"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/rin-network/rin/conformance/evidence"
	"github.com/rin-network/rin/conformance/openapi"
)

// links returns PAG-10, the requirement on links.
func links() []Requirement {
	list := evidence.ListOperation
	return []Requirement{{
		ID: "PAG-10", Title: "Link relations are well-formed and stay on the origin",
		Level: StandardMust, Gate: Gating, Profile: API,
		Source:   RFC(8288, "3.3").And(RFC(8288, "3")),
		Quote:    "The rel parameter MUST be present but MUST NOT appear more than once in a given link-value",
		Probe:    "The Link header of each answer, and the links inside answers in the shapes of HAL, JSON:API, Spring HATEOAS, ORDS and Django; the link to the next page and those of two items to themselves are followed on the origin; of pages with numbers the links to the first, previous, next and last one must name that page, and keep size and filters. A call of each operation with a made-up host in the headers of a proxy: it must not come back in an address. The redirects of calls with and without a slash at the end of the path.",
		Forgives: "Relative references, URI templates, relations other than those of pages and self; links of one record to others; links to pages for people, where the link or the document says so; members such as website, which are content; brackets that are not encoded, an item that names itself on another origin, and one of two links of items that does not work (warnings); a link of an item that leads to a page, to a list or to a refusal; a redirect to another public host, such as a login.",
		Fix:      "Build links as relative references or from the public https address, not from the host of the request. Behind a proxy: Spring server.forward-headers-strategy=framework, Django SECURE_PROXY_SSL_HEADER and USE_X_FORWARDED_HOST, Laravel TrustProxies.",
		Breaks:   "rel=next points to http://.",
		Reads:    append(itemLinkLabels(), list.With("link-next"), list.With(otherSlash), evidence.WholeRun), After: afterDocument(), Check: onList(judgeLinks),
	}}
}

// judgeLinks judges the links of all successful answers and the request for the page that rel=next leads to.
func judgeLinks(e Evidence) Judgement {
	var parts []Judgement
	found := false
	for _, x := range operationAnswers(e) {
		if !success(x) {
			continue
		}
		links, faults := linksOf(e, x)
		found = found || len(links)+len(faults) > 0
		parts = append(parts, faults...)
		for _, l := range links {
			parts = append(parts, judgeLinkTarget(e, x, l))
			if x.Label.Resource() == e.Roles.List {
				parts = append(parts, judgeLinkQuery(x, l)...)
			}
		}
	}
	parts = append(parts, findBelievedHosts(e)...)
	parts = append(parts, judgeRedirects(e, func(r evidence.Resource) bool { return slices.Contains(e.Roles.Operations, r) })...)
	if !found && len(parts) == 0 {
		return Inapplicable("no answer has a link")
	}
	if e.Roles.List == "" {
		return gather(withoutRepeats(parts)...)
	}
	_, filtered := judgeFilteredReadings(e)
	parts = append(parts, filtered...)
	if !slices.ContainsFunc([]ID{"PAG-01", "PAG-02", "PAG-04", "PAG-07"}, func(id ID) bool { return e.judge(id).Outcome == Fail }) {
		parts = append(parts, judgePageLinks(e)...) // otherwise the links may be wrong because the pages are
	}
	parts = append(parts, judgeItemLinks(e)...)
	next, sent := e.Get(e.Roles.List.With("link-next"))
	if sent {
		parts = append(parts, judgeNextPage(e, next))
	} else if j, missing := e.missingAnswer(e.Roles.List.With("link-next")); missing && j.Outcome == Inconclusive {
		parts = append(parts, j)
	}
	return gather(withoutRepeats(append(parts, findBrokenLinks(e)...))...)
}

// findBelievedHosts looks for the made-up host of proxy headers in the answers to calls with these headers: whoever can write the headers could decide where
// the next call sends its token (RFC 7239 §8.1).
func findBelievedHosts(e Evidence) []Judgement {
	var parts []Judgement
	for _, x := range operationAnswers(e) {
		host := x.Given["host"]
		if x.Label.Case() != "good-forwarded" || host == "" || !success(x) && !redirected(x) {
			continue
		}
		for _, name := range []string{"Link", "Location", "Content-Location"} {
			if text := strings.Join(header(x, name), ", "); strings.Contains(text, host) {
				parts = append(parts, expect(x, "addresses of the node").failed("the field "+name+" takes its host from a header that any caller can write, such as X-Forwarded-Host", clip(text)).Hinting(hostHint))
			}
		}
		if at := bytes.Index(x.Response.Body, []byte(host)); at >= 0 {
			parts = append(parts, expect(x, "addresses of the node").failed("an address in the answer takes its host from a header that any caller can write, such as X-Forwarded-Host", clip(string(x.Response.Body[max(0, at-20):min(len(x.Response.Body), at+len(host)+20)]))).Hinting(hostHint))
		}
	}
	return parts
}

const hostHint = "build addresses from the configured public address; trust forwarding headers only from the address of the proxy, and let the proxy overwrite those that clients send"

// withoutRepeats removes judgements with the reason of an earlier one: calls with other queries show the same fault again.
func withoutRepeats(parts []Judgement) []Judgement {
	seen := map[string]bool{}
	return slices.DeleteFunc(parts, func(j Judgement) bool {
		repeated := seen[j.Reason]
		seen[j.Reason] = j.Outcome != Pass
		return repeated
	})
}

// linksOf returns the links of an answer, in its header and body, whose relations clients follow. It leaves out links of a single record to other hosts, except
// self: they may lead to pages for people.
func linksOf(e Evidence, x evidence.Exchange) (links []openapi.Reference, faults []Judgement) {
	const place = "Link header"
	head, err := evidence.ParseLinks(header(x, "Link"))
	if err != nil {
		faults = append(faults, expect(x, `<target>; rel="next"`).failed("the Link header is not well-formed: "+clip(err.Error()), headerText(x, "Link")).
			Hinting("write each link as <URI>; rel=\"next\", with commas between them"))
	}
	for _, l := range head {
		if l.IsPage() {
			continue
		}
		for _, relation := range l.Relations() {
			if slices.Contains([]string{"next", "prev", "previous", "first", "last", "self"}, relation) {
				links = append(links, openapi.Reference{Relation: relation, Target: l.Target, Path: place})
			}
		}
	}
	items, notList := e.itemsOf(x)
	if text, err := e.jsonText(x); err == nil {
		links = append(links, e.references(text, items[:min(len(items), openapi.MaxLinkedItems)])...)
	}
	if notList != nil || x.Label.Resource() == e.Roles.Detail {
		links = slices.DeleteFunc(links, func(l openapi.Reference) bool { return l.Relation != "self" && leavesHost(x, l) })
	}
	return links, faults
}

// leavesHost reports whether a link leads to another host.
func leavesHost(x evidence.Exchange, l openapi.Reference) bool {
	from, err := url.Parse(x.Request.URL)
	if err != nil {
		return false
	}
	to, err := from.Parse(l.Target)
	return err == nil && !strings.EqualFold(from.Hostname(), to.Hostname())
}

// leadsToPage reports whether the document says of links with this relation that they lead to pages for people.
func leadsToPage(e Evidence, x evidence.Exchange, l openapi.Reference) bool {
	o, known := operation(e, x.Label.Resource())
	return known && slices.ContainsFunc([]string{l.Relation, "links", "_links", "href"}, func(member string) bool {
		return remember(e.judged, "links to pages "+o.Pointer+" "+member, func() bool {
			return e.Spec.SaysOfMember(o, member, regexp.MustCompile(`(?i)\b(web ?(page|site)s?|html|portals?|browsers?|humans?|people|landing page|homepage)\b|\b(web-?seiten?|webauftritt|(für|von) menschen|page web|sito web)`))
		})
	})
}

// judgeLinkTarget judges the target of one link.
func judgeLinkTarget(e Evidence, x evidence.Exchange, l openapi.Reference) Judgement {
	from, err := url.Parse(x.Request.URL)
	if err != nil {
		return Unclear("the recording has no URL to resolve links against").Blaming(Suite).Seen(x.Label)
	}
	where := clip(fmt.Sprintf("%s, %s rel=%s", callInWords(x), l.Path, l.Relation))
	want := func(expected string) Subject { return Subject{Name: where, Label: x.Label, Expected: expected} }
	got, home := clip(l.Target), evidence.Origin(from)
	to, err := from.Parse(l.Target)
	if err != nil {
		return want("a URI reference").failed("the link rel="+l.Relation+" is not a URI reference", got)
	}
	switch target := evidence.Origin(to); {
	case target == home:
	case l.Relation == "self" && leadsToPage(e, x, l):
		return Passed(x.Label)
	case l.Relation == "self":
		return want(home).warned("an answer names itself on another origin", got)
	case from.Scheme == "https" && to.Scheme == "http":
		return want(home).failed("the link rel="+l.Relation+" leads to plain http, where a client would send its token in cleartext", got)
	default:
		return want(home).failed("the link rel="+l.Relation+" leads to another origin, where clients do not send their token", got)
	}
	query := to.RawQuery
	if strings.Contains(query, markerStart) {
		query = marker().ReplaceAllString(query, "")
	}
	if strings.ContainsAny(query, "[] ") || strings.ContainsAny(to.EscapedPath(), "[] ") {
		return want("brackets and blanks percent-encoded").warned("the link rel="+l.Relation+" has characters that are not allowed in a URI", got).
			Hinting("write [ as %5B, ] as %5D and a blank as %20 (RFC 3986 §3.2.2, §3.4)")
	}
	return Passed(x.Label)
}

// selectsSeveral reports whether a call has several values of a filter that takes them.
func selectsSeveral(x evidence.Exchange) bool {
	return strings.HasPrefix(string(x.Label.Case()), "filter-several-") || strings.HasPrefix(string(x.Label.Case()), "several-")
}

// judgeLinkQuery judges the values that a link between pages takes from the call: a link that writes a reserved character as it is, or encodes it twice,
// asks for another value (RFC 3986 §2.2, §2.4). A link may leave a value out, because a cursor holds it.
func judgeLinkQuery(x evidence.Exchange, l openapi.Reference) []Judgement {
	from, err := url.Parse(x.Request.URL)
	if err != nil {
		return nil
	}
	to, err := from.Parse(l.Target)
	if err != nil || to.Path != from.Path {
		return nil
	}
	var parts []Judgement
	add := func(reason, expected, hint string) {
		where := Subject{Name: clip(callInWords(x) + ", " + l.Path + " rel=" + l.Relation), Label: x.Label, Expected: clip(expected)}
		parts = append(parts, where.failed("the link rel="+l.Relation+" "+reason+", so it leads to another list", clip(l.Target)).Hinting(hint))
	}
	called, linked := from.Query(), to.Query()
	for _, name := range slices.Sorted(maps.Keys(linked)) {
		if plain, err := url.QueryUnescape(name); err == nil && strings.Contains(name, "%") && (url.QueryEscape(plain) == name || called.Has(plain)) && !called.Has(name) {
			add("encodes the name "+clip(plain)+" twice", name+"=…", "encode the query of a link once: a template engine or a gateway must not encode what a URL library has encoded")
		}
	}
	for name, values := range called {
		kept := linked[name]
		if len(kept) > 0 && len(kept) < len(values) && selectsSeveral(x) && slices.Contains(values, kept[0]) {
			add("has some of the values of "+clip(name)+" only", "all values of "+name, "take all values of a repeated parameter into the link: frameworks return the first or the last one for a name")
		}
		if len(values) != 1 || len(kept) == 0 || slices.Contains(kept, values[0]) || strings.Contains(values[0], markerStart) {
			continue
		}
		const hint = "build the query of a link with the encoder of a URL library: & as %26, + as %2B, # as %23, % as %25"
		expected := name + "=" + url.QueryEscape(values[0])
		switch value, got := values[0], kept[0]; {
		case got == url.QueryEscape(value) || got == url.PathEscape(value):
			add("encodes "+clip(name)+"="+quote(value)+" twice", expected, hint)
		case strings.TrimSpace(got) == strings.TrimSpace(readUnencoded(value)):
			add("does not encode the reserved characters of "+clip(name)+"="+quote(value), expected, hint)
		}
	}
	return parts
}

// readUnencoded returns the value that a server reads from a query in which the value was not percent-encoded.
func readUnencoded(value string) string {
	beforeFragment, _, _ := strings.Cut(value, "#")
	query, _ := url.ParseQuery("value=" + beforeFragment)
	return query.Get("value")
}

// judgeNextPage judges the answer to the request that follows the link to the next page.
func judgeNextPage(e Evidence, x evidence.Exchange) Judgement {
	want := expect(x, "2xx with other items")
	if serverError(x) {
		return want.failed("the link to the next page breaks the node", describe(x))
	}
	if j, unclear := inconclusiveAnswer(x); unclear {
		return j
	}
	items, err := e.itemsOf(x)
	if !success(x) || err != nil {
		return want.failed("the link to the next page does not work", describe(x))
	}
	from, _ := e.Get(evidence.Label(x.Given["from"]))
	before, err := e.itemsOf(from)
	if err == nil && len(items) > 0 && slices.Equal(e.identities(items), e.identities(before)) {
		if j, ok := e.passes("PAG-03"); !ok && j.Outcome == Blocked {
			return j // PAG-03 reports the page
		}
		if e.unsteadyBeside(x.Label) {
			return Passed(x.Label).Noting("the link to the next page led to the items of the page before it, but the list grows while it is read")
		}
		return want.failed("the link to the next page leads to the same items", "the items of the page that has the link")
	}
	if err == nil && !slices.ContainsFunc(slices.Concat(items, before), e.isAnonymous) {
		after := e.identities(items)
		if repeated := len(after) - len(openapi.Missing(after, e.identities(before))); repeated > 0 && !e.unsteady() && e.judge("PAG-03").Outcome != Fail {
			return want.failed("the link to the next page leads to "+evidence.Count(repeated, "item")+" of the page that has the link", evidence.Count(len(after), "item")+", and "+strconv.Itoa(repeated)+" of them again")
		}
	}
	return Passed(x.Label)
}

// anyPageChanged reports whether a page of the list had other items when an ordinary call read it again. It ignores the answer with the label except.
func (e Evidence) anyPageChanged(except evidence.Label) bool {
	seen := map[string][]string{} // by URL
	for _, x := range operationAnswers(e) {
		if x.Label == except || x.Label.Resource() != e.Roles.List || !success(x) || !isOrdinaryCall(x) {
			continue
		}
		if _, trial := trialOf(x); trial { // the value may ask for another list
			continue
		}
		items, err := e.itemsOf(x)
		if err != nil || len(items) == 0 {
			continue
		}
		ids := slices.Sorted(slices.Values(e.identities(items)))
		if before, known := seen[x.Request.URL]; known && !slices.Equal(before, ids) {
			return true
		}
		seen[x.Request.URL] = ids
	}
	return false
}
