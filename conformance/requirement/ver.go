package requirement

import (
	"fmt"
	"strings"
	"time"

	"github.com/rin-network/rin/conformance/evidence"
)

// versioning returns the group VER.
func versioning() []Requirement {
	return []Requirement{
		{
			ID: "VER-01", Title: "Info, spec and operation paths carry a v<major> segment",
			Level: Network, Gate: Gating, Profile: Auth,
			Source:   NET("R20"),
			Quote:    "The version is part of the path, as a segment of the form v<major>.",
			Probe:    "The paths of the info URL, the specification URL and of each operation that was called.",
			Forgives: "Any position of the segment and any number; the v3 of springdoc's /v3/api-docs counts; operations without it are a warning, unless they are about the service, such as a health check.",
			Fix:      "Serve the info resource and the specification under a path with the major version, such as /info/v1/… and /funding/v3/api-docs, and record these URLs.",
			Breaks:   "Info is served at /info/oauth/info only.",
			Reads: []evidence.Label{evidence.Info.With(evidence.OK), evidence.Specification.With(evidence.OK),
				evidence.EveryOperation.With(evidence.OK)},
			Check: judgePathVersions,
		},
		{
			ID: "VER-02", Title: "A non-existing major version is a client error",
			Level: Recommended, Gate: Advice, Profile: API,
			Source:   NET("R20").And(RFC(9110, "15.5.5")),
			Quote:    "The version is part of the path, as a segment of the form v<major>.",
			Probe:    "A GET of the info URL with a token, and with a version between v40 and v999 in place of its own.",
			Forgives: "Any 4xx; a web page or a redirect (a warning).",
			Fix:      "Route the versions that exist and no others: no wildcard instead of the version in the gateway's path rule (Kong paths: ~/info/v1/, nginx location /info/v1/).",
			Breaks:   "An unknown version answers like v1.",
			Needs:    []evidence.Label{evidence.Info.With("unknown-version")}, After: []ID{"INF-01"},
			Control: evidence.Info.With(evidence.OK), Check: onAnswer(evidence.Info.With("unknown-version"), judgeUnknownVersion),
		},
		{
			ID: "VER-03", Title: "Deprecation and Sunset headers, if used, are well-formed and ordered",
			Level: StandardMust, Gate: Advice, Profile: API,
			Source:   RFC(9745, "4").And(RFC(9745, "2.1")).And(RFC(8594, "3")),
			Quote:    "The timestamp given in the Sunset HTTP header field MUST NOT be earlier than the one given in the Deprecation header field.",
			Probe:    "The headers Deprecation and Sunset of all answers of the run.",
			Forgives: "true or an HTTP date in Deprecation, as older drafts had it (a warning); a Sunset that has passed (a warning); neither of the headers.",
			Fix:      "Write Deprecation: @1688169599 (seconds since 1970) and Sunset: Sun, 30 Jun 2024 23:59:59 GMT, the Sunset later than the Deprecation.",
			Breaks:   "The Sunset is earlier than the Deprecation.",
			Reads:    []evidence.Label{evidence.WholeRun}, Check: judgeSunsets,
		},
	}
}

// judgePathVersions is the check of VER-01.
func judgePathVersions(e Evidence) Judgement {
	const expected = "a path segment v<major>"
	var parts []Judgement
	for _, place := range []struct {
		what, url string
		label     evidence.Label
	}{
		{"info URL", e.Run.InfoURL, evidence.Info.With(evidence.OK)},
		{"specification URL", e.Run.SpecURL, evidence.Specification.With(evidence.OK)},
	} {
		switch {
		case place.url == "":
		case len(majorVersions(place.url)) > 0:
			parts = append(parts, Passed(place.label))
		default:
			parts = append(parts, Subject{Name: place.what, Label: place.label, Expected: expected}.
				failed("the path of the "+place.what+" has no v<major> segment", clip(place.url)))
		}
	}
	for _, label := range e.Resolve(evidence.EveryOperation.With(evidence.OK)) {
		x, sent := e.Get(label)
		if o, _ := operation(e, label.Resource()); !sent || o.AboutService() && !isInfoPath(o.Path) {
			continue
		}
		if len(majorVersions(x.Request.URL)) > 0 {
			parts = append(parts, Passed(x.Label))
			continue
		}
		parts = append(parts, expect(x, expected).warned("the path of an operation has no v<major> segment", callName(x)))
	}
	if len(parts) == 0 {
		j := Unclear("neither an info URL nor a specification URL is known")
		if e.Run.NodeID == "" { // without a registry, the recording should name the URLs
			j = j.Blaming(Suite)
		}
		return j
	}
	return gather(parts...)
}

