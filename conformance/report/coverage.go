package report

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/rin-network/rin/conformance/document"
	"github.com/rin-network/rin/conformance/exchange"
)

// This file says how much of what the document promises was seen, from the evidence alone: which parameters were tried, and which of the
// documented statuses an answer had. The calls without a good token count as well: a refusal is a documented answer too.

// Bounds of what is told of one operation.
const (
	maxParametersTold = 100
	maxStatusesTold   = 60
	maxName           = 200 // characters of a name that the document chose
)

// calls are the answered calls of each resource.
func calls(log *exchange.Log) map[exchange.Resource][]exchange.Exchange {
	out := map[exchange.Resource][]exchange.Exchange{}
	for _, x := range log.Exchanges {
		if x.Answered() {
			r := x.Label.Resource()
			out[r] = append(out[r], x)
		}
	}
	return out
}

// parametersOf tells of each described parameter in which manners it was tried.
func parametersOf(o document.Operation, op Operation, log *exchange.Log, answered []exchange.Exchange) []Parameter {
	out := []Parameter{}
	for _, p := range o.Parameters {
		told := Parameter{Name: cut(p.Name, maxName), In: cut(p.In, maxName), Required: p.Required, Tried: []Manner{}}
		manners := map[Manner]bool{}
		for _, x := range answered {
			if m := mannerOf(p, x); m != "" {
				manners[m] = true
			}
		}
		for _, m := range []Manner{Valid, Bounds, Outside} {
			if manners[m] {
				told.Tried = append(told.Tried, m)
			}
		}
		if len(told.Tried) == 0 {
			told.Because = untried(o, p, op, log)
		}
		out = append(out, told)
	}
	return out
}

// mannerOf is how a call tries a parameter; empty when it does not.
func mannerOf(p document.Parameter, x exchange.Exchange) Manner {
	if x.Label.Case() == exchange.OK && (p.Required || p.In == "path") && p.In != "cookie" {
		return Valid // the good call has a sample of what it needs
	}
	name, in := x.Given["parameter"], x.Given["in"]
	if name != p.Name && !strings.HasPrefix(name, p.Name+"[") || in != "" && in != p.In || in == "" && p.In != "query" {
		return ""
	}
	switch exchange.Try(x.Given["try"]) {
	case exchange.AtMinimum, exchange.AtMaximum, exchange.Shortest, exchange.Longest:
		return Bounds
	case "":
		switch x.Label.Case() {
		case exchange.SizeNegative, exchange.SizeZero, exchange.SizeText, exchange.SizeHuge, exchange.PageNegative, exchange.PageText, exchange.FilterBad:
			return Outside
		}
		return Valid
	}
	if x.Given["legal"] == "true" {
		return Valid
	}
	return Outside
}

// untried says why a parameter was not tried at all.
func untried(o document.Operation, p document.Parameter, op Operation, log *exchange.Log) string {
	if !op.Executed {
		return "the operation was not executed"
	}
	resource := exchange.OperationResource(o.Key)
	if skipped, planned := log.Skipped(resource.With(exchange.ParameterCase(p.Name))); planned && p.In == "query" {
		return skipped.Because
	}
	switch {
	case p.In == "cookie":
		return "cookies are not sent"
	case p.In == "header" && slices.Contains([]string{"accept", "content-type", "authorization"}, strings.ToLower(p.Name)):
		return "OpenAPI leaves this field to other parts of the document"
	case log.Run.Partial != "":
		return "the run was restricted: " + log.Run.Partial
	}
	return "there was no room in the request budget, or the document tells no value"
}

// statusesOf tells of each documented status whether an answer had it, and which undocumented ones there were.
func statusesOf(o document.Operation, op Operation, log *exchange.Log, answered []exchange.Exchange) (told []Status, undocumented []string) {
	seen := map[string]bool{}
	odd := map[string]bool{}
	for _, x := range answered {
		code := strconv.Itoa(x.Status())
		key, described := describedBy(o, code)
		if described {
			seen[key] = true
		} else {
			odd[code] = true
		}
	}
	told = []Status{}
	for _, key := range slices.Sorted(maps.Keys(o.Responses)) {
		s := Status{Status: cut(key, maxName), Seen: seen[key]}
		if !s.Seen {
			s.Because = unseen(o, key, op, log)
		}
		told = append(told, s)
	}
	return told, slices.Sorted(maps.Keys(odd))
}

