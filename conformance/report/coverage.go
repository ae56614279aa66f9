package report

import (
	"fmt"
	"maps"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"github.com/rin-network/rin/conformance/evidence"
	"github.com/rin-network/rin/conformance/openapi"
	"github.com/rin-network/rin/conformance/requirement"
)

// This file derives the coverage of the node's document from the evidence: which parameters were tried, and which documented statuses answers
// had. Calls without a good token count, too: a refusal is a documented answer.

// Bounds of the report of one operation.
const (
	maxParameters = 100
	maxStatuses   = 60
	maxName       = 200 // bytes of a name in the document
)

// calls returns the answered calls of each resource.
func calls(log *evidence.Log) map[evidence.Resource][]evidence.Exchange {
	out := map[evidence.Resource][]evidence.Exchange{}
	for _, x := range log.Exchanges {
		if x.Answered() {
			r := x.Label.Resource()
			out[r] = append(out[r], x)
		}
	}
	return out
}

// parametersOf lists the described parameters with the manners in which they were tried.
func parametersOf(o openapi.Operation, op Operation, log *evidence.Log, answered []evidence.Exchange) []Parameter {
	out := []Parameter{}
	for _, p := range o.Parameters {
		tried := Parameter{Name: cut(p.Name, maxName), In: cut(p.In, maxName), Required: p.Required, Tried: []Manner{}}
		manners := map[Manner]bool{}
		for _, x := range answered {
			if m := mannerOf(p, x); m != "" {
				manners[m] = true
			}
		}
		for _, m := range []Manner{Valid, Bounds, Outside} {
			if manners[m] {
				tried.Tried = append(tried.Tried, m)
			}
		}
		if len(tried.Tried) == 0 {
			tried.Because = untriedReason(o, p, op, log)
		}
		out = append(out, tried)
	}
	return out
}

// mannerOf returns how a call tries a parameter; "" if it does not.
func mannerOf(p openapi.Parameter, x evidence.Exchange) Manner {
	if x.Label.Case() == evidence.OK && (p.Required || p.In == "path") && p.In != "cookie" {
		return Valid // the good call sends a sample of each required parameter
	}
	name, in := x.Given["parameter"], x.Given["in"]
	if name != p.Name && !strings.HasPrefix(name, p.Name+"[") || in != "" && in != p.In || in == "" && p.In != "query" {
		return ""
	}
	switch evidence.Try(x.Given["try"]) {
	case evidence.AtMinimum, evidence.AtMaximum, evidence.Shortest, evidence.Longest:
		return Bounds
	case "":
		switch x.Label.Case() {
		case "size-negative", "size-zero", "size-text", "size-huge", "page-negative", "page-text", "filter-bad":
			return Outside
		}
		return Valid
	}
	if x.Given["legal"] == "true" {
		return Valid
	}
	return Outside
}

// untriedReason explains why a parameter was not tried.
func untriedReason(o openapi.Operation, p openapi.Parameter, op Operation, log *evidence.Log) string {
	if !op.Executed {
		return "the operation was not executed"
	}
	resource := evidence.OperationResource(o.Key)
	for _, c := range []evidence.Case{evidence.ParameterCase(p.Name), evidence.Case("filter-" + p.Name + "-1")} {
		if skipped, planned := log.Skipped(resource.With(c)); planned && p.In == "query" {
			return skipped.Because
		}
	}
	for _, n := range log.NotSent {
		if n.Label.Resource() == resource && n.Label.Case() != "" && triesParameter(n.Label.Case(), p) {
			return n.Because
		}
	}
	switch {
	case p.In == "cookie":
		return "cookies are not sent"
	case p.In == "header" && slices.Contains([]string{"accept", "content-type", "authorization"}, strings.ToLower(p.Name)):
		return "OpenAPI leaves this field to other parts of the document"
	case log.Run.Partial != "":
		return "the run was restricted: " + log.Run.Partial
	}
	if p.In != "query" {
		return "the document gives no value and no bound to try"
	}
	return "there was no room in the request budget"
}

