package requirement

import (
	"net/url"
	"slices"
	"strings"

	"github.com/rin-network/rin/conformance/evidence"
	"github.com/rin-network/rin/conformance/openapi"
)

// This file judges the ordinary calls that a run makes for another purpose: to compare filters, to read pages, to see an order. An ordinary client could
// have sent each of them, so an operation that breaks on one breaks for clients, too. The requirement for which a call was made often judges only items.

// ordinaryFailures returns the failures of operations that break on an ordinary call at each attempt.
func ordinaryFailures(e Evidence) []Judgement {
	var parts []Judgement
	broken := map[string]int{} // the calls by operation and parameters
	for _, x := range e.Exchanges {
		o, known := operation(e, x.Label.Resource())
		if _, isTrial := trialOf(x); isTrial || x.Label.Case() == "range-exchanged" || !known || !slices.Contains(e.Roles.Operations, x.Label.Resource()) || x.Label.Case() == evidence.OK {
			continue // judged as the plain call, as a value, or by PAG-06
		}
		if _, judged := findFilterCrash(e, x); judged || !isBroken(x) || !controlWorks(e, x, x.Label.Resource().With(evidence.OK)) {
			continue
		}
		query, ordinary := ordinaryQuery(o, x)
		if !ordinary {
			continue
		}
		j := allowedValueCrash(Subject{Name: clip(operationName(o) + ", " + query), Label: x.Label, Expected: "2xx, or a documented refusal", Got: describe(x)})
		if broken[operationName(o)]++; isOfGateway(x) && broken[operationName(o)] < 2 {
			j.Outcome = Warn
		}
		parts = append(parts, j)
	}
	return parts
}

// isBroken reports whether an operation answered no attempt of a call. 503 may be a refusal for load, 501 an honest word.
func isBroken(x evidence.Exchange) bool {
	return x.Attempts >= 2 && (isReset(x) || serverError(x) && x.Status() != 501 && x.Status() != 503)
}

func isReset(x evidence.Exchange) bool {
	return x.Failure != nil && x.Failure.Kind == evidence.FailureReset
}

// isOfGateway reports whether a failure may be one of a proxy or a firewall, for some seconds or for one value. A second call that fails shows that it is not.
func isOfGateway(x evidence.Exchange) bool {
	return isReset(x) || x.Status() == 502 || x.Status() == 504
}

// ordinaryQuery returns the parameters of a call in words, as in "parameters status=open and year=2027", if the call is ordinary: it has the token of the
// client, the header fields of an ordinary client, and described parameters with allowed values. It leaves out details and calls that choose only a page,
// which requirements of PAG judge.
func ordinaryQuery(o openapi.Operation, x evidence.Exchange) (words string, ordinary bool) {
	if x.Request.Method != "GET" || len(x.Request.Body) > 0 || x.Request.Raw || lacksGoodToken(x) || sendsRolelessToken(x) || x.Presented != nil ||
		hasUnknownField(x) || len(idleFields(x)) > 0 || mayFailBeforeRouting(x) || x.Family != "" || len(o.TemplateParameters()) > 0 {
		return "", false
	}
	u, err := url.Parse(x.Request.URL)
	if err != nil {
		return "", false
	}
	query, err := url.ParseQuery(u.RawQuery)
	if err != nil {
		return "", false
	}
	var selections []string
	for name, values := range query {
		p, described := queryParameter(o, name)
		if !described || len(values) > 1 || strings.Contains(values[0], markerStart) || !p.Schema.Allows(values[0]) {
			return "", false
		}
		switch openapi.RoleOf(p) {
		case openapi.CursorRole: // any text may be allowed, and few are cursors
			return "", false
		case openapi.PageRole, openapi.SkipRole, openapi.SizeRole:
		default:
			selections = append(selections, name+"="+shorten(values[0]))
		}
	}
	slices.Sort(selections)
	noun := "parameters "
	if len(selections) == 1 {
		noun = "parameter "
	}
	return noun + strings.Join(selections, " and "), len(selections) > 0
}
