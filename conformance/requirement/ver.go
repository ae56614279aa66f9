package requirement

import (
	"github.com/rin-network/rin/conformance/exchange"
)

// versioning lists group VER in catalogue order, as far as this version judges it.
func versioning() []Requirement {
	return []Requirement{
		{
			ID: "VER-01", Title: "Info, spec and operation paths carry a v<major> segment",
			Level: Network, Gate: Gating, Profile: Auth,
			Source:   NET("R20"),
			Quote:    "The version is part of the path, as a segment of the form v<major>.",
			Probe:    "The paths of the info URL, the specification URL and of each operation that was called.",
			Forgives: "Any position of the segment and any number; the v3 of springdoc's /v3/api-docs counts; operations without it are a warning.",
			Fix:      "Serve the info resource and the specification under a path with the major version, such as /info/v1/… and /funding/v3/api-docs, and record these URLs.",
			Breaks:   "Info is served at /info/oauth/info only.",
			Reads: []exchange.Label{exchange.Info.With(exchange.OK), exchange.Specification.With(exchange.OK),
				exchange.EveryOperation.With(exchange.OK)},
			Check: pathsCarryVersion,
		},
		{
			ID: "VER-02", Title: "A non-existing major version is a client error",
			Level: Recommended, Gate: Advice, Profile: Funding,
			Source:   NET("R20").And(RFC(9110, "15.5.5")),
			Quote:    "The version is part of the path, as a segment of the form v<major>.",
			Probe:    "A GET with a token of the info URL with v999 in place of its version.",
			Forgives: "Any 4xx; a web page or a redirect (a warning).",
			Fix:      "Route the versions that exist and no others: no wildcard in place of the version in the gateway's path rule (Kong paths: ~/info/v1/, nginx location /info/v1/).",
			Breaks:   "v999 answers like v1.",
			Needs:    []exchange.Label{exchange.Info.With(exchange.UnknownVersion)}, After: []ID{"INF-01"},
			Control: exchange.Info.With(exchange.OK), Check: unknownVersionRefused,
		},
		{
			ID: "VER-03", Title: "Deprecation and Sunset headers, if used, are well-formed and ordered",
			Level: StandardMust, Gate: Advice, Profile: Funding,
			Source:   RFC(9745, "4").And(RFC(9745, "2.1")).And(RFC(8594, "3")),
			Quote:    "The timestamp given in the Sunset HTTP header field MUST NOT be earlier than the one given in the Deprecation header field.",
			Probe:    "The headers Deprecation and Sunset of all answers of the run.",
			Forgives: "true or an HTTP date in Deprecation, as older drafts had it (a warning); a Sunset that has passed (a warning); neither of the headers.",
			Fix:      "Write Deprecation: @1688169599 (seconds since 1970) and Sunset: Sun, 30 Jun 2024 23:59:59 GMT, the Sunset later than the Deprecation.",
			Breaks:   "The Sunset is earlier than the Deprecation.",
			Reads:    []exchange.Label{exchange.WholeRun}, Check: sunsetsInOrder,
		},
	}
}

func pathsCarryVersion(e Evidence) Judgement {
	const expected = "a path segment v<major>"
	var parts []Judgement
	for _, place := range []struct {
		what, url string
		label     exchange.Label
	}{
		{"info URL", e.Run.InfoURL, exchange.Info.With(exchange.OK)},
		{"specification URL", e.Run.SpecURL, exchange.Specification.With(exchange.OK)},
	} {
		switch {
		case place.url == "":
		case len(majorVersions(place.url)) > 0:
			parts = append(parts, Passed(place.label))
		default:
			parts = append(parts, Failed("the path of the "+place.what+" has no v<major> segment", expected, clip(place.url)).
				About(Subject{Name: place.what, Label: place.label, Expected: expected, Got: clip(place.url)}))
		}
	}
	for _, x := range e.All(exchange.EveryOperation.With(exchange.OK)) {
		if len(majorVersions(x.Request.URL)) > 0 {
			parts = append(parts, Passed(x.Label))
			continue
		}
		parts = append(parts, Warned("the path of an operation has no v<major> segment", expected, callName(x)).about(x, expected, callName(x)))
	}
	if len(parts) == 0 {
		return Unclear("neither an info URL nor a specification URL is known").Blaming(Suite)
	}
	return gather(parts...)
}