// triesParameter reports whether [evidence.TryCase] made the case for the parameter.
func triesParameter(c evidence.Case, p openapi.Parameter) bool {
	try, found := strings.CutSuffix(string(c), string(evidence.TryCase("", p.In, p.Name)))
	if n, numbered := strings.CutPrefix(try, "value-"); found && numbered {
		_, err := strconv.Atoi(n)
		return err == nil
	}
	return found && slices.Contains([]evidence.Try{
		evidence.Plain, evidence.AtMinimum, evidence.AtMaximum, evidence.Shortest, evidence.Longest, evidence.BelowMinimum, evidence.AboveMaximum,
		evidence.TooShort, evidence.TooLong, evidence.OutsideEnum, evidence.AgainstPattern, evidence.WrongType, evidence.Absent,
	}, evidence.Try(try))
}

// statusesOf lists the documented statuses, and the undocumented ones that answers had.
func statusesOf(o openapi.Operation, op Operation, log *evidence.Log, answered []evidence.Exchange) (list []Status, undocumented []string) {
	seen := map[string]bool{}
	undescribed := map[string]bool{}
	for _, x := range answered {
		if key, described := o.ResponseTo(x.Status()); described {
			seen[key] = true
		} else if hasPathOf(o, x.Request.URL) {
			undescribed[strconv.Itoa(x.Status())] = true
		}
	}
	list = []Status{}
	for _, key := range slices.Sorted(maps.Keys(o.Responses)) {
		s := Status{Status: cut(key, maxName), Seen: seen[key]}
		if !s.Seen {
			s.Because = unseenReason(o, key, op, log, answered)
		}
		list = append(list, s)
	}
	return list, slices.Sorted(maps.Keys(undescribed))
}

// hasPathOf reports whether the path of a URL is that of an operation. A run also tries odd paths, such as one with
// a doubled slash; the document need not describe their statuses.
func hasPathOf(o openapi.Operation, address string) bool {
	u, err := url.Parse(address)
	if err != nil || u.Path == "" {
		return err == nil
	}
	described, called := strings.Split(strings.Trim(o.Path, "/"), "/"), strings.Split(strings.TrimPrefix(u.EscapedPath(), "/"), "/")
	if len(called) < len(described) {
		return false
	}
	for i, segment := range called[len(called)-len(described):] {
		if segment == "" || !strings.Contains(described[i], "{") && segment != described[i] {
			return false
		}
	}
	return !slices.Contains(called[:len(called)-len(described)], "")
}

// unseenReason explains why no answer had a documented status. Most statuses need requests that rin does not send.
func unseenReason(o openapi.Operation, key string, op Operation, log *evidence.Log, answered []evidence.Exchange) string {
	sent := func(matches func(evidence.Exchange) bool) bool { return slices.ContainsFunc(answered, matches) }
	choose := func(wasSent bool, without, unanswered string) string {
		if wasSent {
			return unanswered
		}
		return without
	}
	switch {
	case !op.Executed:
		return "the operation was not executed"
	case key == "default":
		return "every answer had a specific status"
	case strings.HasPrefix(key, "5"):
		return choose(sent(func(x evidence.Exchange) bool { return x.Status() >= 500 }), "the node did not fail", "the node failed with another status")
	}
	switch key {
	case "304":
		return choose(sent(isConditional), "no conditional request was sent", "no conditional request was answered with it")
	case "405":
		return choose(sent(hasOtherMethod), "it was called with GET and HEAD only", "no other method was refused with it")
	case "429":
		return "no call was refused for its rate"
	case "401":
		return choose(sent(func(x evidence.Exchange) bool { return x.Label.Case() == evidence.NoToken }), "every call had a good token", "no call was refused with it")
	case "403":
		switch {
		case !log.Run.Second:
			return "no client without the role was given"
		case !sent(func(x evidence.Exchange) bool { return x.Label.Case() == "no-role" }):
			return "the client without the role did not call it"
		}
		return "the client without the role was not refused with it"
	case "404", "410":
		if len(o.TemplateParameters()) == 0 {
			return "the path has no parameter whose value could be missing"
		}
	case "400", "422":
		return "no call was refused with it"
	}
	return "no call caused it"
}

