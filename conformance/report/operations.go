package report

import (
	"github.com/rin-network/rin/conformance/document"
	"github.com/rin-network/rin/conformance/exchange"
	"github.com/rin-network/rin/conformance/requirement"
)

// maxOperations bounds the list of operations; the counts are of all.
const maxOperations = 500

// operations compares the node's document with what was executed.
func operations(log *exchange.Log) Operations {
	out := Operations{List: []Operation{}}
	spec := requirement.Read(log).Spec
	if spec == nil {
		return out
	}
	answered := calls(log)
	for _, o := range spec.Operations {
		op := Operation{Method: o.Method, Path: o.Path, ID: o.ID}
		op.Executed, op.Because = executed(o, log)
		own := answered[exchange.OperationResource(o.Key)]
		op.Parameters = parametersOf(o, op, log, own)
		op.Statuses, op.Undocumented = statusesOf(o, op, log, own)
		out.Documented++
		if op.Executed {
			out.Executed++
		}
		out.count(op)
		if len(out.List) < maxOperations {
			out.List = append(out.List, op.told())
		}
	}
	return out
}

// executed reports whether an operation was called, and why not.
func executed(o document.Operation, log *exchange.Log) (bool, string) {
	resource := exchange.OperationResource(o.Key)
	for _, x := range log.Exchanges {
		if x.Label.Resource() == resource && x.Answered() {
			return true, ""
		}
	}
	good := resource.With(exchange.OK)
	if x, ok := log.Get(good); ok && x.Failure != nil {
		return false, "no answer: " + x.Failure.Message
	}
	skipped, planned := log.Skipped(good)
	switch {
	case planned:
		return false, skipped.Because
	case o.Method != "GET":
		return false, "only GET is executed on operations"
	case o.HasBody:
		return false, "it requires a request body"
	case !requirement.Profile(log.Run.Profile).Includes(requirement.Funding):
		return false, "profile " + log.Run.Profile + " executes no operations"
	case log.Run.Partial != "":
		return false, "the run was restricted: " + log.Run.Partial
	}
	return false, "the run did not plan it"
}
