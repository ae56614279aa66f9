package requirement

import (
	"fmt"
	"strconv"

	"github.com/rin-network/rin/conformance/exchange"
)

// This file says what the answers to tried parameters mean. A value that the document allows belongs to the operation's promise (API-01);
// one that it does not allow may be refused, ignored or find nothing, and must not break the node (PAG-06). What comes as a success is
// compared with the document like any other answer (API-02 to API-07).

// tried reports a call in which one described parameter was tried, and whether the document allows the value.
func tried(x exchange.Exchange) (legal, ok bool) {
	if parameterCall(x.Label.Case()) {
		return true, true
	}
	legal, err := strconv.ParseBool(x.Given["legal"])
	return legal, x.Given["try"] != "" && err == nil
}

// parameterCall reports whether a case is one made by [exchange.ParameterCase].
func parameterCall(c exchange.Case) bool {
	prefix := exchange.ParameterCase("")
	return len(c) > len(prefix) && c[:len(prefix)] == prefix
}

// triedName names the operation with the parameter as it was tried.
func triedName(e Evidence, x exchange.Exchange) string {
	name := resourceName(e, x.Label.Resource())
	if how := givenParameter(x); how != "" {
		return clip(name + ", " + how)
	}
	return name
}

func givenParameter(x exchange.Exchange) string {
	name := x.Given["parameter"]
	switch {
	case name == "":
		return string(x.Label.Case())
	case x.Given["try"] == string(exchange.Absent):
		return clip("without the required parameter " + name)
	}
	in := ""
	if place := x.Given["in"]; place != "" && place != "query" {
		in = place + " "
	}
	return clip(in + "parameter " + name + "=" + shortened(x.Given["value"]))
}

// allowedValues judges the calls with values that the document allows; there is nothing to say of the good ones.
func allowedValues(e Evidence) []Judgement {
	var parts []Judgement
	for _, x := range operationAnswers(e) {
		if legal, ok := tried(x); !ok || !legal {
			if ok && x.Given["try"] == string(exchange.Absent) && success(x) {
				parts = append(parts, Passed().Noting(triedName(e, x)+" is answered "+describe(x)+": the document calls it required, and the node does not"))
			}
			continue
		}
		if j, faulty := allowedValue(e, x); faulty {
			parts = append(parts, j)
		}
	}
	return parts
}

func allowedValue(e Evidence, x exchange.Exchange) (Judgement, bool) {
	about := Subject{Name: triedName(e, x), Label: x.Label, Expected: "2xx, or a documented refusal", Got: describe(x)}
	switch status := x.Status(); {
	case success(x), redirected(x), wafPage(x), rateLimited(x), status == 401, status == 403:
		return Judgement{}, false // other rules look at those
	case serverError(x):
		return Failed("a value that the document allows breaks the operation: "+about.Name, about.Expected, about.Got).
			Hinting("look into the node's log for the cause; if the value is wrong, correct the parameter's schema in the document").About(about), true
	case (status == 404 || status == 410) && x.Given["in"] == "path":
		return Judgement{}, false // an id that nobody has
	case !clientError(x):
		return Judgement{}, false
	case !documented(e, x.Label.Resource(), status):
		return Failed(fmt.Sprintf("a value that the document allows is refused with %d, which is not documented: %s", status, about.Name), about.Expected, about.Got).
			Hinting("accept the value, or write down what is allowed: enum, minimum, maximum, minLength, maxLength or pattern of the parameter").Blaming(NodeDocument).About(about), true
	case x.Label.Resource() == e.Roles.List:
		return Passed().Noting(about.Name + " is refused with " + describe(x) + "; PAG-02 and PAG-07 judge pages and filters"), true
	}
	return Warned("a value that the document allows is refused: "+about.Name, "2xx", about.Got).
		Hinting("accept the value, or describe in the document which values are allowed, and with which others").Blaming(NodeDocument).About(about), true
}

// documented reports whether the document describes a status of the operation: by itself, by its range, or as default.
func documented(e Evidence, r exchange.Resource, status int) bool {
	o, ok := operation(e, r)
	if !ok {
		return false
	}
	code := strconv.Itoa(status)
	for _, key := range []string{code, code[:1] + "XX", code[:1] + "xx", "default"} {
		if _, listed := o.Responses[key]; listed {
			return true
		}
	}
	return false
}

// brokenByValues are the failures of PAG-06 that values bring about which the document does not allow.
func brokenByValues(e Evidence) []Judgement {
	var parts []Judgement
	for _, x := range operationAnswers(e) {
		if legal, ok := tried(x); !ok || legal || !serverError(x) {
			continue
		}
		const expected = "4xx, or the value is ignored"
		name := triedName(e, x)
		parts = append(parts, Failed("a value that the document does not allow breaks the operation: "+name, expected, describe(x)).
			About(Subject{Name: name, Label: x.Label, Expected: expected, Got: describe(x)}))
	}
	return parts
}
