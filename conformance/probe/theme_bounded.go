package probe

import (
	"cmp"
	"context"
	"slices"
	"strconv"
	"strings"

	"github.com/rin-network/rin/conformance/discover"
	"github.com/rin-network/rin/conformance/document"
	"github.com/rin-network/rin/conformance/exchange"
	"github.com/rin-network/rin/conformance/exchange/record"
	"github.com/rin-network/rin/conformance/target"
)

// How many values of parameters are tried in a run, and of one operation.
const (
	mostTrials       = 400
	mostOfOperation  = 60
	mostGentleTrials = 24 // where the node is neither near nor to be tested thoroughly
)

// bounded plans parameters of the document at their bounds and outside (API-01, PAG-06).
func bounded() theme {
	return theme{
		forDocument:     forBounds,
		forDocumentMost: mostOfBounds,
		probe: func(r *run, l exchange.Label) (probe, bool) {
			o, known := r.operation(l.Resource())
			if !known {
				return probe{}, false
			}
			if t, ok := trialOf(r.node, o, l.Case()); ok {
				return r.trialProbe(o, t, l.Case()), true
			}
			return probe{}, false
		},
	}
}

func mostOfBounds(t target.Target) int {
	switch {
	case t.Quick:
		return 0
	case everywhere(t):
		return mostTrials
	}
	return mostGentleTrials
}

// forBounds plans the trials of all operations; where there is room for few, the most telling ones of the whole document.
func forBounds(n discover.Node) Plan {
	var p Plan
	if n.Target.Quick {
		return p
	}
	type planned struct {
		resource exchange.Resource
		c        exchange.Case
		rank     int
	}
	var all []planned
	for _, o := range n.Executable {
		r := exchange.OperationResource(o.Key)
		if o.Key != n.List { // the list's own are planned with it
			for _, q := range queryParameters(o) {
				all = append(all, planned{r, exchange.ParameterCase(q.Name), 3})
			}
		}
		for _, t := range trialsOn(n, o) {
			all = append(all, planned{r, t.label(), t.telling()})
		}
		if len(all) > maxOperationsTried*mostOfOperation {
			break
		}
	}
	if !everywhere(n.Target) {
		slices.SortStableFunc(all, func(a, b planned) int { return cmp.Compare(a.rank, b.rank) })
	}
	for _, one := range all[:min(len(all), mostOfBounds(n.Target))] {
		p.lane(stageRest, []Stage{opened(one.resource)}, one.resource, one.c)
	}
	return p
}

// maxOperationsTried bounds the work of planning for a document without end.
const maxOperationsTried = 500

func (t trial) label() exchange.Case {
	return exchange.TryCase(t.try, t.parameter.In, t.parameter.Name)
}

// telling orders trials by what they find out in the field: code that nobody ran, then lengths of columns, then the ends of vocabularies.
func (t trial) telling() int {
	switch t.try {
	case exchange.Absent, exchange.WrongType, exchange.OutsideEnum:
		return 1
	case exchange.BelowMinimum, exchange.TooLong:
		return 2
	case exchange.AtMinimum, exchange.Longest:
		return 4
	}
	return 5
}

// trialsOn are the trials of one operation. Paging and filters of the list have rules of their own, which try more than bounds.
func trialsOn(n discover.Node, o document.Operation) []trial {
	var out []trial
	seen := map[exchange.Case]bool{}
	for _, p := range o.Parameters {
		for _, t := range trialsOf(p) {
			if c := t.label(); !seen[c] && len(out) < mostOfOperation && !(o.Key == n.List && ofPaging(o, t)) {
				seen[c] = true
				out = append(out, t)
			}
		}
	}
	return out
}

// ofPaging reports a trial of the list that the rules of paging and filters make: all of a page parameter, and the values of a filter.
func ofPaging(o document.Operation, t trial) bool {
	if size, ok := sizeParameter(o); ok && size.Name == t.parameter.Name {
		return true
	}
	name := strings.ToLower(t.parameter.Name)
	if strings.HasPrefix(name, "page") || name == "offset" || name == "cursor" {
		return true
	}
	filter := slices.ContainsFunc(filters(), func(f filter) bool { return f.parameter == t.parameter.Name })
	return filter && t.legal && len(t.parameter.Schema.Enum) > 0
}

func trialOf(n discover.Node, o document.Operation, c exchange.Case) (trial, bool) {
	all := trialsOn(n, o)
	i := slices.IndexFunc(all, func(t trial) bool { return t.label() == c })
	if i < 0 {
		return trial{}, false
	}
	return all[i], true
}

// trialProbe asks an operation that answered the good call with one parameter changed.
func (r *run) trialProbe(o document.Operation, t trial, c exchange.Case) probe {
	return probe{prepare: func(ctx context.Context) (record.Ask, *unsent) {
		name := exchange.OperationResource(o.Key)
		if good := name.With(exchange.OK); !r.facts.good(good) {
			return record.Ask{}, unmet("the good call %s was not answered with 2xx", good)
		}
		res, reason := r.fill(o, map[string]*string{placeOf(t.parameter): t.value})
		if reason != nil {
			return record.Ask{}, reason
		}
		if o.Key == r.node.List {
			res.URL = r.sized(o, res.URL, t.parameter.Name, sizeOfParameter)
		}
		ask, reason := r.authorized(ctx, res, c)
		ask.Given, ask.Annotate = t.given(), r.annotate(name)
		return ask, reason
	}}
}

// given is what the evidence says of a trial.
func (t trial) given() map[string]string {
	given := map[string]string{
		"parameter": t.parameter.Name, "in": t.parameter.In, "try": string(t.try), "legal": strconv.FormatBool(t.legal),
	}
	if t.value != nil {
		given["value"] = *t.value
	}
	return given
}