// describedBy is the response that describes a status: itself, its range, or default (OAS 3.0.3 Responses Object).
func describedBy(o document.Operation, code string) (key string, ok bool) {
	for _, key := range []string{code, code[:1] + "XX", code[:1] + "xx", "default"} {
		if _, ok := o.Responses[key]; ok {
			return key, true
		}
	}
	return "", false
}

// unseen says why no answer had a documented status: most often, nothing that a polite run asks brings it about.
func unseen(o document.Operation, key string, op Operation, log *exchange.Log) string {
	switch {
	case !op.Executed:
		return "the operation was not executed"
	case key == "default":
		return "each answer has a status of its own"
	case strings.HasPrefix(key, "5"):
		return "the node did not fail"
	}
	switch key {
	case "304":
		return "no conditional request is sent"
	case "405":
		return "operations are asked with GET and HEAD only"
	case "429":
		return "the node did not limit the rate of requests"
	case "401":
		return "no call was refused for its token"
	case "403":
		if !log.Run.Second {
			return "no client without the role was given"
		}
		return "the client without the role was not refused with it"
	case "404", "410":
		if len(o.TemplateParameters()) == 0 {
			return "the path has no parameter whose value could be missing"
		}
	case "400", "422":
		return "no call was refused with it, whatever values were tried"
	}
	return "no call brought it about"
}

// count adds what the list of operations tells in full.
func (o *Operations) count(op Operation) {
	for _, p := range op.Parameters {
		o.Parameters.Described++
		if len(p.Tried) > 0 {
			o.Parameters.Covered++
		}
	}
	for _, s := range op.Statuses {
		o.Statuses.Described++
		if s.Seen {
			o.Statuses.Covered++
		}
	}
}

// told bounds what stands in the report of one operation; the counts are of all.
func (op Operation) told() Operation {
	op.Parameters = op.Parameters[:min(len(op.Parameters), maxParametersTold)]
	op.Statuses = op.Statuses[:min(len(op.Statuses), maxStatusesTold)]
	return op
}

// String is the coverage in one sentence: "4 of 4 documented operations executed, 8 of 9 parameters tried, 11 of 17 documented statuses seen".
func (o Operations) String() string {
	s := fmt.Sprintf("%d of %d documented operations executed", o.Executed, o.Documented)
	if o.Parameters.Described > 0 {
		s += fmt.Sprintf(", %d of %d parameters tried", o.Parameters.Covered, o.Parameters.Described)
	}
	if o.Statuses.Described > 0 {
		s += fmt.Sprintf(", %d of %d documented statuses seen", o.Statuses.Covered, o.Statuses.Described)
	}
	return s
}

// ParametersInWords is what an operation's cell of a table says of its parameters.
func (op Operation) ParametersInWords() []string {
	var out []string
	for _, p := range op.Parameters {
		manners := make([]string, 0, len(p.Tried))
		for _, m := range p.Tried {
			manners = append(manners, string(m))
		}
		text := p.Name + ": " + strings.Join(manners, ", ")
		if len(manners) == 0 {
			text = p.Name + ": not tried, " + p.Because
		}
		out = append(out, text)
	}
	return out
}

// StatusesInWords likewise: first those that were seen.
func (op Operation) StatusesInWords() []string {
	var seen, out []string
	for _, s := range op.Statuses {
		if s.Seen {
			seen = append(seen, s.Status)
		} else {
			out = append(out, s.Status+": not seen, "+s.Because)
		}
	}
	if len(seen) > 0 {
		out = append([]string{strings.Join(seen, ", ") + " seen"}, out...)
	}
	if len(op.Undocumented) > 0 {
		out = append(out, strings.Join(op.Undocumented, ", ")+" seen and not documented")
	}
	return out
}