// isInfoPath reports whether a path is that of the info resource, which has a version although it is about the service (NET-R13).
func isInfoPath(path string) bool {
	return strings.HasSuffix(strings.TrimRight(strings.ToLower(path), "/"), "/oauth/info")
}

// judgeUnknownVersion is the check of VER-02.
func judgeUnknownVersion(x evidence.Exchange) Judgement {
	want := expect(x, "404, or another 4xx")
	if serverError(x) {
		return want.failed("a version that does not exist breaks the node", describe(x))
	}
	if j, unclear := inconclusiveRefusal(x); unclear {
		return j
	}
	switch {
	case success(x) && len(x.Redirects) > 0:
		return want.warned("a version that does not exist redirects to one that does", "redirected to "+describe(x))
	case success(x) && isHTML(x):
		return want.warned("a version that does not exist is answered with a web page", describe(x))
	case success(x):
		return want.failed("a version that does not exist is answered like one that does", describe(x))
	case redirected(x):
		return want.warned("a version that does not exist is redirected elsewhere", describe(x))
	}
	return Passed(x.Label)
}

// judgeSunsets is the check of VER-03.
func judgeSunsets(e Evidence) Judgement {
	var parts []Judgement
	seen := map[string]bool{}
	found := false
	for _, x := range e.Exchanges {
		deprecation, sunset := header(x, "Deprecation"), header(x, "Sunset")
		if !isNodeAnswer(x) || len(deprecation)+len(sunset) == 0 {
			continue
		}
		found = true
		key := strings.Join(deprecation, ", ") + "|" + strings.Join(sunset, ", ")
		if seen[key] {
			continue
		}
		seen[key] = true
		parts = append(parts, judgeDeprecation(x, deprecation, sunset))
	}
	if !found {
		return Inapplicable("no answer has a Deprecation or Sunset header")
	}
	return gather(parts...)
}

// isNodeAnswer reports whether the tested node was called. The registry and listed endpoints may belong to other nodes.
func isNodeAnswer(x evidence.Exchange) bool {
	r := x.Label.Resource()
	return r != evidence.Registry && !strings.HasPrefix(string(r), string(evidence.EndpointResource("")))
}

// judgeDeprecation judges the two headers of one answer.
func judgeDeprecation(x evidence.Exchange, deprecation, sunset []string) Judgement {
	var parts []Judgement
	since, sinceKnown := time.Time{}, false
	if len(deprecation) > 0 {
		value := strings.Join(deprecation, ", ") // lines of one name are one value (RFC 9110 §5.3)
		got := clip("Deprecation: " + value)
		const expected = "@ and seconds since 1970, such as Deprecation: @1688169599"
		date, form := evidence.DeprecationDate(value)
		since, sinceKnown = date, form != evidence.NoDate && !date.IsZero()
		switch form {
		case evidence.NoDate:
			parts = append(parts, expect(x, expected).failed("the Deprecation header is not a date", got))
		case evidence.OlderDate:
			parts = append(parts, expect(x, expected).warned("the Deprecation header has the form of an older draft", got))
		}
	}
	if len(sunset) > 0 {
		value := strings.Join(sunset, ", ")
		got := clip("Sunset: " + value)
		const expected = "an HTTP date, such as Sunset: Sun, 30 Jun 2024 23:59:59 GMT"
		end, form := evidence.HTTPDate(value)
		switch {
		case form == evidence.NoDate:
			parts = append(parts, expect(x, expected).failed("the Sunset header is not an HTTP date", got))
		case form == evidence.OlderDate:
			parts = append(parts, expect(x, expected).warned("the Sunset header has an obsolete form of dates", got))
		case sinceKnown && end.Before(since):
			got := clip(strings.Join(deprecation, ", ") + ", then " + got)
			parts = append(parts, expect(x, "a Sunset after the Deprecation").failed("the Sunset is earlier than the Deprecation", got))
		case success(x) && end.Before(answeredAt(x)):
			parts = append(parts, expect(x, "a Sunset in the future").warned("the Sunset has passed and the resource still answers", got))
		}
	}
	if len(parts) == 0 {
		return Passed(x.Label)
	}
	return gather(parts...)
}

// durationText formats a duration for readers: "2 min 5 s".
func durationText(d time.Duration) string {
	d = d.Abs().Round(time.Second)
	switch {
	case d < time.Minute:
		return fmt.Sprintf("%d s", int(d.Seconds()))
	case d < time.Hour:
		return fmt.Sprintf("%d min %d s", int(d.Minutes()), int(d.Seconds())%60)
	case d < 48*time.Hour:
		return fmt.Sprintf("%d h %d min", int(d.Hours()), int(d.Minutes())%60)
	}
	return fmt.Sprintf("%d days", int(d.Hours())/24)
}
