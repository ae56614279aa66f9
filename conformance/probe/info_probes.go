package probe

import (
	"context"
	"fmt"
	"net/http"
	"strings"

	"github.com/rin-network/rin/conformance/discover"
	"github.com/rin-network/rin/conformance/document"
	"github.com/rin-network/rin/conformance/exchange"
	"github.com/rin-network/rin/conformance/exchange/record"
)

// infoProbe asks the info endpoint for what no other resource is asked.
func (r *run) infoProbe(c exchange.Case) probe {
	return probe{prepare: func(ctx context.Context) (record.Ask, *unsent) {
		res, _ := r.facts.resource(exchange.Info)
		good := exchange.Info.With(exchange.OK)
		if c == exchange.WithoutContentType {
			if status := r.facts.status(good); status == 0 || status/100 == 2 {
				return record.Ask{}, notApplicable("it would tell the cause of a refused %s (status %d)", good, status)
			}
			res.JSONType = false
			return r.authorized(ctx, res, c)
		}
		if !r.facts.good(good) {
			return record.Ask{}, unmet("the good call %s was not answered with 2xx", good)
		}
		res.JSONType = false
		ask, reason := r.authorized(ctx, res, c)
		ask.Method, ask.FollowSameOrigin = http.MethodPost, false
		return ask, reason
	}}
}

// specProbe asks for the node's document; the first answer that the guard accepts is taken.
func (r *run) specProbe(c exchange.Case) probe {
	return probe{
		prepare: func(ctx context.Context) (record.Ask, *unsent) {
			if r.Target.SpecURL == "" {
				return record.Ask{}, unmet("the URL of the specification is not known: the info URL does not have the shape that it follows from (--spec-url)")
			}
			res := discover.Resource{Name: exchange.Specification, URL: r.Target.SpecURL}
			if c == exchange.NoToken {
				return res.Get(c), nil
			}
			return r.authorized(ctx, res, c)
		},
		learn: func(a record.Answer) {
			if a.Status/100 == 2 {
				r.readDocument(a.Body)
			}
		},
	}
}

// readDocument takes a body for the node's document unless a good one is there.
func (r *run) readDocument(body []byte) {
	r.facts.mu.Lock()
	have := r.facts.document
	r.facts.mu.Unlock()
	if have != nil && have.Refused == "" {
		return
	}
	guarded := r.Guard(body)
	guarded.Reduced = r.Redactor.Bytes(guarded.Reduced)
	guarded.Refused = r.Redactor.Text(guarded.Refused)
	r.facts.with(func(f *facts) { f.document = &guarded })
}

// adopt records the document and reads the node's operations out of it. Schema findings are possible from here on.
func (r *run) adopt() {
	r.facts.mu.Lock()
	guarded := r.facts.document
	r.facts.mu.Unlock()
	if guarded == nil {
		return
	}
	r.Journal.Document(guarded)
	if guarded.Refused != "" || len(guarded.Reduced) == 0 {
		return
	}
	doc, err := document.Parse(guarded.Reduced)
	if err != nil {
		return // the guard accepted it; the requirements on the document will say what is wrong
	}
	r.node = discover.NewNode(r.Target, doc)
	if r.Annotator != nil {
		if judge, err := r.Annotator(*guarded); err == nil {
			r.judge = judge
		}
	}
}

// annotate judges answers of an operation by the document; nil for anything else.
func (r *run) annotate(name exchange.Resource) func(exchange.Exchange) []exchange.SchemaFindings {
	key, isOperation := strings.CutPrefix(string(name), string(exchange.OperationResource("")))
	if !isOperation { // others may be asked before the document is read
		return nil
	}
	o, known := r.node.Operation(key)
	if r.judge == nil || !known {
		return nil
	}
	return func(x exchange.Exchange) []exchange.SchemaFindings {
		if !x.Answered() {
			return nil
		}
		return []exchange.SchemaFindings{judged(r.judge, x, o)}
	}
}

// judged keeps the exchange when a schema or an answer is too much for the judge.
func judged(judge func(exchange.Exchange, document.Operation) exchange.SchemaFindings, x exchange.Exchange, o document.Operation) (f exchange.SchemaFindings) {
	defer func() {
		if fault := recover(); fault != nil {
			f = exchange.SchemaFindings{Label: x.Label, Why: fmt.Sprintf("the schema could not be applied: %v", fault), Undecided: true}
		}
	}()
	return judge(x, o)
}
