package probe

import (
	"context"
	"slices"
	"strconv"

	"github.com/rin-network/rin/conformance/draw"
	"github.com/rin-network/rin/conformance/evidence"
	"github.com/rin-network/rin/conformance/openapi"
	"github.com/rin-network/rin/conformance/recorder"
)

// This file requests records of other clients by their ids: the first client requests ids that only the list of the spare client has, and the reverse. The
// condition that a list applies is often missing where a record is read by its id.

// stageForeign is the stage of the lists that the spare client gets.
const stageForeign Stage = "lists of other clients"

// These are the numbers of records that each client requests by their ids.
const (
	foreignIDs = 2
	ownIDs     = 1
)

// foreignRecordCases request the list as both clients, and the details that only one of the lists has.
func foreignRecordCases() []row {
	lists := in(stageForeign, stageAuthorized, stageRead, stageSpare).inLane("lists of two clients").onlyIf(withSpare).onlyIf(notQuick)
	details := in(stageRest, stageAuthorized, stageForeign, stageListRead).onlyIf(withSpare).onlyIf(notQuick).onDemand()
	out := []row{
		{Label: evidence.ListOperation.With(evidence.ForeignList), Words: "by the client that may be locked out, to compare", Plan: lists, Learn: learnForeignList,
			Send: callAsSpare(wholePage)},
		{Label: evidence.ListOperation.With(evidence.OwnList), Words: "just after that client called", Plan: lists.onDemand(), Send: withoutSchemas(choose(ownPage))},
	}
	for n := range foreignIDs {
		out = append(out, row{Label: evidence.DetailOperation.With(evidence.ForeignIDCase(n + 1)), Words: "with an id that only the list of another client has", Plan: details,
			Send: withoutSchemas(choose(recordOf(n, func(l foreignList) []string { return l.foreign })))})
	}
	for n := range ownIDs {
		out = append(out, row{Label: evidence.DetailOperation.With(evidence.OwnIDCase(n + 1)), Words: "by the client that may be locked out, with an id that only the list of the first client has", Plan: details,
			Send: callAsSpare(recordOf(n, func(l foreignList) []string { return l.own }))})
	}
	return out
}

// foreignList has the ids that only the list of the spare client has, and those that only the list of the first client has.
type foreignList struct{ foreign, own []string }

// wholePage requests a large page of a list.
func wholePage(r *run, o openapi.Operation, res Resource) (chosen, *unsent) {
	return chosen{url: r.sized(o, res.URL, "", maxPageAsked)}, nil
}

// ownPage requests the same page as the first client if the lists of both clients differ, because the list may have changed meanwhile.
func ownPage(r *run, o openapi.Operation, res Resource) (chosen, *unsent) {
	r.facts.mu.Lock()
	found := r.facts.foreign[res.Name]
	r.facts.mu.Unlock()
	if len(found.foreign)+len(found.own) == 0 {
		return chosen{}, notApplicable("the lists of both clients have the same records")
	}
	return wholePage(r, o, res)
}

// callAsSpare makes a call with the token of the spare client.
func callAsSpare(pick chooser) sender {
	send := withoutSchemas(choose(pick))
	return func(ctx context.Context, r *run, at evidence.Resource) (recorder.Request, *unsent) {
		t := r.issuedToken(ctx, SpareAccessToken)
		if t.Value == "" {
			return recorder.Request{}, unmet("the client that may be locked out got no token")
		}
		good, reason := send(ctx, r, at)
		if reason != nil {
			return good, reason
		}
		res, _ := r.facts.resource(at)
		res.URL = good.URL
		q := res.GetWith(SpareAccessToken, "Bearer "+t.Value)
		q.Given = good.Given
		return q, nil
	}
}

// learnForeignList compares the list of the spare client with the items of the first client. Only a complete list shows which ids the spare client lacks.
func learnForeignList(r *run, at evidence.Resource, a recorder.Answer) {
	list, ok := openapi.ReadList(a.Body)
	if !ok || a.Status/100 != 2 {
		return
	}
	listPage := r.listPage(at, a)
	ids := func(items []item) []string {
		var out []string
		for _, i := range items {
			if i.id != "" {
				out = append(out, i.id)
			}
		}
		return out
	}
	otherIDs, ownIDs := ids(readItems(r.identityAt(at).Member, list.Items)), ids(r.facts.itemsOf(at))
	found := foreignList{foreign: openapi.Missing(otherIDs, ownIDs)}
	complete := listPage.Next() == "" && (listPage.Total < 0 && len(otherIDs) < maxPageAsked || listPage.Total >= 0 && listPage.Total <= len(otherIDs))
	if complete && len(otherIDs) >= len(ownIDs)/2 { // a shorter list may have been cut
		found.own = openapi.Missing(ownIDs, otherIDs)
	}
	r.facts.with(func(f *facts) { f.foreign[at] = found })
}

// recordOf requests the record with the nth of the ids, in drawn order.
func recordOf(n int, idsOf func(foreignList) []string) chooser {
	return func(r *run, o openapi.Operation, res Resource) (chosen, *unsent) {
		collection, ok := r.node.Collection(o)
		if !ok || len(o.TemplateParameters()) != 1 {
			return chosen{}, notApplicable("no list has the ids")
		}
		r.facts.mu.Lock()
		ids := slices.Clone(idsOf(r.facts.foreign[evidence.OperationResource(collection.Key)]))
		r.facts.mu.Unlock()
		draw.Shuffle(r.source(res.Name, "records of one client"), ids)
		if n >= len(ids) {
			return chosen{}, notApplicable("only %s records are in the list of one client alone", strconv.Itoa(len(ids)))
		}
		return chosen{r.detail(o, ids[n]), map[string]string{"asked": ids[n]}}, nil
	}
}