// isConditional reports whether a request asks for an answer only if something changed.
func isConditional(x evidence.Exchange) bool {
	return slices.ContainsFunc([]string{"If-None-Match", "If-Modified-Since"}, func(name string) bool { return len(evidence.Values(x.Request.Header, name)) > 0 })
}

// hasOtherMethod reports whether a request has another method than GET and HEAD.
func hasOtherMethod(x evidence.Exchange) bool {
	return x.Request.Method != "GET" && x.Request.Method != "HEAD"
}

// count adds one operation to the totals.
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

// limited shortens the lists of one operation for the report. The totals count everything.
func (op Operation) limited() Operation {
	op.Parameters = op.Parameters[:min(len(op.Parameters), maxParameters)]
	op.Statuses = op.Statuses[:min(len(op.Statuses), maxStatuses)]
	return op
}

// String returns the coverage: "4 of 4 documented operations executed, 8 of 9 parameters tried, 11 of 17 documented statuses seen".
func (o Operations) String() string {
	s := fmt.Sprintf("%d of %s executed", o.Executed, evidence.Count(o.Documented, "documented operation"))
	if o.Parameters.Described > 0 {
		s += fmt.Sprintf(", %d of %s tried", o.Parameters.Covered, evidence.Count(o.Parameters.Described, "parameter"))
	}
	if o.Statuses.Described > 0 {
		s += fmt.Sprintf(", %d of %s seen", o.Statuses.Covered, evidence.Count(o.Statuses.Described, "documented status"))
	}
	return s
}

// ParametersInWords describes the parameters for a table cell.
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

// StatusesInWords describes the statuses for a table cell, the seen ones first.
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

// isWhole reports whether every operation was executed, every parameter tried and every documented status seen.
func (o Operations) isWhole() bool {
	return o.Executed == o.Documented && o.Parameters.Covered == o.Parameters.Described && o.Statuses.Covered == o.Statuses.Described
}

// maxOperations bounds the list of operations. The totals count all.
const maxOperations = 500

// operations compares the node's document with the executed calls.
func operations(e requirement.Evidence) Operations {
	out := Operations{List: []Operation{}}
	if e.Spec == nil {
		return out
	}
	log := e.Log
	answered := calls(log)
	for _, o := range e.Spec.Operations {
		op := Operation{Method: o.Method, Path: o.Path, ID: o.ID}
		operationCalls := answered[evidence.OperationResource(o.Key)]
		op.Executed = len(operationCalls) > 0
		if !op.Executed {
			op.Because = unexecutedReason(o, log)
		}
		op.Public = e.Spec.Public(o)
		switch evidence.OperationResource(o.Key) {
		case log.Roles.List:
			op.Role = "list"
		case log.Roles.Detail:
			op.Role = "detail"
		}
		op.Parameters = parametersOf(o, op, log, operationCalls)
		op.Statuses, op.Undocumented = statusesOf(o, op, log, operationCalls)
		out.Documented++
		if op.Executed {
			out.Executed++
		}
		out.count(op)
		if len(out.List) < maxOperations {
			out.List = append(out.List, op.limited())
		}
	}
	return out
}

// unexecutedReason explains why no call of an operation was answered.
func unexecutedReason(o openapi.Operation, log *evidence.Log) string {
	good := evidence.OperationResource(o.Key).With(evidence.OK)
	if x, ok := log.Get(good); ok && x.Failure != nil {
		return "no answer: " + x.Failure.Message
	}
	skipped, planned := log.Skipped(good)
	switch {
	case planned:
		return skipped.Because
	case o.Method != "GET":
		return "only GET is executed on operations"
	case o.RequiresBody:
		return "it requires a request body"
	case !requirement.Profile(log.Run.Profile).Includes(requirement.API):
		return "profile " + log.Run.Profile + " executes no operations"
	case log.Run.Partial != "":
		return "the run was restricted: " + log.Run.Partial
	}
	return "the run did not plan it"
}
