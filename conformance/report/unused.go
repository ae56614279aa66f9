package report

import (
	"fmt"
	"net/url"
	"slices"
	"strings"

	"github.com/rin-network/rin/conformance/evidence"
	"github.com/rin-network/rin/conformance/requirement"
)

// unusedInputs lists what the operator gave and the run did not use, one sentence each. A run that was restricted to requirements needs few of
// its inputs, so nothing is said of it.
func unusedInputs(log *evidence.Log) []string {
	run := log.Run
	if len(run.Only) > 0 || log.Ended == nil {
		return nil
	}
	var out []string
	say := func(input, because string) {
		out = append(out, fmt.Sprintf("%s was given and not used: %s.", evidence.Clip(input, 160), strings.TrimSuffix(evidence.Clip(because, 300), ".")))
	}
	funding := requirement.Profile(run.Profile).Includes(requirement.Funding)
	profile := "the profile " + run.Profile + " has no use for it"
	for _, input := range []struct {
		name  string
		given bool
		fits  func(evidence.Label) bool
	}{
		{"--client-id2", run.Second, at(evidence.SecondClient)},
		{"--other-client-id", run.Other, at(evidence.OtherClient)},
		{"--staging-token-url", run.StagingTokenURL != "", at(evidence.StagingEndpoint)},
		{"--expired-token", run.ExpiredToken, isCase("expired")},
		{"--wait " + run.Wait.String(), run.Wait > 0 && !run.ExpiredToken && requirement.Profile(run.Profile) != requirement.Full, isCase("expired")},
		{"--allow-token-in-url", run.TokenInURL, isCase("token-in-query")},
		{"--allow-secret-in-url", run.SecretInURL, isCase("secret-in-url")},
		// Older evidence does not say where the URL came from.
		{"--spec-url", run.SpecURL != "" && !run.SpecDerived && run.Schema == evidence.Schema && !funding, at(evidence.Specification)},
	} {
		if because, unused := unsent(log, input.fits); input.given && unused {
			if because == "" {
				because = profile
			}
			say(input.name, because)
		}
	}
	for _, role := range []struct {
		flag, name string
		found      evidence.Resource
	}{{"--list-operation", run.ListOperation, log.Roles.List}, {"--detail-operation", run.DetailOperation, log.Roles.Detail}} {
		switch {
		case role.name == "" || role.found != "":
		case !funding:
			say(role.flag, profile)
		default:
			say(role.flag+" "+role.name, "the node's document has no GET operation of that name")
		}
	}
	for _, origin := range run.AllowedOrigins {
		if !contacted(log, origin) {
			say("--allow-origin "+origin, "nothing of the node is there")
		}
	}
	return append(out, unusedNames(log, profile)...)
}

// unusedNames lists the values and gaps that name nothing in the node's document.
func unusedNames(log *evidence.Log, profile string) []string {
	var out []string
	spec := requirement.Read(log).Spec
	why := func(missing string) string {
		if spec == nil {
			return profile
		}
		return missing
	}
	for _, name := range log.Run.Values {
		known := false
		if spec != nil {
			for _, o := range spec.Operations {
				for _, p := range o.Parameters {
					known = known || p.Name == name
				}
			}
		}
		if !known {
			out = append(out, fmt.Sprintf("--value %s was given and not used: %s.", evidence.Clip(name, 160), why("the node's document has no parameter of that name")))
		}
	}
	for _, gap := range log.Run.Gaps {
		because := why("the node's document has no operation of that name")
		if spec != nil {
			for _, o := range spec.Operations {
				if !o.Named(gap.Operation) {
					continue
				}
				if because = ""; slices.ContainsFunc(log.Exchanges, func(x evidence.Exchange) bool {
					return x.Label == evidence.OperationResource(o.Key).With(evidence.OK) && x.Answered()
				}) {
					because = "the operation was called"
				}
				break
			}
		}
		if because != "" {
			out = append(out, fmt.Sprintf("--gap %s was given and not used: %s.", evidence.Clip(gap.Operation, 160), because))
		}
	}
	return out
}

// at fits the labels of a resource, isCase those of a case.
func at(r evidence.Resource) func(evidence.Label) bool {
	return func(l evidence.Label) bool { return l.Resource() == r }
}

func isCase(c evidence.Case) func(evidence.Label) bool {
	return func(l evidence.Label) bool { return l.Case() == c }
}

// unsent reports whether no request with a fitting label was sent, and the reason that the run recorded, if any.
func unsent(log *evidence.Log, fits func(evidence.Label) bool) (because string, unused bool) {
	if slices.ContainsFunc(log.Exchanges, func(x evidence.Exchange) bool { return fits(x.Label) }) {
		return "", false
	}
	for _, n := range log.NotSent {
		if fits(n.Label) {
			return n.Because, true
		}
	}
	return "", true
}

// contacted reports whether a request went to the origin.
func contacted(log *evidence.Log, origin string) bool {
	same := func(raw string) bool {
		a, errA := url.Parse(raw)
		b, errB := url.Parse(origin)
		return errA == nil && errB == nil && evidence.Origin(a) == evidence.Origin(b)
	}
	return slices.ContainsFunc(log.Exchanges, func(x evidence.Exchange) bool {
		return same(x.Request.URL) || slices.ContainsFunc(x.Redirects, func(h evidence.Hop) bool { return same(h.URL) })
	})
}
